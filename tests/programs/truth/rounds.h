/* A program goes round and round until it has used a number of seconds of CPU time, and tells how
 * irregular the rounds were: a virtual machine may be halted in one of them, the kernel takes that
 * for the thread's time, and no share is what it should be then. */
#ifndef TESTS_PROGRAMS_ROUNDS_H
#define TESTS_PROGRAMS_ROUNDS_H

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

static double rounds_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Called before each round: whether there is to be one more. After the last it prints the seconds
 * used, and of the seconds by which rounds were longer than the shortest one, where they took more
 * than twice as long, the sum of the squares and the most. */
static bool one_more_round(double seconds)
{
    static double begin, last, shortest, squares, most;
    static long rounds;
    double now = rounds_clock(), took = now - last;
    if (rounds == 0)
        begin = now;
    else if (rounds == 1 || took < shortest)
        shortest = took;
    double more = took - shortest;
    if (rounds > 1 && more > shortest) {
        squares += more * more;
        most = more > most ? more : most;
    }
    last = now;
    rounds++;
    if (now - begin < seconds)
        return true;
    printf("%.9f %.12f %.9f\n", now - begin, squares, most);
    return false;
}

#endif
