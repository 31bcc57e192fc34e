/* Where in a procedure a thread hangs that the procedure's frame outlived: the frame called what
 * created the thread from one address, and what joined it from another, and did not return between.
 *
 * The thread must not hang below a call that returned before the join, be it inlined. Where the
 * frame's own code creates the thread, directly or by C++'s library (std::thread, std::async), the
 * creating call has nothing else below it, and the thread hangs at its line. Where another
 * procedure created it on the frame's behalf, as that of a pool does, which may have been doing its
 * own work, the thread hangs in the innermost loop or inlined procedure that both calls are in, at
 * a line only if both are on it. */
#ifndef HPCPROF_CREATION_POINT_H
#define HPCPROF_CREATION_POINT_H

#include "hpcprof/names/symbol-table.h"

enum live_kind {
    LIVE_CALL,   /* at the creating call, with its line */
    LIVE_SCOPE,  /* in a scope around it */
    LIVE_CALLER, /* the calls are in different procedures, which replaced each other: no frame but
                    their common caller stayed live */
};

struct live_place {
    enum live_kind kind;
    uint32_t scope;      /* LIVE_SCOPE: of the structure */
    uint32_t file, line; /* LIVE_SCOPE: below it, of the structure; line 0: none */
};

/* Places a thread in a frame of module `module`. `created` and `joined` are the addresses of the
 * two calls. `by_itself`: all frames inside it on the way to the creation are of C++'s library, or
 * there are none. */
struct live_place live_place(const struct program *program, uint32_t module, uint64_t created,
                             uint64_t joined, bool by_itself);

/* Whether all procedures, inlined ones too, at an address of a module are of C++'s library. */
bool live_is_library(const struct program *program, uint32_t module, uint64_t address);

#endif
