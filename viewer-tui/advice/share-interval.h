/* How precisely samples tell a share of a scope's effort.
 *
 * Effort E is the sum of work W, overhead O and idleness I. Samples estimate these with two errors:
 *
 * 1. Where samples fall. An amount A found in samples of mean increment d has the variance u A,
 * with u = 13/12 d: periods are uniform in [d/2, 3d/2], so the mean square of an increment is 13/12
 * d^2. This assumes independent samples, the worst case; phases longer than a period are known
 * better.
 * 2. When workers are idle. Idleness comes in spells, in which the samples of all workers pay the
 * same rate: they are one observation, not several. A spell lasts at least as long as the kernel
 * takes a CPU away from a worker. A period of length d in which k of n workers work pays d (n - k),
 * at most (n - 1) times its length. So u = 13/12 (n - 1) max(d, IDLE_SPELL) bounds the variance of
 * I, whether samples agree or not.
 *
 * The variance of a share x = X / E follows by the delta method; samples that are overhead and also
 * pay idleness covary. The interval is Wilson's, with as many observations as give that variance,
 * so it holds for small shares, too: 0 of 100 samples is a share of 0 to 3.7 %.
 *
 * Not covered: phases that differ from run to run for longer than a spell (other input, another
 * machine, a neighbor that takes a CPU for seconds). */
#ifndef VIEWER_SHARE_INTERVAL_H
#define VIEWER_SHARE_INTERVAL_H

/* Standard deviations on each side of a 95 % interval. */
#define INTERVAL_SIGMAS 1.96

/* Seconds: a tick of the kernel's clock (250 Hz), the shortest time for which a runnable thread
 * loses its CPU. */
#define IDLE_SPELL 0.004

/* The efforts of a scope or of the whole run. */
struct efforts {
    double work, overhead, idleness; /* in the metric's unit */
};

/* The samples of an event. */
struct sampling {
    double increment; /* mean of a sample, in the unit of the efforts; 0 if unknown */
    double workers;   /* number of them, n; at least 1 */
};

/* 0 <= low <= value <= high <= 1. */
struct share {
    double value, low, high;
};

static inline double effort_sum(const struct efforts *efforts)
{
    return efforts->work + efforts->overhead + efforts->idleness;
}

/* The share in a scope's effort of overhead, idleness or both. The interval is 0..1 if nothing was
 * sampled or the increment is unknown. */
enum share_of_effort { SHARE_OVERHEAD = 1, SHARE_IDLENESS = 2, SHARE_BOTH = 3 };
struct share share_of_effort(const struct efforts *scope, enum share_of_effort with,
                             const struct sampling *sampling);

/* The share of a part in a whole that were sampled alike, such as the share of a procedure's
 * time. */
struct share share_of_samples(double part, double whole, double increment);

/* Half of the 95 % interval of an amount that was found in samples. */
double share_error(double amount, double increment);

/* The factor by which a run becomes faster when a part of its time is saved. 1 for no gain, INFINITY if all of the time
 * may be saved; low and high are a 95 % interval. */
struct gain {
    double factor, low, high;
};

/* The largest gain if a share of the time of the run's workers, or of its wall clock, is saved: without it they need
 * 1 - share of the time. The rest may turn out to be serial. */
struct gain gain_without(const struct share *share);

/* Makes no end of a gain larger than that of `most`. */
void gain_limit(struct gain *gain, const struct gain *most);

#endif
