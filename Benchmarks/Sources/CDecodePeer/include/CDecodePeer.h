#pragma once
#include <stddef.h>
#include <stdint.h>

/* One refilled buffer of a device, read through libiio: what its users do to get numbers. */
struct peer;

/* Opens the device, switches all its channels on, and fills a buffer once. NULL if that fails. */
struct peer *peer_open(const char *uri, const char *device, size_t samples);
/* The filled buffer's bytes. */
const void *peer_bytes(const struct peer *peer, size_t *count, ptrdiff_t *step);
/* Every value of the buffer by iio_channel_convert, scaled, into `values` (time stamps into `stamps`): samples done. */
size_t peer_convert(struct peer *peer, float *values, int64_t *stamps);
/* The same by iio_buffer_foreach_sample. */
size_t peer_foreach(struct peer *peer, float *values, int64_t *stamps);
void peer_close(struct peer *peer);
