/// Dates and times of day as logs write them.
enum DateText {
  /// Which of the numbers of `1/5/2026` is the month.
  enum Order {
    case monthFirst, dayFirst
  }

  /// Nanoseconds since 1970 of a date and a time of day, or since midnight of a time of day alone; nil for other text.
  ///
  /// Dates are `YYYY-MM-DD` (or with slashes), `DD.MM.YYYY`, `DD-Mon-YYYY` (MATLAB), and `DD/MM/YYYY` or `MM/DD/YYYY` as `order` says. Times are
  /// `hh:mm:ss[.fff]`, with `AM` or `PM` where there is one, and a zone (`Z`, `±hhmm`); without one they are taken as UTC.
  static func nanoseconds(_ text: String, order: Order = .monthFirst) -> Int64? {
    var scanner = Scanner(bytes: Array(text.utf8)[...])
    let leading = text.utf8.prefix { $0 != UInt8(ascii: ":") }.count
    guard text.utf8.count > 2 else { return nil }
    var days: Int64 = 0
    if leading > 2 {
      guard let found = scanner.date(order) else { return nil }
      days = found
    }
    guard let time = scanner.timeOfDay() else { return nil }
    let (scaled, overflow) = (days * 86_400 + time.seconds).multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, isTooLate) = scaled.addingReportingOverflow(time.fraction)
    return overflow || isTooLate ? nil : sum
  }

  /// The order of the dates of a column, by what its first cells allow, and whether they leave no choice; nil where the
  /// question does not arise.
  static func order(of cells: [String]) -> (order: Order, isSure: Bool)? {
    var found: (order: Order, isSure: Bool)?
    for cell in cells {
      let parts = cell.prefix { $0 != " " && $0 != "T" && $0 != "," }.split(whereSeparator: { $0 == "/" || $0 == "-" })
      guard parts.count == 3, parts[0].count <= 2, parts[2].count == 4, let a = Int(parts[0]), let b = Int(parts[1])
      else { continue }
      if a > 12 { return (.dayFirst, true) }
      let upper = cell.uppercased()
      if b > 12 || upper.hasSuffix("AM") || upper.hasSuffix("PM") { return (.monthFirst, true) }
      found = (.monthFirst, false)
    }
    return found
  }

  private struct Scanner {
    var bytes: ArraySlice<UInt8>

    mutating func digits(_ limit: Int) -> (value: Int64, count: Int)? {
      var value: Int64 = 0
      var count = 0
      while count < limit, let byte = bytes.first, (48...57).contains(byte) {
        value = value * 10 + Int64(byte - 48)
        bytes.removeFirst()
        count += 1
      }
      return count > 0 ? (value, count) : nil
    }

    mutating func take(_ allowed: [UInt8]) -> UInt8? {
      guard let byte = bytes.first, allowed.contains(byte) else { return nil }
      bytes.removeFirst()
      return byte
    }

    /// The number of a month by the first three letters of its English name.
    mutating func month() -> Int64? {
      let names = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
      // Bit 5 makes an ASCII letter small.
      let letters = bytes.prefix(3).map { $0 | 0x20 }
      guard let index = names.firstIndex(where: { Array($0.utf8) == letters }) else { return nil }
      bytes = bytes.dropFirst(3)
      return Int64(index + 1)
    }

    /// Days since 1970 of a date, with what separates it from the time.
    mutating func date(_ order: Order) -> Int64? {
      let marks: [UInt8] = [0x2D, 0x2F, 0x2E]  // - / .
      guard let first = digits(4), let mark = take(marks) else { return nil }
      let named = month()
      guard let second = named.map({ ($0, 2) }) ?? digits(2), take([mark]) != nil,
        let third = digits(first.count == 4 ? 2 : 4)
      else { return nil }
      let year, month, day: Int64
      if first.count == 4 {
        (year, month, day) = (first.value, second.0, third.value)
      } else {
        guard third.count == 4, first.count <= 2 else { return nil }
        let isDayFirst = mark == 0x2E || order == .dayFirst || named != nil
        year = third.value
        (month, day) = isDayFirst ? (second.0, first.value) : (first.value, second.0)
      }
      guard (1...12).contains(month), (1...31).contains(day) else { return nil }
      // Space, T, _ or a comma.
      guard take([0x20, 0x54, 0x5F, 0x2C]) != nil else { return nil }
      while take([0x20]) != nil {}
      return DateText.days(year: year, month: month, day: day)
    }

    /// Seconds since midnight less the zone, and nanoseconds; nil where something else stands behind.
    mutating func timeOfDay() -> (seconds: Int64, fraction: Int64)? {
      guard var hours = digits(2)?.value, take([0x3A, 0x2D]) != nil, let minutes = digits(2)?.value,
        take([0x3A, 0x2D]) != nil, let seconds = digits(2)?.value
      else { return nil }
      var fraction: Int64 = 0
      if take([0x2E, 0x2C, 0x3A, 0x5F]) != nil {
        guard let part = digits(9) else { return nil }
        fraction = part.value
        for _ in part.count..<9 { fraction *= 10 }
        _ = digits(20)
      }
      while take([0x20]) != nil {}
      if let half = take([0x41, 0x50, 0x61, 0x70]) {  // A, P
        guard take([0x4D, 0x6D]) != nil, (1...12).contains(hours) else { return nil }  // M
        hours = hours % 12 + (half == 0x50 || half == 0x70 ? 12 : 0)
        while take([0x20]) != nil {}
      }
      guard let zone = zone(), bytes.isEmpty, hours < 25, minutes < 60, seconds < 62 else { return nil }
      return (hours * 3600 + minutes * 60 + seconds - zone, fraction)
    }

    /// Seconds east of UTC; 0 where nothing stands there.
    mutating func zone() -> Int64? {
      if take([0x5A, 0x7A]) != nil { return 0 }  // Z
      for name in ["UTC", "GMT"] where bytes.starts(with: name.utf8) { bytes = bytes.dropFirst(3) }
      guard let sign = take([0x2B, 0x2D]) else { return 0 }
      guard let hours = digits(2)?.value else { return nil }
      _ = take([0x3A])
      let minutes = digits(2)?.value ?? 0
      return (hours * 60 + minutes) * (sign == 0x2D ? -60 : 60)
    }
  }

  /// Days from 1970-01-01 in the proleptic Gregorian calendar. March is counted as the first month, so that the leap
  /// day is the last of a year.
  private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shiftedYear = month <= 2 ? year - 1 : year
    let shiftedMonth = (month + 9) % 12
    let dayOfYear = (153 * shiftedMonth + 2) / 5 + day - 1
    let leapDays = shiftedYear / 4 - shiftedYear / 100 + shiftedYear / 400
    // 719468 days from 0000-03-01 to 1970-01-01.
    return 365 * shiftedYear + leapDays + dayOfYear - 719_468
  }
}
