/// Spectra of the last four seconds of the step counter's signals, kept up to date sample by sample.
///
/// A sliding discrete Fourier transform (Jacobsen and Lyons, "The sliding DFT", IEEE Signal Processing Magazine 20(2),
/// 2003) in the form that multiplies each sample by an absolute phase: what a sample added when it came is subtracted,
/// to the bit, when it leaves, so the sums do not drift. The Hann window is applied afterwards, as a sum of three
/// neighbours in frequency. Grid: 0.05 Hz, five times finer than the window resolves.
struct SlidingSpectrum: Sendable {
  /// Window length in grid samples (4 s).
  static let window = 200
  /// Length of one turn of the phase table: 50 Hz / 0.05 Hz.
  static let turn = 1000
  /// Frequency step, Hz.
  static let step = 0.05
  /// The first and last frequency index with a power: 0.40 and 7.20 Hz.
  static let lowest = 8
  static let highest = 144
  /// The last frequency index of the axes' spectra (2.10 Hz: half the fastest step and a margin).
  static let highestAxis = 42
  /// Five steps of 0.05 Hz are one turn in the window: the Hann window's neighbours.
  private static let neighbour = 5
  private static let first = lowest - neighbour
  private static let lastAll = highestAxis + neighbour
  private static let lastForce = highest + neighbour

  private var cosine: [Double]
  private var sine: [Double]
  /// Running sums for the low frequencies. Lanes: 1 (the window itself), |a|, the three axes, the three rates.
  private var lowReal: [SIMD8<Double>]
  private var lowImaginary: [SIMD8<Double>]
  /// Running sums for the frequencies above: lanes 1 and |a| only.
  private var highReal: [SIMD2<Double>]
  private var highImaginary: [SIMD2<Double>]
  /// Running plain sums of the lanes.
  private var sums = SIMD8<Double>.zero
  /// Sum of the Hann window over its newest n samples.
  private var windowSum: [Double]
  /// Samples in the window.
  private(set) var count = 0
  /// The newest sample's index, modulo `turn`.
  private var phase = 0

  /// Power of |a| by frequency index, amplitude squared, (m/s²)².
  private(set) var force: [Double]
  /// Sum of the powers of the three axes of the specific force, (m/s²)²; up to `highestAxis`.
  private(set) var axes: [Double]
  /// Sum of the powers of the three rotation rates, (rad/s)²; up to `highestAxis`.
  private(set) var rates: [Double]

  init() {
    let unit = 2 * Double.pi / Double(Self.turn)
    cosine = (0..<Self.turn).map { Elementary.cos(unit * Double($0)) }
    sine = (0..<Self.turn).map { Elementary.sin(unit * Double($0)) }
    lowReal = Array(repeating: .zero, count: Self.lastAll - Self.first + 1)
    lowImaginary = lowReal
    highReal = Array(repeating: .zero, count: Self.lastForce - Self.lastAll)
    highImaginary = highReal
    force = Array(repeating: 0, count: Self.highest + 1)
    axes = Array(repeating: 0, count: Self.highestAxis + 1)
    rates = axes
    windowSum = [0]
    for n in 0..<Self.window {
      // Symmetric, so the newest sample has the same weight as the oldest.
      let weight = 0.5 - 0.5 * Elementary.cos(2 * .pi * (Double(n) + 0.5) / Double(Self.window))
      windowSum.append(windowSum[n] + weight)
    }
  }

  /// Forgets all samples.
  mutating func reset() {
    for i in lowReal.indices {
      lowReal[i] = .zero
      lowImaginary[i] = .zero
    }
    for i in highReal.indices {
      highReal[i] = .zero
      highImaginary[i] = .zero
    }
    sums = .zero
    count = 0
    phase = 0
  }

  /// The mean of |a| over the window, m/s².
  var meanForce: Double { count > 0 ? sums[1] / Double(count) : 0 }

  /// Adds the newest sample (lanes as above) and takes away `leaving`, the sample 200 before it, once there is one.
  mutating func advance(entering: SIMD8<Double>, leaving: SIMD8<Double>) {
    phase = phase + 1 == Self.turn ? 0 : phase + 1
    let isFull = count == Self.window
    if !isFull { count += 1 }
    let old = isFull ? leaving : .zero
    sums += entering - old
    let oldPhase = phase < Self.window ? phase - Self.window + Self.turn : phase - Self.window
    var i = (Self.first * phase) % Self.turn
    var j = (Self.first * oldPhase) % Self.turn
    let steps = (phase, oldPhase)
    let lowCount = lowReal.count
    let highCount = highReal.count
    let entering2 = SIMD2(entering[0], entering[1])
    let old2 = SIMD2(old[0], old[1])
    cosine.withUnsafeBufferPointer { cosine in
      sine.withUnsafeBufferPointer { sine in
        lowReal.withUnsafeMutableBufferPointer { real in
          lowImaginary.withUnsafeMutableBufferPointer { imaginary in
            for n in 0..<lowCount {
              real[n] += entering * cosine[i] - old * cosine[j]
              imaginary[n] -= entering * sine[i] - old * sine[j]
              i += steps.0
              if i >= Self.turn { i -= Self.turn }
              j += steps.1
              if j >= Self.turn { j -= Self.turn }
            }
          }
        }
        highReal.withUnsafeMutableBufferPointer { real in
          highImaginary.withUnsafeMutableBufferPointer { imaginary in
            for n in 0..<highCount {
              real[n] += entering2 * cosine[i] - old2 * cosine[j]
              imaginary[n] -= entering2 * sine[i] - old2 * sine[j]
              i += steps.0
              if i >= Self.turn { i -= Self.turn }
              j += steps.1
              if j >= Self.turn { j -= Self.turn }
            }
          }
        }
      }
    }
  }

