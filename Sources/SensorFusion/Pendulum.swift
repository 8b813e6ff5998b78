/// The swing of an arm or a leg that carries the device, seen by gyroscope and accelerometer together.
///
/// A device at the end of a limb moves as a pendulum bob: its horizontal acceleration is the angular acceleration
/// about horizontal axes times the lever from the joint down to the device. That ties two sensors by one length, which
/// is a limb's in a walker (0.3 to 0.9 m, hanging down) and another, or none, when a hand plays with the device.
struct Pendulum: Sendable {
  /// Frequency of the swing, Hz: half the step frequency.
  var frequency = 0.0
  /// Amplitude of the rotation rate at that frequency, rad/s.
  var rate = 0.0
  /// The lever, m; positive with the device below the joint.
  var lever = 0.0
  /// How well the lever explains the horizontal acceleration, -1 to 1.
  var coherence = 0.0
  /// Periodicity of |rotation rate| over one or two steps, 0 to 1.
  var periodicity = 0.0
  /// Share of the rotation near the swing's frequency, amplitude at it over the largest at other frequencies.
  var dominance = 0.0

  init() {}

  init(history: GaitHistory, spectrum: SlidingSpectrum, last n: Int) {
    var best = 0.0
    var peak = 12
    for k in 10...32 where spectrum.rates[k] > best {
      best = spectrum.rates[k]
      peak = k
    }
    frequency = SlidingSpectrum.step * Double(peak)
    let (before, at, after) = (spectrum.rates[peak - 1], spectrum.rates[peak], spectrum.rates[peak + 1])
    if at >= before, at >= after, before - 2 * at + after < 0 {
      frequency += SlidingSpectrum.step * 0.5 * (before - after) / (before - 2 * at + after)
    }
    rate = at.squareRoot()
    var other = 0.0
    for k in SlidingSpectrum.lowest...SlidingSpectrum.highestAxis where abs(k - peak) > 6 {
      other = max(other, spectrum.rates[k])
    }
    dominance = rate / max(other.squareRoot(), 1e-9)
    periodicity = GaitMeasures.periodicity(of: history, .bandRateNorm, period: 25 / frequency, last: n)
    history.withValues(.earthX) { ax in
      history.withValues(.earthY) { ay in
        history.withValues(.earthRateX) { wx in
          history.withValues(.earthRateY) { wy in
            let begin = max(1, ax.count - n)
            var cross = 0.0
            var turning = 0.0
            var moving = 0.0
            for i in begin..<(ax.count - 1) {
              // Angular acceleration, rad/s^2, by the central difference on the 50 Hz grid.
              let alphaX = (wx[i + 1] - wx[i - 1]) * 25
              let alphaY = (wy[i + 1] - wy[i - 1]) * 25
              // alpha x r with r = (0, 0, -lever)
              cross += ay[i] * alphaX - ax[i] * alphaY
              turning += alphaX * alphaX + alphaY * alphaY
              moving += ax[i] * ax[i] + ay[i] * ay[i]
            }
            lever = cross / max(turning, 1e-12)
            coherence = cross / max((turning * moving).squareRoot(), 1e-12)
          }
        }
      }
    }
  }
}
