import Foundation
import Testing

/// Rows of a synthetic case under Tests/Cases: every column as text, header first.
func caseRows(_ path: String, file: String = #filePath) throws -> [[String]] {
  let tests = URL(fileURLWithPath: file).deletingLastPathComponent().deletingLastPathComponent()
  let text = try String(contentsOf: tests.appendingPathComponent("Cases/\(path)"), encoding: .utf8)
  return text.split(whereSeparator: \.isNewline).map {
    $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
  }
}

/// The numbers of such a file, without its header; empty cells are NaN.
func caseNumbers(_ path: String) throws -> [[Double]] {
  try caseRows(path).dropFirst().map { row in try row.map { $0.isEmpty ? .nan : try #require(Double($0)) } }
}
