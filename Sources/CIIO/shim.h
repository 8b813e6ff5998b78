#pragma once
#include <iio.h>
#include <stdio.h>
#include <sys/types.h>

/* fopencookie(3) is a GNU extension that Swift's Glibc module leaves out: the same function under a name of our own. */
struct ciio_stream_functions {
  ssize_t (*read)(void *cookie, char *bytes, size_t count);
  ssize_t (*write)(void *cookie, const char *bytes, size_t count);
  int (*seek)(void *cookie, void *offset, int whence);
  int (*close)(void *cookie);
};
extern FILE *ciio_open_stream(void *cookie, const char *mode, struct ciio_stream_functions functions)
    __asm__("fopencookie");

/* `stderr` is a variable, which Swift 6 lets nobody assign. */
static inline void ciio_set_standard_error(FILE *stream) { stderr = stream; }
