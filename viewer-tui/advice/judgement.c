#include "viewer-tui/advice/judgement.h"

#include <math.h>

/* A share of the whole run's effort, with everything outside of the scope counted as work. */
static struct share share_of_run(const struct judged *judged, enum share_of_effort with)
{
    struct efforts in_run = judged->scope;
    in_run.work += effort_sum(&judged->run) - effort_sum(&judged->scope);
    if (in_run.work < 0)
        in_run.work = 0;
    return share_of_effort(&in_run, with, &judged->sampling);
}

/* Lowers the lower end by a part of the whole. */
static struct share lowered(struct share share, double part, double whole)
{
    share.low = whole > 0 ? fmax(share.low - part / whole, 0) : share.low;
    return share;
}

static enum side side_of(const struct share *share, enum knowledge known)
{
    if (known != NOT_KNOWN && share->low > HIGH_SHARE)
        return SIDE_HIGH;
    return known == KNOWN && share->high < HIGH_SHARE ? SIDE_LOW : SIDE_OPEN;
}

static enum verdict verdict_on(const struct judgement *judgement)
{
    bool is_idleness_known = judgement->idleness_known == KNOWN && !judgement->is_disturbed;
    bool all_is_known = is_idleness_known && judgement->overhead_known == KNOWN;
    bool is_idle = judgement->idleness_side == SIDE_HIGH, is_busy_with_itself = judgement->overhead_side == SIDE_HIGH;
    if (judgement->is_nobody_high || judgement->is_mostly_runtime)
        return VERDICT_TOO_FINE;
    if (judgement->waste.low > FINE_SHARE) {
        if (is_idle)
            return is_busy_with_itself ? VERDICT_WRONG_PARALLELISM : VERDICT_TOO_LITTLE;
        return !is_busy_with_itself ? VERDICT_WASTE : all_is_known ? VERDICT_TOO_FINE : VERDICT_OVERHEAD;
    }
    if (all_is_known)
        return judgement->waste.high < FINE_SHARE ? VERDICT_FINE : VERDICT_OPEN;
    return is_idleness_known ? VERDICT_BUSY : VERDICT_OPEN;
}

static struct efforts known_efforts(struct efforts efforts, const struct judged *judged)
{
    if (judged->overhead == NOT_KNOWN) { /* unmeasured overhead is contained in the work */
        efforts.work += efforts.overhead;
        efforts.overhead = 0;
    }
    if (judged->idleness == NOT_KNOWN)
        efforts.idleness = 0;
    return efforts;
}

/* The share of the run's effort that the verdict is about. If nobody works, that is a time of all workers. */
static struct share saved_share(const struct judgement *judgement, const struct judged *judged)
{
    double nobody = judged->sampling.workers * judged->nobody, increment = judged->sampling.increment;
    switch (judgement->verdict) {
    case VERDICT_BUSY:
    case VERDICT_TOO_LITTLE: return judgement->idleness_of_run;
    case VERDICT_TOO_FINE:
        if (judgement->is_nobody_high)
            return share_of_samples(judged->scope.overhead + nobody, effort_sum(&judged->run) + nobody,
                                    judged->sampling.workers * increment);
        return share_of_run(judged, SHARE_OVERHEAD);
    case VERDICT_OVERHEAD: return share_of_run(judged, SHARE_OVERHEAD);
    default: return share_of_run(judged, SHARE_BOTH);
    }
}

struct judgement judge(const struct judged *given)
{
    struct judged judged = *given;
    judged.scope = known_efforts(judged.scope, given);
    judged.run = known_efforts(judged.run, given);
    double effort = effort_sum(&judged.scope), whole = effort_sum(&judged.run);
    double of_all = judged.sampling.workers * judged.sampling.increment; /* what a sample of one stands for */
    double nobody = judged.sampling.workers * judged.nobody;
    double caused = judged.disturbed * fmax(judged.sampling.workers - 1, 0); /* idleness by others, at most; so overhead */
    struct judgement judgement = {
        .idleness_known = judged.idleness,
        .overhead_known = judged.overhead,
        .is_disturbed = judged.disturbed > 0,
        .effort = effort,
        .idleness = lowered(share_of_effort(&judged.scope, SHARE_IDLENESS, &judged.sampling), caused, effort),
        .overhead = lowered(share_of_effort(&judged.scope, SHARE_OVERHEAD, &judged.sampling), caused, effort),
        .waste = lowered(share_of_effort(&judged.scope, SHARE_BOTH, &judged.sampling), 2 * caused, effort),
        .idleness_of_run = lowered(share_of_run(&judged, SHARE_IDLENESS), caused, whole),
        .nobody = share_of_samples(nobody, effort + nobody, of_all),
        .of_runtime = share_of_samples(judged.scope.overhead, judged.scope.work + judged.scope.overhead,
                                       judged.sampling.increment),
        .effort_of_run = whole > 0 ? effort / whole : 0,
    };
    if (judgement.is_disturbed) /* both together are no less than either */
        judgement.waste.low = fmax(judgement.waste.low, fmax(judgement.idleness.low, judgement.overhead.low));
    /* Samples of working threads carry the idleness, so it adds none. */
    double sampled = judged.scope.work + judged.scope.overhead + judged.nobody;
    if (sampled <= 0 || sampled < LEAST_SAMPLES * judged.sampling.increment)
        return judgement; /* VERDICT_TOO_FEW_SAMPLES, all sides open, not notable */
    judgement.idleness_side = side_of(&judgement.idleness, judged.idleness);
    judgement.overhead_side = side_of(&judgement.overhead, judged.overhead);
    judgement.is_nobody_high = judgement.nobody.low > FINE_SHARE;
    judgement.is_mostly_runtime = judged.overhead == KNOWN && judgement.of_runtime.low > SHARE_OF_RUNTIME;
    judgement.verdict = verdict_on(&judgement);
    judgement.saved = saved_share(&judgement, &judged);
    judgement.is_notable = judgement.saved.value >= NOTABLE_SHARE_OF_RUN;
    return judgement;
}
