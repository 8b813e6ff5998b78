#pragma once
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Writes the shortest decimal that reads back to `value` (finite), at most 16 bytes, no NUL; returns the length.
size_t mk_write_float(float value, char *out);
/// The same for a double, at most 25 bytes.
size_t mk_write_double(double value, char *out);
/// Reads all of [first, last) as the nearest float; 0 if it is no number or its magnitude is too large.
int mk_read_float(const char *first, const char *last, float *out);
/// The same for a double.
int mk_read_double(const char *first, const char *last, double *out);

#ifdef __cplusplus
}
#endif
