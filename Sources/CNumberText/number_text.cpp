// Decimal text from and to binary floating point, exactly rounded and free of the locale: std::to_chars for writing,
// fast_float (libfast-float-dev) for reading, since libstdc++ 12's from_chars is slower and strtod obeys LC_NUMERIC.
#include "number_text.h"

#include <charconv>
#include <cmath>
#include <fast_float/fast_float.h>

namespace {

template <typename T> size_t write(T value, char *out, size_t room) {
  return static_cast<size_t>(std::to_chars(out, out + room, value).ptr - out);
}

template <typename T> int read(const char *first, const char *last, T *out) {
  const auto result = fast_float::from_chars(first, last, *out);
  if (result.ptr != last || first == last) return 0;
  // Too small is a correctly rounded 0; too large is not a value of the type.
  const bool inRange = result.ec == std::errc() || (result.ec == std::errc::result_out_of_range && *out == 0);
  return inRange && std::isfinite(*out) ? 1 : 0;
}

}  // namespace

extern "C" {

size_t mk_write_float(float value, char *out) { return write(value, out, 16); }
size_t mk_write_double(double value, char *out) { return write(value, out, 25); }
int mk_read_float(const char *first, const char *last, float *out) { return read(first, last, out); }
int mk_read_double(const char *first, const char *last, double *out) { return read(first, last, out); }

}
