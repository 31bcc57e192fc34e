/* Rules about idleness and overhead of a runtime's workers. */
#include "viewer-tui/advice/advice-rules.h"

#include "lib/number.h"
#include "viewer-tui/metrics/efficiency.h"

#include <math.h>
#include <stdlib.h>

/* ---- The verdict on an event ---- */

/* Below this share of the CPU time, the other threads are only helpers of one. */
#define LEAST_SHARE_OF_OTHERS 0.10

/* The CPU seconds of all threads but the one that works most. */
static double work_of_others(const struct main_process *process)
{
    double sum = 0, most = 0;
    for (size_t i = 0; i < process->threads.n; i++) {
        sum += process->threads.at[i].work;
        most = fmax(most, process->threads.at[i].work);
    }
    return sum - most;
}

/* Whether several threads were meant to work: a parallel runtime says so, or they did. */
static bool is_parallel(const struct facts *facts)
{
    const struct main_process *process = &facts->process;
    double workers = run_number(process->process, "workers");
    if (workers == 1)
        return false;
    return facts->runtime || process->threads.n == 0 || !(process->cpu > 0) ||
           work_of_others(process) >= LEAST_SHARE_OF_OTHERS * process->cpu;
}

/* Threads that use less of the CPUs are not all that can run. */
#define LEAST_USED_SHARE 0.80

/* The share of the wall clock that a gain saves. */
static double saved_by(double factor)
{
    return 1 - 1 / factor;
}

/* Whether a lock or unequal parts, which other findings name, explain half of the idleness. */
static bool is_explained(const struct facts *facts, const struct judgement *judgement)
{
    double wall = facts->process.wall, idle = saved_by(gain_without(&judgement->idleness_of_run).factor);
    if (facts->lock.is_much && facts->lock.seconds >= judgement->idleness.value * judgement->effort / 2)
        return true;
    for (size_t i = 0; wall > 0 && facts->process.is_only_one && i < facts->balance.list.n; i++)
        if (facts->balance.list.at[i].excess.low > 0 && facts->balance.list.at[i].excess.value / wall >= idle / 2)
            return true;
    return false;
}

static bool is_about_idleness(enum verdict verdict)
{
    return verdict == VERDICT_TOO_LITTLE || verdict == VERDICT_WRONG_PARALLELISM || verdict == VERDICT_WASTE;
}

/* Whether the workers that are busy are all that the machine has CPUs for; of plain threads, whether they use the
 * CPUs. */
static bool are_all_cpus_busy(const struct facts *facts)
{
    const struct main_process *process = &facts->process;
    double workers = run_most_workers(facts->run), cpus = process->cpus;
    bool are_used = facts->runtime || process->cpu >= LEAST_USED_SHARE * process->wall * cpus;
    return !(cpus > 0) || (workers >= cpus && are_used);
}

static bool is_judged(const struct facts *facts, size_t *from, struct subject *subject)
{
    while (*from < facts->parallelizations.list.n) {
        const struct parallelization *of = &facts->parallelizations.list.at[(*from)++];
        const struct judgement *judgement = &of->judgement;
        enum verdict verdict = judgement->verdict;
        bool is_high_idleness = judgement->idleness_side == SIDE_HIGH;
        bool is_good = verdict == VERDICT_FINE || verdict == VERDICT_BUSY;
        bool has_runtime = is_parallel(facts) || judgement->overhead_side == SIDE_HIGH;
        if (!parallelization_is_known(of) || !has_runtime || (is_good && !are_all_cpus_busy(facts)))
            continue;
        if (is_about_idleness(verdict) && verdict != VERDICT_WRONG_PARALLELISM && is_explained(facts, judgement))
            continue;
        const struct hotspots *in = &of->hotspots[is_high_idleness ? WASTED_IDLE : WASTED_ON_OVERHEAD];
        subject->of = of;
        if (in->n)
            subject->place = in->at[0];
        if (verdict == VERDICT_TOO_FEW_SAMPLES || verdict == VERDICT_OPEN)
            subject->order = ORDER_OPEN;
        else if (is_good)
            subject->order = ORDER_FACT;
        return true;
    }
    return false;
}

