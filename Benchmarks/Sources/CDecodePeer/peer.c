#include "CDecodePeer.h"

#include <iio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 16 };

struct peer {
  struct iio_context *context;
  struct iio_buffer *buffer;
  struct iio_channel *channels[most];
  double scales[most];
  unsigned count;
  /* For the callback. */
  float *values;
  int64_t *stamps;
};

struct peer *peer_open(const char *uri, const char *device, size_t samples) {
  struct peer *peer = calloc(1, sizeof *peer);
  if (!peer || !(peer->context = iio_create_context_from_uri(uri))) return free(peer), NULL;
  const struct iio_device *found = iio_context_find_device(peer->context, device);
  for (unsigned i = 0; found && i < iio_device_get_channels_count(found) && peer->count < most; i++) {
    struct iio_channel *channel = iio_device_get_channel(found, i);
    if (!iio_channel_is_scan_element(channel)) continue;
    iio_channel_enable(channel);
    double scale = 1;
    if (iio_channel_attr_read_double(channel, "scale", &scale) < 0) scale = 1;
    peer->scales[peer->count] = scale;
    peer->channels[peer->count++] = channel;
  }
  if (found) peer->buffer = iio_device_create_buffer(found, samples, false);
  if (!peer->buffer || iio_buffer_refill(peer->buffer) < 0) return peer_close(peer), NULL;
  return peer;
}

const void *peer_bytes(const struct peer *peer, size_t *count, ptrdiff_t *step) {
  const char *start = iio_buffer_start(peer->buffer);
  *count = (size_t)((const char *)iio_buffer_end(peer->buffer) - start);
  *step = iio_buffer_step(peer->buffer);
  return start;
}

/* A converted value as a number: libiio leaves it in the channel's own width. */
static double number(const struct iio_data_format *format, const void *value) {
  switch (format->length) {
    case 8: return *(const int8_t *)value;
    case 16: return *(const int16_t *)value;
    case 32: return *(const int32_t *)value;
    default: return (double)*(const int64_t *)value;
  }
}

size_t peer_convert(struct peer *peer, float *values, int64_t *stamps) {
  const char *end = iio_buffer_end(peer->buffer);
  ptrdiff_t step = iio_buffer_step(peer->buffer);
  size_t samples = 0;
  for (unsigned c = 0; c < peer->count; c++) {
    const struct iio_channel *channel = peer->channels[c];
    const struct iio_data_format *format = iio_channel_get_data_format(channel);
    samples = 0;
    for (const char *at = iio_buffer_first(peer->buffer, channel); at < end; at += step, samples++) {
      int64_t value = 0;
      iio_channel_convert(channel, &value, at);
      if (format->length == 64)
        stamps[samples] = value;
      else
        values[samples * most + c] = (float)(number(format, &value) * peer->scales[c]);
    }
  }
  return samples;
}

static ssize_t take(const struct iio_channel *channel, void *source, size_t bytes, void *data) {
  struct peer *peer = data;
  int64_t value = 0;
  (void)bytes;
  iio_channel_convert(channel, &value, source);
  const struct iio_data_format *format = iio_channel_get_data_format(channel);
  if (format->length == 64)
    *peer->stamps++ = value;
  else
    *peer->values++ = (float)(number(format, &value) * peer->scales[iio_channel_get_index(channel)]);
  return 1;
}

size_t peer_foreach(struct peer *peer, float *values, int64_t *stamps) {
  peer->values = values;
  peer->stamps = stamps;
  iio_buffer_foreach_sample(peer->buffer, take, peer);
  return (size_t)(peer->stamps - stamps);
}

void peer_close(struct peer *peer) {
  if (peer->buffer) iio_buffer_destroy(peer->buffer);
  if (peer->context) iio_context_destroy(peer->context);
  free(peer);
}
