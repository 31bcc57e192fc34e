/* Switches sampling on and off from the profiled program, and measures work and span of its regions.
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

/* Regions of the program: begins and ends, with their names, in the time lines of their threads; and with
 * `hpcrun --work-span` a region's work and span:
 *
 *     HPCTOOLKIT_REGION_START("sort");
 *     CILK_RUN(sort, ...);
 *     HPCTOOLKIT_REGION_STOP("sort");
 *     HPCTOOLKIT_REGION_DUMP("sort");
 *
 * The sums of all executions of the region are in the summary that hpcviewer shows. The dump writes
 * them, and the bounds of the region's speedup, to standard error and to the measurement's log. Regions may be nested
 * and repeated. A time line has the first 4096 begins and ends of a thread. For work and span, regions begin and end
 * in the thread that runs the serial code, between computations; with OpenCilk also in a procedure that is
 * called, not spawned. ITT's tasks and NVTX's ranges are regions of the time line, too. Without hpcrun each of these costs a load and a branch. */
void hpctoolkit_region_start(const char *name) __attribute__((weak));
void hpctoolkit_region_stop(const char *name) __attribute__((weak));
void hpctoolkit_region_dump(const char *name) __attribute__((weak));

#define HPCTOOLKIT_REGION_START(name)                                                              \
    do {                                                                                           \
        if (hpctoolkit_region_start)                                                               \
            hpctoolkit_region_start(name);                                                         \
    } while (0)

#define HPCTOOLKIT_REGION_STOP(name)                                                               \
    do {                                                                                           \
        if (hpctoolkit_region_stop)                                                                \
            hpctoolkit_region_stop(name);                                                          \
    } while (0)

#define HPCTOOLKIT_REGION_DUMP(name)                                                               \
    do {                                                                                           \
        if (hpctoolkit_region_dump)                                                                \
            hpctoolkit_region_dump(name);                                                          \
    } while (0)

#ifdef __cplusplus
}
#endif

#endif