/* The gain of what the verdict names. */
static struct gain gain_of_verdict(const struct facts *facts, const struct subject *subject)
{
    (void)facts;
    const struct judgement *judgement = &((const struct parallelization *)subject->of)->judgement;
    switch (judgement->verdict) {
    case VERDICT_TOO_FEW_SAMPLES: return (struct gain){1, 1, 1};
    case VERDICT_BUSY:
    case VERDICT_TOO_LITTLE: return gain_without(&judgement->idleness_of_run);
    case VERDICT_TOO_FINE:
        return gain_without(judgement->is_nobody_high ? &judgement->fine_grain : &judgement->overhead_of_run);
    case VERDICT_OVERHEAD: return gain_without(&judgement->overhead_of_run);
    default: return gain_without(&judgement->waste_of_run);
    }
}

/* ---- in words ---- */

/* What precedes numbers that are lower bounds. */
static const char *at_least(enum knowledge known)
{
    return known == KNOWN_AT_LEAST ? "at least " : "";
}

/* Adds "; larger tasks could win 1.5x". That is no bound: where the grain is too fine, caches pass lines between CPUs, so
 * the work itself is slower. */
static void add_could_win(const struct subject *subject, const char *how, struct text *text)
{
    if (!(subject->gain.factor > 1))
        return;
    text_printf(text, "; %s could win ", how);
    add_factor(text, subject->gain.factor);
}

/* Adds ", 98 % of that during the loop at m.c:21 of init". */
static void add_where(const struct facts *facts, const struct parallelization *of, enum waste waste, struct text *text)
{
    const struct hotspots *hotspots = &of->hotspots[waste];
    const struct judgement *judgement = &of->judgement;
    const struct share *share = waste == WASTED_IDLE ? &judgement->idleness : &judgement->overhead;
    if (hotspots->n == 0)
        return;
    text_add(text, ", ");
    add_percent(text, hotspots->at[0].cost / (share->value * judgement->effort));
    text_printf(text, " of that %s ", waste == WASTED_IDLE ? "during" : "in");
    if (facts->view->class == &bottomup_class && facts->row != 0)
        text_add(text, "calls from ");
    add_place(facts, &hotspots->at[0], text);
}

static void add_idle(const struct facts *facts, const struct parallelization *of, struct text *text)
{
    text_printf(text, "%s are idle ", facts->runtime ? "workers" : "threads");
    add_percent(text, of->judgement.idleness.value);
    text_add(text, " of the time");
    add_where(facts, of, WASTED_IDLE, text);
}

static void add_overhead(const struct facts *facts, const struct parallelization *of, struct text *text)
{
    text_printf(text, "overhead is %s", at_least(of->judgement.overhead_known));
    add_percent(text, of->judgement.overhead.value);
    add_where(facts, of, WASTED_ON_OVERHEAD, text);
}

/* Adds "Threads are busy (0.5 % idle, 1.2 % overhead): nothing to gain from more parallelism", or "At least 1.6 of 2
 * workers are busy: better parallelization gains at most 1.2x; overhead is unknown until tagged: COMMAND". */
static void add_busy(const struct facts *facts, const struct subject *subject, const struct parallelization *of,
                     struct text *text)
{
    const struct judgement *judgement = &of->judgement;
    double workers = run_most_workers(facts->run);
    const char *tagging = facts->runtime && judgement->overhead_known != KNOWN && !(judgement->overhead.value > 0)
                              ? facts->runtime->tagging
                              : NULL;
    if (tagging) {
        text_add(text, "At least ");
        add_number(text, workers * (1 - judgement->idleness.high));
        text_printf(text, " of %.0f workers are busy", workers);
    } else {
        text_add(text, "Threads are busy (");
        add_percent(text, judgement->idleness.value);
        text_add(text, " idle");
        if (judgement->overhead_known == KNOWN) {
            text_add(text, ", ");
            add_percent(text, judgement->overhead.value);
            text_add(text, " overhead");
        }
        text_add(text, ")");
    }
    if (subject->gain.factor < LEAST_GAIN) {
        text_add(text, ": nothing to gain from more parallelism");
    } else {
        text_add(text, ": better parallelization gains at most ");
        add_factor(text, subject->gain.factor);
    }
    if (tagging)
        text_printf(text, "; overhead is unknown until tagged: %s", tagging);
}

/* A run of more times this length is no useful advice. */
#define MOST_LENGTH 100

/* How many times longer the run would have to be for the interval to exclude the threshold, if the
 * share stays the same; INFINITY if the share is the threshold. */
