#include "CAllocationCounter.h"
#include <stddef.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define UNCOUNTED 1
#endif
#endif

#if defined(UNCOUNTED) || !defined(__GLIBC__) && !defined(__linux__)

long allocation_count(void) { return -1; }

#else

// glibc's own names for what we stand in for.
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *pointer, size_t size);

// initial-exec: access without an allocation of its own.
static __thread long count __attribute__((tls_model("initial-exec")));

void *malloc(size_t size) {
  count++;
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count++;
  return __libc_calloc(number, size);
}

void *realloc(void *pointer, size_t size) {
  count++;
  return __libc_realloc(pointer, size);
}

long allocation_count(void) { return count; }

#endif
