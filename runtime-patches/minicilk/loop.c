/* The parallel loop. It is a procedure as a program's own and not in the runtime's section, so
 * logical call paths have it between the loop's caller and its pieces. */
#include "minicilk-runtime.h"

enum { MAX_AUTOMATIC_GRAIN = 2048, PIECES_PER_WORKER = 8 };

#ifndef MINICILK_UNTAGGED
#line 9 "hpctoolkit:parallel-overhead:loop"
#endif
static long automatic_grain(long iterations)
{
    const long grain = iterations / (PIECES_PER_WORKER * minicilk_workers());
    return grain < 1 ? 1 : grain > MAX_AUTOMATIC_GRAIN ? MAX_AUTOMATIC_GRAIN : grain;
}

MINICILK_API CILK_BODY(minicilk_for)
{
    CILK_BEGIN(minicilk_for);
    if (f->grain <= 0)
        f->grain = automatic_grain(f->end - f->begin);
    while (f->end - f->begin > f->grain) {
        f->middle = f->begin + (f->end - f->begin) / 2;
        CILK_SPAWN(minicilk_for, a->begin = f->begin; a->end = f->middle; a->grain = f->grain;
                   a->range = f->range; a->data = f->data);
        f->begin = f->middle;
    }
    if (f->begin < f->end)
        f->range(f->begin, f->end, f->data);
    CILK_END;
}