static double length_to_tell(const struct share *share, double threshold)
{
    double half = share->value < threshold ? share->high - share->value : share->value - share->low;
    double distance = fabs(share->value - threshold);
    return distance > 0 ? half / distance * (half / distance) : INFINITY;
}

static void add_open(const struct parallelization *of, struct text *text)
{
    const struct judgement *judgement = &of->judgement;
    double length = length_to_tell(&judgement->waste, FINE_SHARE);
    text_add(text, "Cannot tell whether better parallelization would gain much: idleness and overhead take ");
    text_add(text, at_least(judgement->overhead_known));
    share_describe(&judgement->waste, "", text);
    if (judgement->overhead_known == KNOWN && judgement->idleness_known == KNOWN && length <= MOST_LENGTH)
        text_printf(text, "; a run about %.0f times as long would tell", ceil(fmax(length, 2)));
}

static void add_wrong(const struct facts *facts, const struct subject *subject, const struct parallelization *of,
                      struct text *text)
{
    bool is_wrong = of->judgement.verdict == VERDICT_WRONG_PARALLELISM;
    text_add(text, is_wrong ? "Wrong parallelization: " : "Too much idleness and overhead: ");
    add_idle(facts, of, text);
    text_add(text, "; ");
    add_overhead(facts, of, text);
    add_could_win(subject, "another one", text);
}

/* Adds "no worker has work for 33 % of the time, between pieces of the loop at g.c:10; larger pieces could win 1.6x; try
 * fewer threads, too (OMP_NUM_THREADS)", or "overhead is 34 %; larger tasks could win 1.5x". */
static void add_too_fine(const struct facts *facts, const struct subject *subject, const struct parallelization *of,
                         struct text *text)
{
    const struct hotspots *during = &of->hotspots[WASTED_IDLE];
    if (!of->judgement.is_nobody_high) {
        add_overhead(facts, of, text);
        add_could_win(subject, "larger tasks", text);
        return;
    }
    text_add(text, "no worker has work for ");
    add_percent(text, of->judgement.nobody.value);
    text_add(text, " of the time");
    if (during->n) {
        text_add(text, ", between pieces of ");
        add_place(facts, &during->at[0], text);
    }
    add_could_win(subject, "larger pieces", text);
    text_printf(text, "; try fewer threads, too (%s)", facts->runtime->setting);
}

static void say_verdict(const struct facts *facts, const struct subject *subject, struct text *text)
{
    const struct parallelization *of = subject->of;
    struct text event = {0};
    advice_event(of->event, &event);
    if (event.n)
        text_printf(text, "By %s: ", text_string(&event));
    vec_free(&event);
    switch (of->judgement.verdict) {
    case VERDICT_FINE:
    case VERDICT_BUSY: add_busy(facts, subject, of, text); break;
    case VERDICT_TOO_LITTLE:
        text_add(text, "Too little parallelism: ");
        add_idle(facts, of, text);
        if (subject->gain.factor > 1) {
            text_add(text, "; at most ");
            add_factor(text, subject->gain.factor);
            text_add(text, " faster");
        }
        break;
    case VERDICT_TOO_FINE:
        text_add(text, "Too fine a grain: ");
        add_too_fine(facts, subject, of, text);
        break;
    case VERDICT_OVERHEAD:
        text_printf(text, "High overhead: %s", at_least(of->judgement.overhead_known));
        add_percent(text, of->judgement.overhead.value);
        add_where(facts, of, WASTED_ON_OVERHEAD, text);
        add_could_win(subject, "less of this known part", text);
        break;
    case VERDICT_WASTE:
    case VERDICT_WRONG_PARALLELISM: add_wrong(facts, subject, of, text); break;
    case VERDICT_OPEN: add_open(of, text); break;
    default:
        text_add(text, "Too few samples to judge idleness and overhead: measure for longer, or "
                       "sample more often (hpcrun -e EVENT@fRATE)");
    }
    text_add(text, ".");
}

/* ---- details ---- */

/* Adds "overhead at least 3.8 % (3.2 to 4.5 %; 3.0% spawn, 0.8% sync)". */
static void add_share(struct text *text, const char *what, const struct share *share, enum knowledge known,
                      const char *more)
{
    text_add(text, what);
    if (known == NOT_KNOWN) {
        text_add(text, "not measured");
    } else {
        text_add(text, at_least(known));
        share_describe(share, more, text);
    }
}

