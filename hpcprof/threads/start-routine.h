/* Trims the call paths of a thread so that they begin with its start routine. The frames of the
 * thread library outside of it (clone3, start_thread) are left out. What was measured in them
 * alone, while the thread began or ended, belongs to the start routine.
 *
 * A start routine that ends with a jump to another procedure (a tail call) has no frame. Then the
 * outermost frames in the C library are left out, and the start routine is inserted. In the logical
 * projection of a process with agents it is not: agents decide which frames of their runtime are
 * shown, and the start routine may be one of them. */
#ifndef HPCPROF_START_ROUTINE_H
#define HPCPROF_START_ROUTINE_H

#include "hpcprof/contexts/analysis.h"

/* The position of a node relative to the start routine. */
enum start_mark {
    INSIDE,      /* it is the start routine, or lies inside it, or the path is not trimmed */
    OUTSIDE,     /* it is left out */
    BELOW_START, /* it is called by the start routine, which has no node: insert it */
    BORROWED,    /* it is left out: a frame outside of another thread's start routine
                    (stack-owners.h) */
};

struct start_routine {
    const struct analysis *analysis;
    const struct thread_ref *thread;
    bool is_logical;
    uint32_t function; /* NO_SYMBOL: unknown, so every node is INSIDE */
};

struct start_routine start_routine_of(const struct analysis *analysis,
                                      const struct thread_ref *thread, enum projection_kind kind);

/* The function that contains an address; NO_SYMBOL if it is in no known module. `space` and `offset`
 * are those of an ip or an lip of the thread's file. */
uint32_t start_routine_function_at(const struct start_routine *start, uint32_t space,
                                   uint64_t offset);

/* Sets the mark of each node of the thread (enum start_mark); the root is OUTSIDE if the start
 * routine is known. */
void start_routine_mark(const struct start_routine *start, uint8_t *marks);

/* Whether no agent changed a node: its l-note is its p-note. */
static inline bool node_is_native(const struct measurement_node *node)
{
    return node->association == ASSOC_1_1 && node->lip_space == node->ip_space &&
           node->lip_value == node->ip_offset;
}

/* Whether an agent replaced the path outside of an outermost note, that of `node`. The thread's own
 * frames may have no notes at all. */
static inline bool path_is_replaced(const struct measurement *m,
                                    const struct measurement_node *node)
{
    bool is_hidden = measurement_has_agent(m) && node->parent != MEASUREMENT_ROOT;
    return node->association == ASSOC_1_M || is_hidden;
}

#endif
