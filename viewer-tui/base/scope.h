/* The kinds of scopes that costs are attributed to, and the costs. */
#ifndef VIEWER_SCOPE_H
#define VIEWER_SCOPE_H

#include <stdint.h>

enum scope_kind {
    KIND_ROOT,    /* the whole program, and the entry points of its threads */
    KIND_PROGRAM, /* an executable, of several; its entry points are below */
    KIND_MODULE,
    KIND_FILE,
    KIND_PROCEDURE,
    KIND_INLINED,
    KIND_LOOP,
    KIND_STATEMENT,
    KIND_INSTRUCTION /* a part of the scope around it; never shown itself */
};

/* Room for the name of a unit. */
#define UNIT_SIZE 16

/* No file, module, procedure, line index. */
#define NOTHING UINT32_MAX

/* Of one metric in one scope, in the metric's unit.
 * Exclusive: a procedure's (and inlined procedure's) own statements, also those in its loops, but
 * not those of procedures that it calls or that are inlined into it; a loop's own statements
 * outside of loops within it. Inclusive: everything below as well. */
struct cost {
    double inclusive, exclusive;
};

enum cost_part { INCLUSIVE, EXCLUSIVE };

#endif
