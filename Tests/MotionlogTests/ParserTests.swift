import SensorFusion
import Testing

@testable import motionlog

@Suite struct ParserTests {
  private static let options: [Option] = [.source, .rate, .duration, .json, .quiet, .verbose, .declination]

  private func parse(_ words: String...) throws -> ParsedArguments {
    try ParsedArguments.parse(words[...], options: Self.options, command: "live")
  }

  @Test func everyFormOfAValueIsRead() throws {
    for words in [
      ["-u", "sim:walk"], ["-usim:walk"], ["-u=sim:walk"], ["--source", "sim:walk"], ["--source=sim:walk"],
    ] {
      let parsed = try ParsedArguments.parse(words[...], options: Self.options, command: "live")
      #expect(parsed[.source] == "sim:walk")
      #expect(parsed.operands.isEmpty)
    }
  }

  @Test func aValueMayHoldAnEqualsSign() throws {
    #expect(try parse("--source=sim:walk?seed=7")[.source] == "sim:walk?seed=7")
    #expect(try parse("--rate", "mag=100")[.rate] == "mag=100")
  }

  @Test func shortFlagsBundleAndMayEndWithAValue() throws {
    let parsed = try parse("-qvd", "10s", "rest")
    #expect(parsed.has(.quiet) && parsed.has(.verbose))
    #expect(parsed[.duration] == "10s")
    #expect(parsed.operands == ["rest"])
  }

  @Test func theLastOfTwoValuesWins() throws {
    #expect(try parse("-u", "a:", "-u", "b:")[.source] == "b:")
  }

  @Test func listsGather() throws {
    #expect(try parse("--rate", "200", "--rate=mag=100")[.rate] == "200,mag=100")
  }

  @Test func aDoubleDashEndsTheOptions() throws {
    #expect(try parse("--json", "--", "--quiet", "-").operands == ["--quiet", "-"])
  }

  @Test func aNegativeNumberIsAValue() throws {
    #expect(try parse("--declination", "-3.5")[.declination] == "-3.5")
  }

  @Test func whatIsWrongIsNamed() {
    #expect(throws: UsageError.unknownOption("--jsno", command: "live", suggestion: "--json")) {
      try parse("--jsno")
    }
    #expect(throws: UsageError.unknownOption("-x", command: "live", suggestion: nil)) { try parse("-qx") }
    #expect(throws: UsageError.missingValue(option: "--source", placeholder: "URI")) { try parse("--source") }
    #expect(throws: UsageError.missingValue(option: "-u", placeholder: "URI")) { try parse("-u", "--json") }
    #expect(throws: UsageError.unexpectedValue(option: "--json", value: "1")) { try parse("--json=1") }
  }
}

@Suite struct OptionValueTests {
  @Test(arguments: [("10s", 10.0), ("90", 90), ("1.5m", 90), ("2h", 7200), ("250ms", 0.25), ("1e1s", 10)])
  func durationsAreSeconds(text: String, seconds: Double) throws {
    #expect(try OptionValues.duration(text, option: .duration) == seconds)
  }

  @Test(arguments: ["", "s", "0s", "-1s", "10d", "nan", "inf", "0x10", "1e99h", "ten", "10 s"])
  func whatIsNoDurationIsRefused(text: String) {
    #expect(throws: UsageError.self) { try OptionValues.duration(text, option: .duration) }
  }

  @Test func ratesAreCommonOrEach() throws {
    #expect(try OptionValues.rates("200", option: .rate) == (200, [:]))
    let mixed = try OptionValues.rates("200,mag=100,baro=25", option: .rate)
    #expect(mixed.common == 200)
    #expect(mixed.each == [.magnetometer: 100, .barometer: 25])
    for bad in ["", "0", "-5", "mag", "mag=", "mag=x", "foo=3", "1e9", "200,,"] {
      #expect(throws: UsageError.self) { try OptionValues.rates(bad, option: .rate) }
    }
  }

  @Test func theRequestAsksForWhatWasNamed() throws {
    let parsed = try ParsedArguments.parse(
      ["--sensors", "accel,mag", "--rate", "200,mag=80", "--device", "accel=lis3dh"],
      options: [.sensors, .rate, .device], command: "live")
    let request = try RunSettings(parsed).request
    #expect(request.rates == [.accelerometer: 200, .magnetometer: 80])
    #expect(request.required == [.accelerometer, .magnetometer])
    #expect(request.devices == [.accelerometer: "lis3dh"])
  }

  @Test func withoutOptionsEverySensorIsWantedAndNoneRequired() throws {
    let request = try RunSettings(ParsedArguments()).request
    #expect(Set(request.rates.keys) == Set(SensorKind.allCases))
    #expect(request.required.isEmpty)
  }

  @Test func framesAreReadAndTrueNorthNeedsADeclination() throws {
    func frame(_ words: String...) throws -> RunSettings.Frame {
      try RunSettings(
        ParsedArguments.parse(words[...], options: [.frame, .declination], command: "live")
      ).frame
    }
    guard case .chosen(.trueNorth(let declination)) = try frame("--frame=true", "--declination=-10") else {
      Issue.record("not true north")
      return
    }
    #expect(abs(declination + 10 * .pi / 180) < 1e-15)
    guard case .automatic = try frame() else {
      Issue.record("not automatic")
      return
    }
    #expect(throws: UsageError.self) { try frame("--frame=magnetic", "--declination=3") }
    #expect(throws: UsageError.self) { try frame("--frame=north") }
    #expect(throws: UsageError.self) { try frame("--declination=1000") }
  }
}

@Suite struct SuggestionTests {
  @Test(arguments: [("lvie", "live"), ("devcies", "devices"), ("liv", "live"), ("infos", "info")])
  func aSlipIsRecognised(word: String, meant: String) {
    #expect(nearest(to: word, among: ["devices", "live", "record", "replay", "info"]) == meant)
  }

  @Test(arguments: ["x", "frobnicate", "", "in", "lv"])
  func anotherWordIsNot(word: String) {
    #expect(nearest(to: word, among: ["devices", "live", "record", "replay", "info"]) == nil)
  }

  @Test func editsAreCounted() {
    #expect(editDistance("", "abc") == 3)
    #expect(editDistance("abc", "") == 3)
    #expect(editDistance("abcd", "abdc") == 1)
    #expect(editDistance("kitten", "sitting") == 3)
  }
}