  /// Computes the powers of the window as it is now.
  mutating func evaluate() {
    guard count > 0 else { return }
    // The window starts at sample s = newest - 199; its cosine has the phase 2 pi (n - s + 1/2) / 200.
    let start = (phase - (Self.window - 1) + Self.turn) % Self.turn
    let index = (Self.neighbour * start) % Self.turn
    let half = Double.pi / Double(Self.window)
    let cosHalf = Elementary.cos(half)
    let sinHalf = Elementary.sin(half)
    let turnCos = cosine[index] * cosHalf + sine[index] * sinHalf
    let turnSin = sine[index] * cosHalf - cosine[index] * sinHalf
    let scale = 2 / windowSum[count]
    let scale2 = scale * scale
    let mean = sums / Double(count)

    for k in Self.lowest...Self.highestAxis {
      let n = k - Self.first
      let a = lowReal[n - Self.neighbour]
      let b = lowImaginary[n - Self.neighbour]
      let c = lowReal[n + Self.neighbour]
      let d = lowImaginary[n + Self.neighbour]
      // H = S/2 - (e^{-i t} S(k-5) + e^{+i t} S(k+5)) / 4
      // In short steps, with types: Swift 6.0's type checker does not finish the whole of it.
      let sideReal: SIMD8<Double> = (a + c) * turnCos + (b - d) * turnSin
      let sideImaginary: SIMD8<Double> = (b + d) * turnCos - (a - c) * turnSin
      var re: SIMD8<Double> = lowReal[n] * 0.5 - sideReal * 0.25
      var im: SIMD8<Double> = lowImaginary[n] * 0.5 - sideImaginary * 0.25
      re -= mean * re[0]
      im -= mean * im[0]
      let squared: SIMD8<Double> = re * re + im * im
      let power: SIMD8<Double> = squared * scale2
      force[k] = power[1]
      axes[k] = power[2] + power[3] + power[4]
      rates[k] = power[5] + power[6] + power[7]
    }
    for k in (Self.highestAxis + 1)...Self.highest {
      let (s, t) = pair(k)
      let (a, b) = pair(k - Self.neighbour)
      let (c, d) = pair(k + Self.neighbour)
      let sideReal: SIMD2<Double> = (a + c) * turnCos + (b - d) * turnSin
      let sideImaginary: SIMD2<Double> = (b + d) * turnCos - (a - c) * turnSin
      let re: SIMD2<Double> = s * 0.5 - sideReal * 0.25
      let im: SIMD2<Double> = t * 0.5 - sideImaginary * 0.25
      let x = re[1] - mean[1] * re[0]
      let y = im[1] - mean[1] * im[0]
      force[k] = (x * x + y * y) * scale2
    }
  }

  /// The running sums of the window and of |a| at one frequency index.
  private func pair(_ k: Int) -> (SIMD2<Double>, SIMD2<Double>) {
    if k <= Self.lastAll {
      let n = k - Self.first
      return (SIMD2(lowReal[n][0], lowReal[n][1]), SIMD2(lowImaginary[n][0], lowImaginary[n][1]))
    }
    let n = k - Self.lastAll - 1
    return (highReal[n], highImaginary[n])
  }

  /// The power of |a| at a multiple of half a frequency step, linear between grid points; 0 off the grid.
  func force(atHalfIndex twice: Int) -> Double {
    let k = twice / 2
    guard k >= Self.lowest, k <= Self.highest else { return 0 }
    if twice % 2 == 0 { return force[k] }
    return k < Self.highest ? 0.5 * (force[k] + force[k + 1]) : 0
  }

  /// The axes' power at a multiple of half a frequency step, linear between grid points; 0 off the grid.
  func axes(atHalfIndex twice: Int) -> Double {
    let k = twice / 2
    guard k >= Self.lowest, k <= Self.highestAxis else { return 0 }
    if twice % 2 == 0 { return axes[k] }
    return k < Self.highestAxis ? 0.5 * (axes[k] + axes[k + 1]) : 0
  }

  /// The largest value of a spectrum within `width` Hz of `frequency`; 0 off the grid.
  static func largest(in spectrum: [Double], near frequency: Double, within width: Double) -> Double {
    let low = max(lowest, Int(((frequency - width) / step).rounded(.up)))
    let high = min(spectrum.count - 1, Int(((frequency + width) / step).rounded(.down)))
    guard low <= high else { return 0 }
    var largest = 0.0
    for k in low...high { largest = max(largest, spectrum[k]) }
    return largest
  }
}
