#include "tests/unit/hpcrun/simulated_clock.h"

#include "hpcrun/span/strand-clock.h"

uint64_t strand_time, strand_excess, strand_error;

void strand_clock_calibrate(void)
{
}

void strand_begin(struct strand_clock *clock)
{
}

void strand_begin_in(struct strand_clock *clock, int thread)
{
}

uint64_t strand_end(struct strand_clock *clock)
{
    uint64_t time = strand_time + strand_excess;
    strand_time = 0;
    return time;
}

void strand_stop(struct strand_clock *clock)
{
}

uint64_t strand_cut(struct strand_clock *clock)
{
    uint64_t time = strand_time;
    strand_time = 0;
    return time;
}

uint64_t strand_passed(const struct strand_clock *clock)
{
    return strand_time;
}

uint64_t strand_uncertainty(void)
{
    return strand_error;
}
