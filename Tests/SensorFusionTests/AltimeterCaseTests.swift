import SensorFusion
import Testing

private func altitudes(_ rows: [[Double]], factor: Double = 1) -> (
  states: [AltitudeState], altimeter: PressureAltimeter
) {
  var altimeter = PressureAltimeter()
  var states: [AltitudeState] = []
  for row in rows {
    let time = Timestamp(nanoseconds: Int64(row[0]))
    if altimeter.update(time: time, pressure: row[1] * factor, temperature: .nan, isStationary: false) {
      states.append(altimeter.state)
    }
  }
  return (states, altimeter)
}

@Test func case67WeatherShowsButIsNoClimb() throws {
  let rows = try caseNumbers("67-weather-drift/input.csv")
  var pipeline = MotionPipeline()
  for row in rows {
    let sample = SensorSample(time: Timestamp(nanoseconds: Int64(row[0])), pressureKilopascals: Float(row[1]))
    _ = pipeline.process(sample)
  }
  #expect(abs(pipeline.altitude.relativeAltitude - 6) < 0.3)
  #expect(pipeline.altitude.ascent == 0 && pipeline.altitude.descent == 0)
  #expect(pipeline.floorsAscended == 0)
  pipeline.rezeroAltitude()
  #expect(pipeline.altitude.relativeAltitude == 0)
}

@Test func case69UnitsAreNeverGuessedSilently() throws {
  let rows = try caseRows("69-pressure-unit-times-ten/values.csv").dropFirst()
  for row in rows {
    let value = try #require(Double(row[0]))
    if let unit = PressureUnit(rawValue: row[1]) {
      #expect(unit.kilopascals(value) == 101.325)
    } else {
      #expect(PressureUnit.candidates(for: value).isEmpty)
    }
  }
  #expect(rows.filter { PressureUnit(rawValue: $0[1]) != nil }.count == 4)
}

@Test func case70ImpossiblePressuresAreSkipped() throws {
  let (states, altimeter) = altitudes(try caseNumbers("70-zero-pressure-is-145366-ft/input.csv"))
  #expect(states.count == 5)
  #expect(altimeter.skipped == 2)
  #expect(states.first?.relativeAltitude == 0)
  #expect(states.first?.time.nanoseconds == 200_000_000)
  #expect(states.allSatisfy { abs($0.relativeAltitude) < 0.5 })
}

@Test func case72OneFloorUpIsThreeMetresAndLessInTheThinnerStandardAir() throws {
  let rows = try caseNumbers("72-one-floor-up/input.csv")
  for (factor, height) in [(1, 3.0), (0.85, 2.91)] {
    let (states, altimeter) = altitudes(rows, factor: factor)
    #expect(states.first?.relativeAltitude == 0)
    #expect(abs((states.last?.relativeAltitude ?? 0) - height) < 0.05)
    #expect(abs(altimeter.state.ascent - height) < 0.2)
    #expect(altimeter.state.descent == 0)
  }
}
