/* Rules about idleness and overhead of a runtime's workers. */
#include "viewer-tui/advice/advice-rules.h"

#include "lib/number.h"
#include "viewer-tui/metrics/efficiency.h"
#include "viewer-tui/tree/labels.h"

#include <math.h>
#include <string.h>

/* ---- The verdict on an event ---- */

/* Below this share of the CPU time, the other threads are only helpers of one. */
#define LEAST_SHARE_OF_OTHERS 0.10

/* Whether several threads were meant to work: a parallel runtime says so, or they did. */
static bool is_parallel(const struct facts *facts)
{
    const struct main_process *process = &facts->process;
    double sum = 0, most = 0;
    for (size_t i = 0; i < process->threads.n; i++) {
        sum += process->threads.at[i].work;
        most = fmax(most, process->threads.at[i].work);
    }
    return run_number(process->process, "workers") != 1 &&
           (facts->runtime || process->threads.n == 0 || !(process->cpu > 0) ||
            sum - most >= LEAST_SHARE_OF_OTHERS * process->cpu);
}

/* Whether a lock or unequal parts, which other findings name, explain half of the idleness. */
static bool is_explained(const struct facts *facts, const struct judgement *judgement)
{
    double wall = facts->process.wall, saved = 1 - 1 / gain_without(&judgement->idleness_of_run).factor;
    if (facts->lock.is_much && facts->lock.seconds.value >= judgement->idleness.value * judgement->effort / 2)
        return true;
    for (size_t i = 0; wall > 0 && facts->process.is_only_one && i < facts->balance.list.n; i++) {
        const struct share *excess = &facts->balance.list.at[i].excess;
        if (excess->low > 0 && excess->value / wall >= saved / 2)
            return true;
    }
    return false;
}

/* Threads that use less of the CPUs are not all that can run: others may have ended, or not begun. */
#define LEAST_USED_SHARE (1 - FINE_SHARE)

bool is_judged(const struct facts *facts, struct subject *subject)
{
    const struct parallelization *of = &facts->parallelizations.list.at[subject->entry];
    const struct judgement *judgement = &of->judgement;
    enum verdict verdict = judgement->verdict;
    bool is_good = verdict == VERDICT_FINE || verdict == VERDICT_BUSY;
    bool has_runtime = is_parallel(facts) || judgement->overhead_side == SIDE_HIGH;
    /* The workers that are busy are all that the machine has CPUs for; plain threads use the CPUs. */
    const struct main_process *process = &facts->process;
    bool are_used = facts->runtime || process->cpu >= LEAST_USED_SHARE * process->wall * process->cpus;
    bool are_all_busy = !(process->cpus > 0) || (run_most_workers(facts->run) >= process->cpus && are_used);
    if (judgement->is_disturbed && verdict <= VERDICT_WASTE) /* others may have caused all of it */
        return false;
    if (!parallelization_is_known(of) || !has_runtime || (is_good && !are_all_busy))
        return false;
    if ((verdict == VERDICT_TOO_LITTLE || verdict == VERDICT_WASTE) && is_explained(facts, judgement))
        return false;
    const struct hotspots *in =
        &of->hotspots[judgement->idleness_side == SIDE_HIGH ? WASTED_IDLE : WASTED_ON_OVERHEAD];
    subject->of = of;
    subject->gain = gain_without(&judgement->saved);
    if (in->n)
        subject->place = in->at[0];
    if (verdict == VERDICT_TOO_FEW_SAMPLES || verdict == VERDICT_OPEN)
        subject->order = ORDER_OPEN;
    else if (is_good)
        subject->order = ORDER_FACT;
    return true;
}

/* ---- in words ---- */

/* What precedes numbers that are lower bounds. */
static const char *at_least(enum knowledge known)
{
    return known == KNOWN_AT_LEAST ? "at least " : "";
}

/* Whether hotspots are the callers of a procedure. */
static bool are_callers(const struct facts *facts)
{
    return facts->view->class == &bottomup_class && facts->row != 0;
}

/* Adds the share that a hotspot has of what is wasted, and between two texts the place. */
static void add_hotspot(const struct facts *facts, const struct parallelization *of, enum waste waste, size_t i,
                        const char *between, struct text *text)
{
    const struct judgement *judgement = &of->judgement;
    const struct share *share = waste == WASTED_IDLE ? &judgement->idleness : &judgement->overhead;
    const struct hotspot *hotspot = &of->hotspots[waste].at[i];
    text_printf(text, "%s%s", as_percent(hotspot->cost / (share->value * judgement->effort)).text, between);
    add_place(facts, hotspot, text);
}