/* "Idleness is 16 % (14 to 18 %), overhead 3.8 % (3.2 to 4.5 %; 3.0% spawn, 0.8% sync) of its effort of 1.8 s." */
static void add_numbers(const struct facts *facts, const struct parallelization *of, struct finding *finding)
{
    const struct judgement *judgement = &of->judgement;
    struct text text = {0}, kinds = {0};
    char effort[NUMBER_WITH_UNIT_SIZE];
    number_with_unit(judgement->effort, of->unit, effort);
    overhead_kinds_describe(&of->kinds, judgement->effort, false, &kinds);
    add_share(&text, "Idleness is ", &judgement->idleness, judgement->idleness_known, "");
    add_share(&text, ", overhead ", &judgement->overhead, judgement->overhead_known, text_string(&kinds));
    vec_free(&kinds);
    text_printf(&text, " of %s effort of %s.", facts->row == 0 ? "the" : "its", effort);
    if (facts->row != 0) {
        text_add(&text, " That effort is ");
        add_percent(&text, judgement->effort_of_run);
        text_add(&text, " of the whole run's.");
    }
    finding_add_detail(finding, &text);
    vec_free(&text);
}

/* Says why overhead of a runtime is not known better. */
static void add_unknown(const struct facts *facts, const struct parallelization *of, struct finding *finding)
{
    enum knowledge known = of->judgement.overhead_known;
    bool is_expected = facts->runtime || known == KNOWN_AT_LEAST;
    struct text text = {0};
    if (!is_expected || known == KNOWN || !of->why[WASTED_ON_OVERHEAD])
        return;
    text_printf(&text, "Overhead %s: %s.", known == KNOWN_AT_LEAST ? "is a lower bound" : "was not measured",
                of->why[WASTED_ON_OVERHEAD]);
    finding_add_detail(finding, &text);
    vec_free(&text);
}

/* Explains the kind that makes up more than half of a high overhead. */
static void add_dominant_kind(const struct parallelization *of, struct finding *finding)
{
    const struct overhead_kinds *kinds = &of->kinds;
    double overhead = of->judgement.overhead.value * of->judgement.effort;
    if (of->judgement.overhead_side != SIDE_HIGH || kinds->n == 0 || kinds->at[0].cost <= overhead / 2)
        return;
    struct text text = {0};
    char *kind = overhead_kind_name(kinds->at[0].metric);
    const char *meaning = overhead_kind_meaning(kind);
    text_printf(&text, "Most of the overhead is of the kind %s%s%s.", kind, meaning ? ": " : "",
                meaning ? meaning : "");
    finding_add_detail(finding, &text);
    vec_free(&text);
    free(kind);
}

/* Adds the items "98 % block, cholesky.c:63" after "Most of the idleness is in:". */
static void add_hotspots(const struct facts *facts, const struct parallelization *of, enum waste waste,
                         struct finding *finding)
{
    const struct hotspots *hotspots = &of->hotspots[waste];
    const struct judgement *judgement = &of->judgement;
    const struct share *share = waste == WASTED_IDLE ? &judgement->idleness : &judgement->overhead;
    bool is_about_callers = facts->view->class == &bottomup_class && facts->row != 0;
    struct text text = {0};
    for (size_t i = 0; hotspots->n > 1 && i < hotspots->n; i++) {
        if (i == 0) {
            text_printf(&text, "Most of the %s %s:", waste_name(waste),
                        is_about_callers ? "is there in calls from" : "is in");
            finding_add_detail(finding, &text);
        }
        text_clear(&text);
        text_printf(&text, "%c", FINDING_ITEM);
        add_percent(&text, hotspots->at[i].cost / (share->value * judgement->effort));
        text_add(&text, " ");
        hotspot_describe(facts->view->db, &hotspots->at[i], false, &text);
        finding_add_detail(finding, &text);
    }
    vec_free(&text);
}

