import SensorFusion

/// An artificial horizon in text: what somebody who looks along the device's y axis (its top edge), with z up, sees of
/// sky and ground. It rests on gravity alone, so it holds in every attitude, upside down included.
struct Horizon {
  /// Columns and rows of text.
  var columns: Int
  var rows: Int
  /// The angle from the middle to the upper or lower edge, radians.
  private static let halfHeight = 45 * Double.pi / 180

  /// What one cell shows; each cell is two squares, one above the other.
  private enum Cell {
    case sky
    case ground
    case groundBelow
    case skyBelow
  }

  /// The picture, one string a row, for gravity in Core Motion's convention (flat and face up: z = -1).
  func lines(gravity: Vector3, style: Style) -> [String] {
    let up = -gravity
    return (0..<rows).map { row in
      var line = ""
      var run = ""
      var runCell = Cell.sky
      for column in 0..<columns {
        let cell = cell(column, row, up)
        let mark = symbol(column, row, style)
        if cell != runCell || mark != nil {
          line += paint(run, runCell, style)
          run = ""
        }
        if let mark {
          line += style.paint(cell == .sky || cell == .skyBelow ? .sky : .ground, mark)
        } else {
          run += character(cell, style)
        }
        runCell = cell
      }
      return line + paint(run, runCell, style)
    }
  }

  private func paint(_ text: String, _ cell: Cell, _ style: Style) -> String {
    guard !text.isEmpty else { return "" }
    switch cell {
    case .sky: return style.paint(.sky, text)
    case .ground: return style.paint(.ground, text)
    case .groundBelow: return style.paint(.groundBelow, text)
    case .skyBelow: return style.paint(.skyBelow, text)
    }
  }

  private func character(_ cell: Cell, _ style: Style) -> String {
    switch cell {
    case .sky: " "
    case .ground: style.hasColor ? " " : style.isUnicode ? "░" : ":"
    case .groundBelow: style.isUnicode ? "▄" : "_"
    case .skyBelow: style.isUnicode ? (style.hasColor ? "▄" : "▀") : "^"
    }
  }

  private func cell(_ column: Int, _ row: Int, _ up: Vector3) -> Cell {
    let x = Double(column) - Double(columns - 1) / 2
    let y = Double(rows) - 0.5 - Double(2 * row)
    switch (isSky(x, y, up), isSky(x, y - 1, up)) {
    case (true, true): return .sky
    case (false, false): return .ground
    case (true, false): return .groundBelow
    case (false, true): return .skyBelow
    }
  }

  /// Whether the square x to the right of the middle and y above it lies above the horizon: a straight line, tilted
  /// by the roll and as far from the middle as the top edge is from level.
  private func isSky(_ x: Double, _ y: Double, _ up: Vector3) -> Bool {
    let across = (up.x * up.x + up.z * up.z).squareRoot()
    let elevation = Elementary.atan2(up.y, across)
    guard across > 0 else { return up.y >= 0 }
    return elevation + (x * up.x + y * up.z) / across * (Self.halfHeight / Double(rows)) >= 0
  }

  /// The fixed mark in the middle: where the top edge points, and its level.
  private func symbol(_ column: Int, _ row: Int, _ style: Style) -> String? {
    guard row == rows / 2 else { return nil }
    switch abs(column - columns / 2) {
    case 0: return "+"
    case 2...5: return style.isUnicode ? "─" : "-"
    default: return nil
    }
  }
}
