/* Finds the place of a joined thread in a procedure. The procedure's frame called what created the
 * thread from one address, and what joined it from another, and did not return in between.
 *
 * The thread must not hang below a call, inlined or not, that returned before the join.
 * - If the frame's own code creates the thread, directly or by C++'s library (std::thread,
 *   std::async), the creating call has nothing else below it, and the thread hangs at its line.
 * - If another procedure created it for the frame, such as one of a thread pool, that may have done
 *   work of its own. Then the thread hangs in the innermost loop or inlined procedure that contains
 *   both calls; at a line only if both are on it. */
#ifndef HPCPROF_CREATION_POINT_H
#define HPCPROF_CREATION_POINT_H

#include "hpcprof/names/symbol-table.h"

enum creation_point_kind {
    POINT_CALL,   /* at the creating call, with its line */
    POINT_SCOPE,  /* in a scope around it */
    POINT_CALLER, /* in the caller of both calls' procedures: these replaced each other by a tail
                     call */
};

struct creation_point {
    enum creation_point_kind kind;
    uint32_t scope; /* POINT_SCOPE: index in the structure */
    uint32_t file,
        line; /* POINT_SCOPE: line below the scope, file of the structure; line 0: none */
};

/* Finds the point in a frame of a module. `created` and `joined` are the addresses of the two
 * calls. `is_direct`: the frames between this one and the creation are all of C++'s library, or
 * there are none. */
struct creation_point creation_point_find(const struct symbol_table *symbols, uint32_t module,
                                          uint64_t created, uint64_t joined, bool is_direct);

/* Whether all procedures at an address of a module, inlined ones too, are of C++'s library. */
bool is_cxx_library(const struct symbol_table *symbols, uint32_t module, uint64_t address);

#endif
