#include "viewer-tui/advice/share-interval.h"

#include <math.h>

/* Mean square of an increment over the square of its mean. */
#define INCREMENT_SPREAD (13.0 / 12)

/* Wilson's interval of a share found in that many independent observations. */
static struct share wilson(double share, double observations)
{
    if (!(observations > 0))
        return (struct share){.value = share, .low = 0, .high = 1};
    double z2 = INTERVAL_SIGMAS * INTERVAL_SIGMAS, n = observations;
    double middle = (share + z2 / (2 * n)) / (1 + z2 / n);
    double half = INTERVAL_SIGMAS / (1 + z2 / n) *
                  sqrt(fmax(share * (1 - share), 0) / n + z2 / (4 * n * n));
    return (struct share){.value = share,
                          .low = share > 0 ? fmin(share, fmax(middle - half, 0)) : 0,
                          .high = share < 1 ? fmax(share, fmin(middle + half, 1)) : 1};
}

struct share share_of_effort(const struct efforts *scope, enum share_of_effort with,
                             const struct sampling *sampling)
{
    double effort = effort_sum(scope), sampled = scope->work + scope->overhead;
    if (!(effort > 0))
        return (struct share){.high = 1};
    double overhead = with & SHARE_OVERHEAD ? scope->overhead : 0;
    double idleness = with & SHARE_IDLENESS ? scope->idleness : 0;
    double share = (overhead + idleness) / effort;
    if (!(sampling->increment > 0) || !(sampled > 0))
        return (struct share){.value = share, .low = 0, .high = 1};
    double unit = INCREMENT_SPREAD * sampling->increment;
    double idle_unit = INCREMENT_SPREAD * fmax(sampling->workers - 1, 0) *
                       fmax(sampling->increment, IDLE_SPELL);
    double inside = 1 - share, outside = -share; /* the share's derivatives, times the effort */
    double per_overhead = with & SHARE_OVERHEAD ? inside : outside;
    double per_idleness = with & SHARE_IDLENESS ? inside : outside;
    double both = unit * scope->overhead * scope->idleness / sampled;
    double variance = outside * outside * unit * scope->work +
                      per_overhead * per_overhead * unit * scope->overhead +
                      per_idleness * per_idleness * idle_unit * scope->idleness +
                      fmax(2 * per_overhead * per_idleness * both, 0);
    /* The least variance of an amount, per amount: it applies if the share is 0 or 1, where the estimated one is 0. */
    double least = with & SHARE_IDLENESS ? fmax(idle_unit, unit) : unit, observations = effort / least;
    if (share > 0 && share < 1 && variance > 0)
        observations = fmin(observations, share * (1 - share) / (variance / (effort * effort)));
    return wilson(share, observations);
}

struct share share_of_samples(double part, double whole, double increment)
{
    double unit = INCREMENT_SPREAD * increment;
    if (!(whole > 0))
        return (struct share){.high = 1};
    double share = fmin(fmax(part / whole, 0), 1);
    return wilson(share, increment > 0 ? whole / unit : 0);
}

double share_error(double amount, double increment)
{
    return INTERVAL_SIGMAS * sqrt(INCREMENT_SPREAD * increment * amount);
}

static double factor_without(double share)
{
    return share < 1 ? 1 / (1 - share) : INFINITY;
}

struct gain gain_without(const struct share *share)
{
    return (struct gain){.factor = factor_without(share->value),
                         .low = factor_without(share->low),
                         .high = factor_without(share->high)};
}

void gain_limit(struct gain *gain, const struct gain *most)
{
    gain->factor = fmin(gain->factor, most->factor);
    gain->low = fmin(gain->low, most->low);
    gain->high = fmin(gain->high, most->high);
}
