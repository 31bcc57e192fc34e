/* usage: MINICILK_WORKERS=N short-strands COUNT
 *
 * A loop spawns COUNT procedures that do nothing. A strand takes a few nanoseconds, less than hpcrun
 * knows about any single one; and none is a grain, since the procedures spawn nothing. */
#include "tests/programs/cilk/driver.h"

CILK_PROC(nothing, );

CILK_BODY(nothing)
{
    CILK_BEGIN(nothing);
    CILK_END;
}

CILK_PROC(loop, long count; long i;);

CILK_BODY(loop)
{
    CILK_BEGIN(loop);
    for (f->i = 0; f->i < f->count; f->i++)
        CILK_SPAWN(nothing, (void)a);
    CILK_END;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: MINICILK_WORKERS=N short-strands COUNT\n");
        return 2;
    }
    const long count = driver_number(argv[0], argv[1], 0, INT32_MAX);
    if (minicilk_init(0) != 0)
        return 1;
    CILK_RUN(loop, a->count = count);
    minicilk_shutdown();
}