static void add_details(const struct facts *facts, const struct subject *subject, struct finding *finding)
{
    const struct parallelization *of = subject->of;
    const struct judgement *judgement = &of->judgement;
    struct text text = {0};
    finding->source = of;
    if (judgement->verdict == VERDICT_TOO_FEW_SAMPLES)
        return;
    if (judgement->verdict > VERDICT_BUSY && !judgement->is_notable) {
        text_add(&text, "That is little of the whole run: there is not much to gain here.");
        finding_add_detail(finding, &text);
    }
    vec_free(&text);
    if (judgement->verdict > VERDICT_BUSY || judgement->verdict == VERDICT_OPEN || facts->row != 0 || of->kinds.n)
        add_numbers(facts, of, finding); /* else the text has them all */
    add_unknown(facts, of, finding);
    add_dominant_kind(of, finding);
    for (int waste = 0; waste < WASTES; waste++)
        add_hotspots(facts, of, (enum waste)waste, finding);
}

const struct rule parallelization_rule = {.kind = FINDING_PARALLELIZATION,
                                          .order = ORDER_GAIN,
                                          .needs_quiet = true,
                                          .claims_gain = true,
                                          .condition = is_judged,
                                          .gain = gain_of_verdict,
                                          .words = say_verdict,
                                          .details = add_details};

/* ---- The limit to the speed with any number of workers, by the metric `incomplete` ----
 *
 * U is the sum of increment / n_w over the samples of working workers when fewer than n worked: the
 * wall time in which not every worker had work. A greedy scheduler never leaves a worker without
 * work while there is some. So during U all that can run does run, and each instant shortens the
 * remaining longest chain of dependent work, the span. Hence the span is at least U, and the time with any number p of
 * workers at least max(U, work / p). All this is approximate: a work-stealing scheduler is greedy except while it
 * looks for work, and that time is in U.
 *
 * It is a property of the tasks: where a runtime divides loops by the number of its workers, more workers have other
 * tasks, and U bounds nothing. Nor is it said where idleness is high, which is the same time.
 *
 * U is a sum of wall time in spells, like idleness: its variance is 13/12 max(d, IDLE_SPELL) U
 * (share-interval.h). The run's time is that of its workers, effort / n. */

/* Below this share all workers nearly always have work, so there is no limit yet. */
#define LEAST_LIMIT_SHARE 0.05

static bool is_idleness_high(const struct facts *facts)
{
    for (size_t i = 0; i < facts->parallelizations.list.n; i++)
        if (facts->parallelizations.list.at[i].judgement.idleness_side == SIDE_HIGH)
            return true;
    return false;
}

static bool has_limit(const struct facts *facts, size_t *from, struct subject *subject)
{
    double workers = run_workers(facts->run);
    if (!is_first(from) || facts->incomplete == NO_METRIC || workers < 2 || !facts->process.is_only_one ||
        !facts->runtime || !facts->runtime->has_fixed_tasks || facts->has_work_span || is_idleness_high(facts))
        return false;
    double work = facts_cost(facts, facts->cpu.metric) + facts_cost(facts, facts->overhead);
    double wall = (work + facts_cost(facts, facts->idleness)) / workers;
    double incomplete = facts_cost(facts, facts->incomplete);
    struct hotspots in = hotspots_find(facts->view, 0, facts->incomplete);
    subject->share = share_of_samples(incomplete, wall, fmax(facts->cpu_increment, IDLE_SPELL));
    subject->seconds = incomplete;
    if (in.n)
        subject->place = in.at[0];
    return subject->share.low >= LEAST_LIMIT_SHARE;
}

static double inverse(double share)
{
    return share > 0 ? 1 / share : INFINITY;
}

static struct gain gain_with_any_cpus(const struct facts *facts, const struct subject *subject)
{
    (void)facts;
    const struct share *share = &subject->share;
    return (struct gain){inverse(share->value), inverse(share->high), inverse(share->low)};
}

static void say_limit(const struct facts *facts, const struct subject *subject, struct text *text)
{
    text_add(text, "Limit with unlimited CPUs: ");
    add_seconds(text, subject->seconds);
    text_add(text, " (");
    add_factor(text, subject->gain.factor);
    text_add(text, ")");
    if (subject->place.procedure != NOTHING) {
        text_add(text, ", ");
        add_percent(text, subject->place.cost / subject->seconds);
        text_add(text, " of it in ");
        add_place(facts, &subject->place, text);
    }
    text_add(text, ".");
}

const struct rule limit_rule = {.kind = FINDING_SPAN,
                                .order = ORDER_FACT,
                                .is_of_run = true,
                                .needs_quiet = true,
                                .claims_gain = true,
                                .condition = has_limit,
                                .gain = gain_with_any_cpus,
                                .words = say_limit};
