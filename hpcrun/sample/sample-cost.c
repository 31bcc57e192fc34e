#include "hpcrun/sample/sample-cost.h"

#include "hpcrun/process/process.h"
#include "hpcrun/source/source-timer.h"

#define ROUNDS    21
#define DELAY_NS  50000u
#define WINDOW_NS 100000u

static uint64_t ticks_in_window(void)
{
    uint64_t begin = sys_clock(CLOCK_MONOTONIC), ticks = ticks_now();
    while (sys_clock(CLOCK_MONOTONIC) - begin < WINDOW_NS)
        continue;
    return ticks_now() - ticks;
}

/* The longest time between two readings of the counter, from now on. */
static uint64_t longest_gap(uint64_t window)
{
    uint64_t begin = ticks_now(), last = begin, longest = 0;
    while (last - begin < window) {
        uint64_t now = ticks_now();
        longest = now - last > longest ? now - last : longest;
        last = now;
    }
    return longest;
}

static void sort(uint64_t *values, int n)
{
    for (int i = 1; i < n; i++)
        for (int k = i; k > 0 && values[k] < values[k - 1]; k--) {
            uint64_t value = values[k];
            values[k] = values[k - 1];
            values[k - 1] = value;
        }
}

/* A handler of a signal that is no sample returns at once. One of the lowest values: in other rounds
 * interrupts were longer, and in a few the signal came before the first reading. */
uint64_t sample_cost_measure(void)
{
    uint64_t gaps[ROUNDS];
    long timer = process.restricted ? -1 : timer_open(CLOCK_MONOTONIC, process.signal, NULL);
    if (timer < 0)
        return 0;
    uint64_t window = ticks_in_window();
    for (int i = 0; i < ROUNDS; i++) {
        timer_arm_once((int)timer, DELAY_NS);
        gaps[i] = longest_gap(window);
    }
    timer_close((int)timer);
    sort(gaps, ROUNDS);
    return gaps[ROUNDS / 7];
}
