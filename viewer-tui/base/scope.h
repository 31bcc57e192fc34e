/* The kinds of scopes that costs are attributed to, and the costs. */
#ifndef VIEWER_SCOPE_H
#define VIEWER_SCOPE_H

#include <stdint.h>

enum scope_kind {
    KIND_ROOT,    /* the whole program, and the entry points of its threads */
    KIND_PROGRAM, /* one of several executables; its entry points are below */
    KIND_MODULE,
    KIND_FILE,
    KIND_PROCEDURE,
    KIND_INLINED,
    KIND_LOOP,
    KIND_STATEMENT,
    KIND_INSTRUCTION /* a part of the scope around it; never shown */
};

/* Room for the name of a unit. */
#define UNIT_SIZE 16

/* No index: unknown file, module, procedure, row... */
#define NOTHING UINT32_MAX

/* The cost of one metric in one scope, in the metric's unit.
 * exclusive: of a procedure (or inlined procedure) its own statements, including those in its
 *   loops, without what it calls and what is inlined into it; of a loop its own statements outside
 *   of inner loops.
 * inclusive: everything below the scope as well. */
struct cost {
    double inclusive, exclusive;
};

enum cost_part { INCLUSIVE, EXCLUSIVE };

#endif
