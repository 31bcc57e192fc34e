/* Ranges of ITT and NVTX, which libhpctoolkit-ranges.so (ranges/) passes on to the preloaded library: NULL in a
 * process that runs without it. Normal context. */
#ifndef HPCRUN_BASE_RANGE_HOOKS_H
#define HPCRUN_BASE_RANGE_HOOKS_H

void hpctoolkit_range_begin(const void *key, const char *name) __attribute__((weak, visibility("default")));

/* Ends the calling thread's latest open range with that key; without one, nothing. */
void hpctoolkit_range_end(const void *key) __attribute__((weak, visibility("default")));

#endif
