/* How precisely samples tell a share of a scope's effort.
 *
 * Effort E is the sum of work W, overhead O and idleness I. The samples tell these sums with errors
 * from two sources, and both count:
 *
 * 1. Where samples fall. An amount A that is found in samples of mean increment d has the variance
 *    u A, with u = 13/12 d: periods are uniform in [d/2, 3d/2], so that the mean square of an
 *    increment is 13/12 d^2, and at worst each sample is independent of the others. For phases that
 *    are longer than a period this is too much: they are known better.
 * 2. When workers are idle. Idleness comes in spells, during which the samples of all workers pay
 *    the same rate: they are one observation, not several. A spell that may or may not come again
 *    in the next run is at least as long as the kernel takes a CPU away from a worker. A period of
 *    length d in which k of n workers work pays d (n - k), at most (n - 1) of what the period
 *    lasts, so that u = 13/12 (n - 1) max(d, IDLE_SPELL) bounds the variance of I for samples that
 *    agree and for samples that do not.
 *
 * The variance of a share x = X / E follows from these by the delta method; samples that are both
 * overhead and pay idleness covary. The interval is Wilson's, with as many observations as give
 * that variance, so that it holds for small shares, too: nothing seen in 100 samples is not 0, it
 * is 0 to 3.7 %.
 *
 * What is not covered: phases of the program that differ from run to run for longer than a spell
 * (other input, another machine, a neighbor that takes a CPU for seconds). */
#ifndef VIEWER_SHARE_INTERVAL_H
#define VIEWER_SHARE_INTERVAL_H

/* Standard deviations on either side: the interval holds the true share with 95 %. */
#define INTERVAL_SIGMAS 1.96

/* Seconds: a period of the kernel's clock (250 Hz), the shortest time for which a thread that wants
 * to run loses its CPU to another one. */
#define IDLE_SPELL 0.004

/* Of a scope, or of the whole run. */
struct efforts {
    double work, overhead, idleness; /* in the metric's unit */
};

/* What the samples of an event are like. */
struct sampling {
    double increment; /* of a sample, on average, in the unit of the efforts; 0 unknown */
    double workers;   /* n, at least 1 */
};

/* 0 <= low <= value <= high <= 1. */
struct share {
    double value, low, high;
};

static inline double effort_sum(const struct efforts *efforts)
{
    return efforts->work + efforts->overhead + efforts->idleness;
}

/* The share of what is not work in a scope's effort; `with` says of which parts. All of it is 0..1
 * where nothing was sampled. Of samples whose increment is unknown the interval is 0..1. */
enum share_of_effort { SHARE_OVERHEAD = 1, SHARE_IDLENESS = 2, SHARE_BOTH = 3 };
struct share share_of_effort(const struct efforts *scope, enum share_of_effort with,
                             const struct sampling *sampling);

/* The share of a part of a whole that are both amounts found in samples that pay alike: the share
 * of a procedure's time. */
struct share share_of_samples(double part, double whole, double increment);

#endif
