/* Runs rounds until the program has used a number of seconds of CPU time, and reports how irregular
 * the rounds were: if a virtual machine is halted in a round, the kernel counts the halt as the
 * thread's time, and the shares are wrong. Rounds have random lengths; otherwise regular halts, such as
 * others' time slices, could all fall into the same part.
 */
#ifndef TESTS_PROGRAMS_ROUNDS_H
#define TESTS_PROGRAMS_ROUNDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

/* Links of a chain in one part of this round; PART on average, which takes about 25 us. */
#define PART 20000
static int part;

static double rounds_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Uniform in half to one and a half times PART (Knuth's generator, its upper bits). */
static int random_part(void)
{
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return PART / 2 + (int)((state >> 33) % PART);
}

static struct {
    double took;
    int part;
} rounds[100000];
static int n_rounds;

static double seconds_for_a_link(int round)
{
    return rounds[round].took / rounds[round].part;
}

/* Prints the seconds used; and, for the seconds by which rounds were slower than the fastest one, the
 * sum of squares and the maximum. */
static void report_rounds(double used)
{
    int fastest = 0;
    double squares = 0, most = 0;
    for (int i = 1; i < n_rounds; i++)
        if (seconds_for_a_link(i) < seconds_for_a_link(fastest))
            fastest = i;
    for (int i = 0; i < n_rounds; i++) {
        double more = rounds[i].took - seconds_for_a_link(fastest) * rounds[i].part;
        squares += more * more;
        most = more > most ? more : most;
    }
    printf("%.9f %.12f %.9f\n", used, squares, most);
}

/* Called before each round: whether to run one more; reports after the last. */
static bool one_more_round(double seconds)
{
    static double begin, last;
    double now = rounds_clock();
    if (part == 0) {
        begin = now;
    } else {
        rounds[n_rounds].took = now - last;
        rounds[n_rounds].part = part;
        n_rounds++;
    }
    last = now;
    part = random_part();
    if (now - begin < seconds && n_rounds < (int)(sizeof rounds / sizeof *rounds))
        return true;
    report_rounds(now - begin);
    return false;
}

#endif
