// Counts heap allocations of the calling thread, by standing in for malloc, calloc and realloc.
#ifndef ALLOCATION_COUNTER_H
#define ALLOCATION_COUNTER_H

/// Allocations that this thread has made since it started; -1 where they cannot be counted (sanitizers).
long allocation_count(void);

#endif
