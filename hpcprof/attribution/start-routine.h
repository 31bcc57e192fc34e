/* Where the call paths of a thread begin: with its start routine. The frames of the thread library
 * around it (clone3, start_thread) are left out, and what was measured in them alone, as the thread
 * began or ended, belongs to the start routine.
 *
 * A start routine that ends with a jump to another procedure has no frame there. Then the C
 * library's outermost frames are left out, and the path begins with the start routine all the same.
 * Not so in the logical projection of a process with agents: they decide which of their runtime's
 * frames are shown, and the start routine may be one of these. */
#ifndef HPCPROF_START_ROUTINE_H
#define HPCPROF_START_ROUTINE_H

#include "hpcprof/names/symbol-table.h"

/* What a node is to the start routine of its thread. */
enum begin_mark {
    INSIDE,      /* it is the start routine, or its path is to be left as it is from here on */
    OUTSIDE,     /* it is left out */
    BELOW_START, /* it belongs below the start routine, which has no node in its path */
};

struct path_begin {
    const struct inputs *inputs;
    const struct program *program;
    const struct measurement_thread *thread;
    size_t input; /* index of the file that the thread is in */
    bool is_logical;
    uint32_t start_routine; /* function of the program; PROGRAM_NONE: unknown, all is INSIDE */
};

struct path_begin path_begin_of(const struct inputs *inputs, const struct program *program,
                                size_t input, const struct measurement_thread *thread,
                                bool is_logical);

/* Marks all nodes of the thread, the root as OUTSIDE if the start routine is known. */
void path_begin_mark(const struct path_begin *begin, uint8_t *marks);

/* How many nodes of a path, outermost first, are OUTSIDE. *is_below says whether the next one is
 * BELOW_START. */
size_t path_begin_count(const struct path_begin *begin, const uint32_t *nodes, size_t n,
                        bool *is_below);

/* Whether an agent had no part in what a node says: its l-note is its p-note. */
static inline bool node_is_native(const struct measurement_node *node)
{
    return node->association == ASSOC_1_1 && node->lip_space == node->ip_space &&
           node->lip_value == node->ip_offset;
}

#endif
