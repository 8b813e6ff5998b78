/// Colour and characters that the terminal can show.
struct Style {
  /// Whether ANSI colours may be used.
  var hasColor: Bool
  /// Whether characters beyond ASCII may be used.
  var isUnicode: Bool

  /// A named look.
  enum Look: String {
    case bold = "1"
    case dim = "2"
    case good = "32"
    case warning = "33"
    case bad = "31"
    case title = "1;36"
    /// One cell of the horizon: all sky, all ground, ground below sky, sky below ground.
    case sky = "97;44"
    case ground = "97;43"
    case groundBelow = "33;44"
    case skyBelow = "34;43"
  }

  /// Text in a look.
  func paint(_ look: Look, _ text: String) -> String {
    hasColor ? "\u{1B}[\(look.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// Stands at the end of what was cut; one cell wide.
  var cutSign: String { isUnicode ? "…" : "~" }

  /// Text with everything that this terminal cannot show replaced.
  func plain(_ text: String) -> String {
    let text = Format.printable(text)
    guard !isUnicode else { return text }
    var result = ""
    for character in text {
      switch character {
      case "°": result += "deg"
      case "±": result += "+-"
      case "µ": result += "u"
      case "²": result += "2"
      case "–", "─": result += "-"
      case "·": result += "."
      case "∞": result += "inf"
      case "…": result += "..."
      case "→": result += "->"
      default: result += character.isASCII ? String(character) : "?"
      }
    }
    return result
  }
}
