/* For programs whose frames have no unwind information: leaves return addresses of earlier calls,
 * direct and indirect ones, on the stack below the caller's frame. An unwinder that guesses may take
 * them for callers. */
#ifndef TESTS_LITTER_H
#define TESTS_LITTER_H

static volatile int sink; /* written after a call, so that it is no tail call */

__attribute__((noinline)) static void litter(int depth)
{
    static void (*volatile self)(int) = litter;
    if (depth == 0)
        return;
    if (depth % 2)
        litter(depth - 1);
    else
        self(depth - 1);
    sink++;
}

#endif
