/// The XML text by which iiod describes a context, in the very form that libiio 0.24 writes and parses.
enum IIODContextXML {
  /// The version of the protocol and the library that is spoken.
  static let version = (major: 0, minor: 24, tag: "v0.24")

  /// The document of a board. Devices come in the order of their ids as text, as iiod lists them.
  static func text(of board: EmulatedBoard) -> String {
    var xml = "<?xml version=\"1.0\" encoding=\"utf-8\"?>" + documentType
    xml += "<context name=\"local\" version-major=\"\(version.major)\" version-minor=\"\(version.minor)\""
    xml += " version-git=\"\(version.tag)\" description=\"\(escaped(board.summary))\" >"
    for attribute in board.attributes {
      guard case .text(let value) = attribute.value else { continue }
      xml += "<context-attribute name=\"\(escaped(attribute.name))\" value=\"\(escaped(value))\" />"
    }
    for device in board.devices.sorted(by: { $0.id < $1.id }) { append(device, to: &xml) }
    return xml + "</context>"
  }

  private static func append(_ device: EmulatedDevice, to xml: inout String) {
    xml += "<device id=\"\(escaped(device.id))\" name=\"\(escaped(device.name))\""
    if !device.label.isEmpty { xml += " label=\"\(escaped(device.label))\"" }
    xml += " >"
    for channel in device.channels {
      xml += "<channel id=\"\(escaped(channel.id))\" type=\"input\" >"
      if let index = channel.scanIndex {
        xml += "<scan-element index=\"\(index)\" format=\"\(escaped(channel.format.text))\""
        // Six decimals, as libiio prints it; clients that need the scale read the attribute.
        if let scale = channel.scale { xml += " scale=\"\(DecimalText.fixed(scale, decimals: 6))\"" }
        xml += " />"
      }
      for attribute in channel.attributes {
        xml += "<attribute name=\"\(escaped(attribute.name))\" filename=\"\(escaped(attribute.fileName))\" />"
      }
      xml += "</channel>"
    }
    for attribute in device.attributes { xml += "<attribute name=\"\(escaped(attribute.name))\" />" }
    if device.hasBuffer {
      for name in ["data_available", "direction"] { xml += "<buffer-attribute name=\"\(name)\" />" }
    }
    xml += "</device>"
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\t", "\n", "\r": result += " "
      // XML 1.0 has no other control characters, not even as references.
      case _ where scalar.value < 0x20: result += "?"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// The document type that goes with the elements below; libiio's parser checks against none other.
  private static let documentType: String = {
    let elements: [(name: String, content: String)] = [
      ("context", "(device | context-attribute)*"), ("context-attribute", "EMPTY"),
      ("device", "(channel | attribute | debug-attribute | buffer-attribute)*"),
      ("channel", "(scan-element?, attribute*)"), ("attribute", "EMPTY"), ("scan-element", "EMPTY"),
      ("debug-attribute", "EMPTY"), ("buffer-attribute", "EMPTY"),
    ]
    let lists: [(name: String, content: String)] = [
      (
        "context",
        "name CDATA #REQUIRED version-major CDATA #REQUIRED version-minor CDATA #REQUIRED"
          + " version-git CDATA #REQUIRED description CDATA #IMPLIED"
      ),
      ("context-attribute", "name CDATA #REQUIRED value CDATA #REQUIRED"),
      ("device", "id CDATA #REQUIRED name CDATA #IMPLIED label CDATA #IMPLIED"),
      ("channel", "id CDATA #REQUIRED type (input|output) #REQUIRED name CDATA #IMPLIED"),
      ("scan-element", "index CDATA #REQUIRED format CDATA #REQUIRED scale CDATA #IMPLIED"),
      ("attribute", "name CDATA #REQUIRED filename CDATA #IMPLIED"), ("debug-attribute", "name CDATA #REQUIRED"),
      ("buffer-attribute", "name CDATA #REQUIRED"),
    ]
    let text =
      elements.map { "<!ELEMENT \($0.name) \($0.content)>" } + lists.map { "<!ATTLIST \($0.name) \($0.content)>" }
    return "<!DOCTYPE context [\(text.joined())]>"
  }()
}

extension EmulatedChannel {
  /// The value of its `scale` attribute, if it has one.
  var scale: Double? {
    guard let attribute = attributes.first(where: { $0.name == "scale" }), case .text(let text) = attribute.value
    else { return nil }
    return Double(text)
  }
}
