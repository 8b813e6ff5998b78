import Glibc

/// A file that may hold a log.
struct ImportFile {
  /// What is opened, and named in errors.
  var path: String
  /// Without directories.
  var name: String
  /// Bytes of text, 0 where not known: for a progress bar.
  var size: Int64

  private init(path: String) {
    self.path = path
    name = String(path.split(separator: "/").last ?? "")
    var status = stat()
    size = stat(path, &status) == 0 ? Int64(status.st_size) : 0
  }

  private init(_ entry: ZipArchive.Entry) { (path, name, size) = (entry.path, entry.name, entry.size) }

  private static let endings = ["csv", "txt", "tsv", "log", "dat"]

  private static func isLog(_ name: String) -> Bool {
    name.split(separator: ".").last.map { endings.contains($0.lowercased()) } ?? false
  }

  /// The files that were named, those of directories that were named and of `meta` in them, and those of zip archives.
  static func all(_ paths: [String]) throws(MotionKitError) -> [ImportFile] {
    guard !paths.isEmpty else {
      throw .invalidFile(path: "", line: 0, column: 0, reason: "no file to import was named")
    }
    var files: [ImportFile] = []
    for path in paths {
      var status = stat()
      guard stat(path, &status) == 0 else {
        throw .notFound(what: path, hint: "\(errorText(errno)); check the path")
      }
      guard status.st_mode & S_IFMT == S_IFDIR else {
        if ZipArchive.isArchive(path) {
          files += try ZipArchive.entries(path).filter { isLog($0.name) }.map { ImportFile($0) }
        } else {
          files.append(ImportFile(path: path))
        }
        continue
      }
      for directory in [path, path + "/meta"] {
        for name in (try? SystemFileLayer().list(directory)) ?? [] where isLog(name) {
          files.append(ImportFile(path: directory + "/" + name))
        }
      }
    }
    return files
  }
}