/* Adds ", 98 % of that during the loop at m.c:21 of init". */
static void add_where(const struct facts *facts, const struct parallelization *of, enum waste waste, struct text *text)
{
    static const char *const between[WASTES][2] = {
        [WASTED_IDLE] = {" of that during ", " of that during calls from "},
        [WASTED_ON_OVERHEAD] = {" of that in ", " of that in calls from "}};
    if (of->hotspots[waste].n == 0)
        return;
    text_add(text, ", ");
    add_hotspot(facts, of, waste, 0, between[waste][are_callers(facts)], text);
    if (waste == WASTED_IDLE && of->helper != NOTHING) {
        text_add(text, ", which calls ");
        label_in_sentence(facts->view->db, of->helper, text);
    }
}

/* Adds "34 %", or "at least 28 %": what others cannot have caused, if they had the CPUs. */
static void add_percent(const struct judgement *judgement, const struct share *share, enum knowledge known, struct text *text)
{
    bool is_disturbed = judgement->is_disturbed;
    text_printf(text, "%s%s", at_least(is_disturbed ? KNOWN_AT_LEAST : known),
                as_percent(is_disturbed ? share->low : share->value).text);
}

static void add_idle(const struct facts *facts, const struct parallelization *of, struct text *text)
{
    text_printf(text, "%s are idle ", facts->runtime ? "workers" : "threads");
    add_percent(&of->judgement, &of->judgement.idleness, of->judgement.idleness_known, text);
    text_add(text, " of the time");
    add_where(facts, of, WASTED_IDLE, text);
}

static void add_overhead(const struct facts *facts, const struct parallelization *of, const char *before,
                         struct text *text)
{
    text_add(text, before);
    add_percent(&of->judgement, &of->judgement.overhead, of->judgement.overhead_known, text);
    add_where(facts, of, WASTED_ON_OVERHEAD, text);
}

/* Adds a limit to the gain between two texts, "; at most 1.7x faster": the upper end of its interval. */
static void add_limit(const struct subject *subject, const char *before, const char *after, struct text *text)
{
    if (subject->gain.factor > 1)
        text_printf(text, "%s%s%s", before, as_factor(subject->gain.high).text, after);
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
    if (tagging)
        text_printf(text, "At least %s of %.0f workers are busy",
                    as_number(workers * (1 - judgement->idleness.high)).text, workers);
    else if (judgement->overhead_known == KNOWN)
        text_printf(text, "Threads are busy (%s idle, %s overhead)", as_percent(judgement->idleness.value).text,
                    as_percent(judgement->overhead.value).text);
    else
        text_printf(text, "Threads are busy (%s idle)", as_percent(judgement->idleness.value).text);
    if (subject->gain.factor < LEAST_GAIN)
        text_add(text, ": nothing to gain from more parallelism");
    else
        add_limit(subject, ": better parallelization gains at most ", "", text);
    if (tagging)
        text_printf(text, "; overhead is unknown until tagged: %s", tagging);
}

/* Whether most of what is wasted is at a critical section of OpenMP. */
static bool is_at_critical_section(const struct facts *facts, const struct hotspots *wasted)
{
    char buffer[NAME_SIZE];
    uint32_t procedure = wasted->n ? wasted->at[0].procedure : NOTHING;
    const char *name = procedure == NOTHING ? "" : database_procedure_name(facts->view->db, procedure, buffer);
    return strncmp(name, "critical @ ", 11) == 0 || strncmp(name, "critical(", 9) == 0;
}

/* Adds a remedy and the gain, "; larger tasks could win 1.5x". */
static void add_remedy(const struct facts *facts, const struct subject *subject, const struct hotspots *wasted,
                       const char *remedy, struct text *text)
{
    autofree struct text before = {0};
    bool is_critical = is_at_critical_section(facts, wasted);
    text_printf(&before, "; %s could win ", is_critical ? "a reduction, or entering it less often," : remedy);
    add_gain(subject, text_string(&before), "", text);
}

/* A run of more times this length is no useful advice. */
#define MOST_LENGTH 100

