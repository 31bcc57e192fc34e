#include "viewer-tui/advice/judgement.h"

static double effort_of(const struct efforts *efforts)
{
    return efforts->work + efforts->overhead + efforts->idleness;
}

static double share(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

static enum verdict verdict_on(double idleness, double overhead)
{
    bool is_idle = idleness >= HIGH_SHARE, is_busy_with_itself = overhead >= HIGH_SHARE;
    if (is_idle && is_busy_with_itself)
        return VERDICT_WRONG_PARALLELISM;
    if (is_idle)
        return VERDICT_TOO_LITTLE;
    return is_busy_with_itself ? VERDICT_TOO_FINE : VERDICT_EFFECTIVE;
}

/* Idleness comes with samples of working threads: it adds none. */
static bool has_few_samples(const struct efforts *scope, double period)
{
    double sampled = scope->work + scope->overhead;
    return sampled <= 0 || (period > 0 && sampled < LEAST_SAMPLES * period);
}

struct judgement judge(const struct efforts *scope, const struct efforts *run, double period)
{
    double effort = effort_of(scope), whole = effort_of(run);
    struct judgement judgement = {
        .effort = effort,
        .idleness = share(scope->idleness, effort),
        .overhead = share(scope->overhead, effort),
        .idleness_of_run = share(scope->idleness, whole),
        .overhead_of_run = share(scope->overhead, whole),
        .effort_of_run = share(effort, whole),
    };
    judgement.verdict = has_few_samples(scope, period)
                            ? VERDICT_TOO_FEW_SAMPLES
                            : verdict_on(judgement.idleness, judgement.overhead);
    double wasted = 0;
    if (judgement_is_high(&judgement, judgement.idleness))
        wasted += judgement.idleness_of_run;
    if (judgement_is_high(&judgement, judgement.overhead))
        wasted += judgement.overhead_of_run;
    judgement.is_notable = wasted >= NOTABLE_SHARE_OF_RUN;
    return judgement;
}

bool judgement_is_high(const struct judgement *judgement, double share_of_scope)
{
    return judgement->verdict != VERDICT_TOO_FEW_SAMPLES && share_of_scope >= HIGH_SHARE;
}
