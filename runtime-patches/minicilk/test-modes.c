/* Functions of the test modes (minicilk-modes.h). */
#include <sched.h>
#include <stdlib.h>

#include "minicilk-runtime.h"

#define LIVE UINT64_C(0x11feed11feed11fe)
#define DEAD UINT64_C(0xdeadf4a3edeadf4a)

#ifndef MINICILK_UNTAGGED
#line 12 "hpctoolkit:parallel-overhead:scheduler"
#endif
#if MINICILK_MODES & MINICILK_CHAOS
/* Yields the CPU at random, so that tests hit windows of a few instructions. The empty asm prevents
 * a tail call: the stack must show in whose window the yield is. */
RUNTIME_CODE void minicilk_chaos(void)
{
    static _Thread_local unsigned state;
    if (state == 0)
        state = (unsigned)(uintptr_t)&state | 1;
    state = state * 1103515245 + 12345;
    if ((state >> 16) % MINICILK_CHAOS_ODDS == 0)
        sched_yield();
    __asm__ volatile("");
}
#endif

#if MINICILK_MODES & MINICILK_MAGICAL
RUNTIME_CODE void minicilk_mark(struct minicilk_frame *frame, bool live)
{
    if (!live) {
        minicilk_check(frame);
        if (MINICILK_CHILDREN(atomic_load(&frame->join)) != 0) {
            minicilk_complain("frame %p is freed with children", (void *)frame);
            abort();
        }
    }
    frame->magic = live ? LIVE : DEAD;
    frame->depth = live && frame->parent ? frame->parent->depth + 1 : 0;
}

RUNTIME_CODE void minicilk_check(const struct minicilk_frame *frame)
{
    if (frame->magic == LIVE && (!frame->parent || (frame->parent->magic == LIVE &&
                                                    frame->parent->depth + 1 == frame->depth)))
        return;
    minicilk_complain("frame %p is dead or has a dead parent", (const void *)frame);
    abort();
}
#endif