static void add_open(const struct parallelization *of, struct text *text)
{
    const struct judgement *judgement = &of->judgement;
    const struct share *waste = &judgement->waste;
    /* How many times longer the run would have to be for the interval to exclude the threshold, if the share stays the
     * same; INFINITY if it is the threshold. */
    double half = waste->value < FINE_SHARE ? waste->high - waste->value : waste->value - waste->low;
    double distance = fabs(waste->value - FINE_SHARE);
    double length = distance > 0 ? half / distance * (half / distance) : INFINITY;
    text_printf(text, "Cannot tell whether better parallelization would gain much: idleness and overhead take %s",
                at_least(judgement->overhead_known));
    share_describe(waste, "", text);
    if (judgement->overhead_known == KNOWN && judgement->idleness_known == KNOWN && length <= MOST_LENGTH)
        text_printf(text, "; a run about %.0f times as long would tell", ceil(fmax(length, 2)));
}

/* Adds "no worker has work for 33 % of the time, between pieces of the loop at g.c:10; larger pieces could win 1.6x;
 * try fewer threads, too (OMP_NUM_THREADS)", or "overhead is 34 %; larger tasks could win 1.5x". */
static void add_too_fine(const struct facts *facts, const struct subject *subject, const struct parallelization *of,
                         struct text *text)
{
    const struct hotspots *during = &of->hotspots[WASTED_IDLE], *in = &of->hotspots[WASTED_ON_OVERHEAD];
    if (of->judgement.is_disturbed) {
        text_printf(text, "overhead is %s of the CPU time", as_percent(of->judgement.of_runtime.value).text);
        add_where(facts, of, WASTED_ON_OVERHEAD, text);
        text_add(text, is_at_critical_section(facts, in) ? "; a reduction, or entering it less often, may help"
                                                         : "; larger tasks may help");
        return;
    }
    if (!of->judgement.is_nobody_high) {
        add_overhead(facts, of, "overhead is ", text);
        add_remedy(facts, subject, in, "larger tasks", text);
        return;
    }
    text_printf(text, "no worker has work for %s of the time", as_percent(of->judgement.nobody.value).text);
    if (during->n) {
        text_add(text, is_at_critical_section(facts, during) ? ", around " : ", between pieces of ");
        add_place(facts, &during->at[0], text);
    }
    add_remedy(facts, subject, during, "larger pieces", text);
    text_printf(text, "; try fewer threads, too (%s)", facts->runtime->setting);
}

