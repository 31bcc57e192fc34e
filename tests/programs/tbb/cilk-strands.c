/* For three-runtimes.cc: three strands of minicilk that run at the same time. */
#include <minicilk.h>

#include <stdlib.h>

void run_cilk(void (*attend)(void));

static void (*attend_meeting)(void);

CILK_PROC(strand, int unused;);

CILK_BODY(strand)
{
    CILK_BEGIN(strand);
    attend_meeting();
    CILK_END;
}

CILK_PROC(strands, int unused;);

CILK_BODY(strands)
{
    CILK_BEGIN(strands);
    CILK_SPAWN(strand, a->unused = 0);
    CILK_SPAWN(strand, a->unused = 0);
    attend_meeting(); /* the third, so that meanwhile nothing is left to steal */
    CILK_END;
}

void run_cilk(void (*attend)(void))
{
    attend_meeting = attend;
    if (minicilk_init(4) != 0 || CILK_RUN(strands, a->unused = 0) != 0)
        abort();
    minicilk_shutdown();
}
