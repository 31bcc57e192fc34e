/* What the kernel reports of the measured process: perf events on its threads, each with a ring buffer of
 * its CPU, which threads that begin later inherit.
 *
 *   event     the software task clock of a thread: a sample for each period of its CPU time. The period
 *             can't be random from outside, as it is in a preloaded run (source/sample-source.h). It is a
 *             bit longer than what was asked for, so that it is no multiple of a round number.
 *   sample    the kernel's frames, the user's registers, and a copy of the bytes from the stack pointer on
 *   records   mappings of code, execs, ends of threads; the number of samples for which a ring had no room */
#ifndef HPCRUN_OUTSIDE_PERF_RINGS_H
#define HPCRUN_OUTSIDE_PERF_RINGS_H

#include "hpcrun/outside/module-image.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bits of registers that a sample has, by perf's number, and their number. */
#define SAMPLED_REGISTERS      0xff0fffu
#define SAMPLED_REGISTER_COUNT 20

struct perf_sample {
    int tid;
    uint64_t time, period; /* CLOCK_MONOTONIC; ns of CPU time */
    bool is_64_bit;        /* and the thread has registers of its own: it is none of the kernel's */
    uint64_t registers[SAMPLED_REGISTER_COUNT];
    const uint8_t *stack;
    size_t stack_bytes;
    const uint64_t *kernel; /* frames of the kernel, innermost first: struct increment */
    unsigned kernel_count;
};

/* Called for each record. Of those that are read at once, execs come first, then mappings, samples in the
 * order of time, and ends of threads: rings of several CPUs have no common order. */
struct perf_visitor {
    void (*map)(const struct mapping *mapping, uint64_t time);
    void (*exec)(uint64_t time);
    void (*sample)(const struct perf_sample *sample);
    void (*lost)(uint64_t samples);
    void (*end)(int tid, uint64_t time);
};

/* Whether this process may sample that one: 0, or a negative errno. */
int perf_rings_probe(int pid);

/* Opens the events for all threads of the process, `period` ns apart. `at_exec`: they begin with the next
 * exec. Returns 0, or a negative errno. *missing: number of threads that have no events, since there were
 * no descriptors for them. */
int perf_rings_open(int pid, uint64_t period, bool at_exec, unsigned *missing);

/* Whether samples include those in the kernel. */
bool perf_rings_see_kernel(void);

/* Waits until a ring is a quarter full, until `fd` is readable, or for a time, ms; then reads all rings.
 * Returns whether `fd` is readable. */
bool perf_rings_wait(int fd, int milliseconds);
void perf_rings_read(const struct perf_visitor *visitor);

/* Stops all events; the rings can still be read. */
void perf_rings_stop(void);

/* Waits until the kernel has ended the events of a program that gains rights: it does so a moment after it
 * has reported the exec. Events that are opened later stay. */
void perf_rings_await_end(void);

#endif
