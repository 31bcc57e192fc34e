/* Work and span (span/work-span.h) as metrics of a calling context tree, for `hpcrun --work-span`.
 * Normal context. */
#ifndef HPCRUN_SAMPLE_SPAN_TREE_H
#define HPCRUN_SAMPLE_SPAN_TREE_H

#include "hpcrun/thread/thread.h"
#include "lib/measurement-format.h"

/* In the initial thread, before agents are opened: from now on they report what their runtimes do.
 * False without memory. */
bool span_tree_init(void);

/* Just before main: the program's serial code begins. What the loader and hpcrun did before is not
 * the program's work. */
void span_tree_main_begins(void);

/* Whether work and span are measured in this process. */
bool span_tree_is_on(void);

/* Nothing is measured any more: in the child of a fork, where no runtime goes on, and once hpcrun has withdrawn from the
 * process. From then on no event makes a system call. */
void span_tree_stop(void);

/* At the image's end, and before an exec: adds to the tree of `thread`, which must be quiescent, what
 * all values have grown by since the last time, but for metrics whose strands are too short. False,
 * with nothing added, if no runtime reported anything, or memory ran out. */
bool span_tree_enter(struct thread *thread);

/* After that, if the exec failed: the program goes on. */
void span_tree_exec_failed(void);

/* In a thread that ends. */
void span_tree_thread_ends(void);

/* How well one of the metrics is known. */
struct span_knowledge {
    enum recorded_state state;
    const char *why; /* not exactly; valid until the next span_tree_state. NULL: exactly */
    uint64_t error;  /* the value is right within this, in the unit */
};

/* How well the values are known, after span_tree_enter. */
struct span_state {
    struct span_knowledge work, span, burdened_span;
    bool has_run; /* a runtime that can report them ran a computation, or one says why it cannot */
};

struct span_state span_tree_state(void);

#endif
