/* The threads that execute tasks (task-span.h). A record is used again when its thread has ended. */
#ifndef HPCRUN_SPAN_TASK_THREADS_H
#define HPCRUN_SPAN_TASK_THREADS_H

#include "hpcrun/span/span-results.h"
#include "hpcrun/span/strand-clock.h"

struct task_thread {
    struct strand_clock clock;
    struct worker_memory memory;
    struct span_tally *tally;
    struct span_task *top; /* the task that it executes; NULL: none */
    uint64_t work;
    /* Of a Cilk program (frame-span.h). NULL while an event changes something: a signal may end the
     * process then. */
    struct span_frame *volatile frame; /* the one that it executes; NULL: none */
    struct span_frame *paused;         /* between two events that follow each other; NULL: none */
    struct task_thread *next, *next_free;
};

/* Normal context. The record of the calling thread; NULL without memory. */
struct task_thread *task_thread_mine(void);

/* The same, NULL if the thread has none. */
struct task_thread *task_thread_existing(void);

/* The calling thread ends. */
void task_thread_ends(void);

/* The work of all threads so far. */
uint64_t task_threads_work(void);

#endif
