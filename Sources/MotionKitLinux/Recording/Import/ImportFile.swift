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
      let names = (try? SystemFileLayer().list(path)) ?? []
      if names.contains("session.json"), let raw = SessionFile.raw.first(where: { names.contains($0.fileName) }) {
        throw .unsupported(
          what: "importing '\(path)'",
          hint:
            "it is a recording of this program already (session.json, \(raw.fileName)): replay, info, check and export"
            + " take it as it is")
      }
      files += logs(in: path, names)
    }
    return files
  }

  /// The logs of a directory and of `meta` in it; where it has none itself, those of the directories in it.
  private static func logs(in path: String, _ names: [String]) -> [ImportFile] {
    let own = names.filter(isLog).map { ImportFile(path: path + "/" + $0) }
    let deeper = own.isEmpty ? names : names.filter { $0 == "meta" }
    return own
      + deeper.filter { !$0.hasPrefix(".") && $0 != "__MACOSX" }.flatMap { name in
        ((try? SystemFileLayer().list(path + "/" + name)) ?? []).filter(isLog).map {
          ImportFile(path: path + "/" + name + "/" + $0)
        }
      }
  }
}
