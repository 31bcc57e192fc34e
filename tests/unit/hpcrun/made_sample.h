/* Samples that sample.c records in a made-up tree: each has a path of three frames, and all that sample.c asks for it are
 * the variables here. begin_sample, with which each test begins, sets them to what is said here. */
#ifndef TESTS_MADE_SAMPLE_H
#define TESTS_MADE_SAMPLE_H

#include "tests/unit/cmocka_suite.h"

#include "hpcrun/logical/agent-table.h"
#include "hpcrun/logical/lock-waiters.h"
#include "hpcrun/logical/wait-slots.h"
#include "hpcrun/process/process.h"
#include "hpcrun/sample/sample.h"

enum { WORK, WALL, OFF_CPU, READY, IDLENESS, INCOMPLETE, WAITING, LOCK_BLAME, METRICS };

#define NODE    5u
#define UNKNOWN 6u
#define KEPT    7u /* for a lock that is kept for long */

/* The path: its middle frame is of hpcrun's own code. */
#define OWN_CODE  2000u
#define OWN_FRAME 0x7000u
extern struct frame path[3];
extern enum unwind_end path_end; /* UNWIND_COMPLETE */

extern struct thread thread;
extern struct thread_event *const event; /* of the thread; has all metrics */
extern struct thread_status status;      /* the agent's answer: a foreign thread */
extern uint32_t node_of_path;            /* NODE */
extern uint32_t full_metric;             /* has no memory; METRICS: all have */
extern uint32_t running;                 /* threads that work, by their slots: 0 */
extern struct lock_waiters waiters;      /* for locks of the thread: none */

#define KERNEL_IP 0x100000u    /* of the address 0 in the kernel */
extern bool kernel_is_hidden; /* all its code has that ip: false */

/* The nodes that were entered for the kernel's frames, from the outermost on: the first is UNKNOWN, those below have the
 * same number. */
extern uint64_t entered_ips[KERNEL_FRAMES];
extern unsigned entered;

/* What sample.c did: what each node was paid, the amount that each waiter was charged, the last numbers of workers, and
 * what the last sample found. */
extern uint64_t paid[KEPT + 1][METRICS], charged;
extern uint32_t recorded_workers, recorded_n;
extern struct trace_record found;

int begin_sample(void **state);

void set_status(enum agent_thread_status kind, uint32_t workers, uint32_t working);

void take(uint64_t amount);
void take_increment(const struct increment *increment);

const struct fate_count *fate(enum fate which);
void assert_fate(enum fate which, uint64_t count, uint64_t amount);

/* The only fates are `fired` and this one. */
void assert_only_fate(enum fate which, uint64_t amount);

/* Of NODE. */
void assert_paid(uint64_t work, uint64_t idleness, uint64_t incomplete);

#endif
