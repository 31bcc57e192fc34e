/* Switches sampling on and off from the profiled program.
 *
 * The functions are in hpcrun's preloaded library. A program that runs without it must not call
 * them, but may use HPCTOOLKIT_START() and HPCTOOLKIT_STOP(), which are no-ops there: the functions
 * are weak, so the program needs no library at link time:
 *
 *     #include <hpctoolkit.h>
 *     HPCTOOLKIT_START();  ...the part to measure...  HPCTOOLKIT_STOP();
 *
 * With `hpcrun -ds` (delay sampling) sampling is off until the first start. Both macros apply to
 * all threads of the process. They may be used in any thread, but not in a signal handler. */
#ifndef HPCTOOLKIT_H
#define HPCTOOLKIT_H

#ifdef __cplusplus
extern "C" {
#endif

void hpctoolkit_sampling_start(void) __attribute__((weak));
void hpctoolkit_sampling_stop(void) __attribute__((weak));
/* 1 while samples are taken, else 0. */
int hpctoolkit_sampling_is_active(void) __attribute__((weak));

#define HPCTOOLKIT_START()                                                                         \
    do {                                                                                           \
        if (hpctoolkit_sampling_start)                                                             \
            hpctoolkit_sampling_start();                                                           \
    } while (0)

#define HPCTOOLKIT_STOP()                                                                          \
    do {                                                                                           \
        if (hpctoolkit_sampling_stop)                                                              \
            hpctoolkit_sampling_stop();                                                            \
    } while (0)

#ifdef __cplusplus
}
#endif

#endif
