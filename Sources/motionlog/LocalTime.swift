import Glibc

/// Days and hours by this machine's wall clock. Times are UTC, nanoseconds since 1970-01-01.
enum LocalTime {
  private static let second: Int64 = 1_000_000_000
  private static let hour: Int64 = 3600 * second

  /// UTC now.
  static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * second + Int64(time.tv_nsec)
  }

  /// The local calendar's fields of a time.
  static func parts(_ utc: Int64) -> tm {
    var seconds = time_t(utc >= 0 ? utc / second : (utc - second + 1) / second)
    var parts = tm()
    localtime_r(&seconds, &parts)
    return parts
  }

  /// The beginning of the local day `offset` days after that of `utc`. A day has 23, 24 or 25 hours.
  static func dayStart(_ utc: Int64, offset: Int = 0) -> Int64 {
    let day = parts(utc)
    var start = tm()
    start.tm_year = day.tm_year
    start.tm_mon = day.tm_mon
    start.tm_mday = day.tm_mday + Int32(offset)
    start.tm_isdst = -1
    return Int64(mktime(&start)) * second
  }

  /// The hours that begin in a time, by their starts: a clock that is set back shows one of them twice.
  static func hourStarts(from start: Int64, to end: Int64) -> [Int64] {
    Array(stride(from: start, to: end, by: Int64.Stride(hour)))
  }

  /// `08:12:03`.
  static func clock(_ utc: Int64) -> String {
    let p = parts(utc)
    return "\(two(p.tm_hour)):\(two(p.tm_min)):\(two(p.tm_sec))"
  }

  /// `08:00`.
  static func hourAndMinute(_ utc: Int64) -> String {
    let p = parts(utc)
    return "\(two(p.tm_hour)):\(two(p.tm_min))"
  }

  /// `2026-11-30`.
  static func date(_ utc: Int64) -> String {
    let p = parts(utc)
    return "\(p.tm_year + 1900)-\(two(p.tm_mon + 1))-\(two(p.tm_mday))"
  }

  /// `Mon`, in English as everything here.
  static func weekday(_ utc: Int64) -> String {
    ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][Int(max(0, min(6, parts(utc).tm_wday)))]
  }

  /// ISO 8601 with the offset from UTC: `2026-11-30T08:12:03+01:00`.
  static func iso(_ utc: Int64) -> String {
    let offset = parts(utc).tm_gmtoff / 60
    let size = Int32(abs(offset))
    return "\(date(utc))T\(clock(utc))\(offset < 0 ? "-" : "+")\(two(size / 60)):\(two(size % 60))"
  }

  private static func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