void say_verdict(const struct facts *facts, const struct subject *subject, struct text *text)
{
    const struct parallelization *of = subject->of;
    enum verdict verdict = of->judgement.verdict;
    autofree struct text event = {0};
    advice_event(of->event, &event);
    if (event.n)
        text_printf(text, "By %s: ", text_string(&event));
    switch (verdict) {
    case VERDICT_FINE:
    case VERDICT_BUSY: add_busy(facts, subject, of, text); break;
    case VERDICT_TOO_LITTLE:
        text_add(text, "Too little parallelism: ");
        add_idle(facts, of, text);
        add_limit(subject, "; at most ", " faster", text);
        break;
    case VERDICT_TOO_FINE:
        text_add(text, "Too fine a grain: ");
        add_too_fine(facts, subject, of, text);
        break;
    case VERDICT_OVERHEAD:
        add_overhead(facts, of, "High overhead: ", text);
        add_gain(subject, "; less of this known part could win ", "", text);
        break;
    case VERDICT_WASTE:
    case VERDICT_WRONG_PARALLELISM:
        text_add(text, verdict == VERDICT_WASTE ? "Too much idleness and overhead: " : "Wrong parallelization: ");
        add_idle(facts, of, text);
        add_overhead(facts, of, "; overhead is ", text);
        add_remedy(facts, subject, &of->hotspots[WASTED_IDLE], "another one", text);
        break;
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
    text_printf(text, "%s%s", what, known == NOT_KNOWN ? "not measured" : at_least(known));
    if (known != NOT_KNOWN)
        share_describe(share, more, text);
}

/* Adds "Idleness is 16 % (14 to 18 %), overhead 3.8 % (3.2 to 4.5 %; 3.0% spawn, 0.8% sync) of its effort of 1.8 s." */
static void add_numbers(const struct facts *facts, const struct parallelization *of, struct text *text)
{
    const struct judgement *judgement = &of->judgement;
    autofree struct text kinds = {0};
    overhead_kinds_describe(&of->kinds, judgement->effort, false, &kinds);
    add_share(text, "Idleness is ", &judgement->idleness, judgement->idleness_known, "");
    add_share(text, ", overhead ", &judgement->overhead, judgement->overhead_known, text_string(&kinds));
    text_printf(text, " of %s effort of %s.", facts->row == 0 ? "the" : "its",
                number_with_unit(judgement->effort, of->unit).text);
    if (facts->row != 0)
        text_printf(text, " That effort is %s of the whole run's.", as_percent(judgement->effort_of_run).text);
}

/* Adds what explains the kind that makes up more than half of a high overhead. */
static void add_dominant_kind(const struct parallelization *of, struct text *text)
{
    const struct overhead_kinds *kinds = &of->kinds;
    double overhead = of->judgement.overhead.value * of->judgement.effort;
    if (of->judgement.overhead_side != SIDE_HIGH || kinds->n == 0 || kinds->at[0].cost <= overhead / 2)
        return;
    autofree char *kind = overhead_kind_name(kinds->at[0].metric);
    const char *meaning = overhead_kind_meaning(kind);
    text_printf(text, "Most of the overhead is of the kind %s%s%s.", kind, meaning ? ": " : "", meaning ? meaning : "");
}

void add_details(const struct facts *facts, const struct subject *subject, struct finding *finding)
{
    const struct parallelization *of = subject->of;
    const struct judgement *judgement = &of->judgement;
    enum knowledge known = judgement->overhead_known;
    const char *why = of->why[WASTED_ON_OVERHEAD];
    struct text text = {0};
    finding->source = of;
    if (judgement->verdict == VERDICT_TOO_FEW_SAMPLES || judgement->is_disturbed)
        return;
    if (judgement->verdict > VERDICT_BUSY && !judgement->is_notable)
        text_add(&text, "That is little of the whole run: there is not much to gain here.");
    finding_take_detail(finding, &text);
    if (judgement->verdict > VERDICT_BUSY || judgement->verdict == VERDICT_OPEN || facts->row != 0 || of->kinds.n)
        add_numbers(facts, of, &text); /* else the finding's text has them all */
    finding_take_detail(finding, &text);
    if (why && (known == KNOWN_AT_LEAST || (facts->runtime && known == NOT_KNOWN)))
        text_printf(&text, "Overhead %s: %s.", known == KNOWN_AT_LEAST ? "is a lower bound" : "was not measured", why);
    finding_take_detail(finding, &text);
    add_dominant_kind(of, &text);
    finding_take_detail(finding, &text);
    for (int waste = 0; waste < WASTES; waste++)
        for (size_t i = 0, n = of->hotspots[waste].n; n > 1 && i < n; i++) {
            if (i == 0) /* before the items "98 % block, cholesky.c:63" */
                text_printf(&text, "Most of the %s %s:", waste_name((enum waste)waste),
                            are_callers(facts) ? "is there in calls from" : "is in");
            finding_take_detail(finding, &text);
            text_printf(&text, "%c", FINDING_ITEM);
            add_hotspot(facts, of, (enum waste)waste, i, " ", &text);
            finding_take_detail(finding, &text);
        }
}

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

bool has_limit(const struct facts *facts, struct subject *subject)
{
    double workers = run_workers(facts->run);
    if (facts->incomplete == NO_METRIC || workers < 2 || !facts->runtime || !facts->runtime->has_fixed_tasks ||
        facts->has_work_span)
        return false;
    for (size_t i = 0; i < facts->parallelizations.list.n; i++)
        if (facts->parallelizations.list.at[i].judgement.idleness_side == SIDE_HIGH)
            return false;
    double work = facts_cost(facts, facts->cpu.metric) + facts_cost(facts, facts->overhead);
    double wall = (work + facts_cost(facts, facts->idleness)) / workers;
    struct hotspots in = hotspots_find(facts->view, 0, facts->incomplete);
    subject->seconds = facts_cost(facts, facts->incomplete);
    subject->share = share_of_samples(subject->seconds, wall, fmax(facts->cpu_increment, IDLE_SPELL));
    if (in.n)
        subject->place = in.at[0];
    subject->gain = (struct gain){1 / subject->share.value, 1 / subject->share.high, 1 / subject->share.low};
    return subject->share.low >= LEAST_LIMIT_SHARE;
}

void say_limit(const struct facts *facts, const struct subject *subject, struct text *text)
{
    (void)facts;
    double least = subject->seconds * subject->share.low / subject->share.value;
    text_printf(text, "Limit with unlimited CPUs: at least %s", as_seconds(least).text);
    add_limit(subject, ", at most ", " faster", text);
    if (subject->place.procedure != NOTHING)
        text_printf(text, ", %s of it in %s", as_percent(subject->place.cost / subject->seconds).text, subject->where);
    text_add(text, ".");
}
