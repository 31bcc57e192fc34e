#include "viewer-tui/advice/finding-phase.h"

#include "viewer-tui/advice/wording.h"
#include "viewer-tui/tree/labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a finding is about, in a phase: a part of a whole, in seconds. */
struct amount {
    double part, whole;
};

/* What findings are about that can be told by phases. */
enum matter { NO_MATTER, IDLE_WORKERS, OVERHEAD_TIME, RUNTIME_WAITING, LOCK_BLAME, ONE_THREAD };

static const char *const nouns[] = {
    [IDLE_WORKERS] = "the idleness", [OVERHEAD_TIME] = "the overhead", [RUNTIME_WAITING] = "the waiting",
    [LOCK_BLAME] = "the waiting",    [ONE_THREAD] = "that time",
};

/* After a percentage. */
static const char *const adjectives[] = {
    [IDLE_WORKERS] = "idle",        [OVERHEAD_TIME] = "overhead", [RUNTIME_WAITING] = "of the threads' time in code",
    [LOCK_BLAME] = "of the threads' time", [ONE_THREAD] = "of the time",
};

/* Where others had the CPUs, they also made workers idle, and in which phase for how long is not known. */
static enum matter matter_of(const struct finding *finding, const char *event, bool is_disturbed)
{
    struct text of_event = {0};
    const struct parallelization *of = finding->source;
    switch (finding->kind) {
    case FINDING_PARALLELIZATION: break;
    case FINDING_WAITING: return RUNTIME_WAITING;
    case FINDING_LOCK: return LOCK_BLAME;
    case FINDING_ONE_THREAD: return ONE_THREAD;
    default: return NO_MATTER;
    }
    advice_event(of->event, &of_event);
    bool is_of_it = !of_event.n || strcmp(text_string(&of_event), event) == 0;
    vec_free(&of_event);
    if (is_of_it && of->judgement.idleness_side == SIDE_HIGH)
        return is_disturbed ? NO_MATTER : IDLE_WORKERS;
    return is_of_it && of->judgement.overhead_side == SIDE_HIGH ? OVERHEAD_TIME : NO_MATTER;
}

/* The phases in which a finding is looked for. */
struct phase_choice {
    const struct facts *facts;
    const struct phases *phases;
    const struct timeline *timeline;
    enum matter matter;
};

/* Seconds of a phase in which the busiest thread works and no other does, at least (thread-rules.c). */
static double seconds_alone(const struct phase_choice *choice, const struct phase *phase)
{
    const struct process_thread *busiest = choice->facts->process.busiest;
    const struct timeline_thread *thread = busiest ? timeline_thread(choice->timeline, busiest->profile) : NULL;
    struct state_sums sums = {0};
    if (!thread || !choice->timeline->is_time)
        return 0;
    state_sums_add(&sums, choice->timeline, thread, phase->range);
    double its = (double)sums.amounts[TRACE_WORK] + (double)sums.amounts[TRACE_OVERHEAD];
    double of_all = phase->states[TRACE_WORK] + phase->states[TRACE_OVERHEAD];
    double alone = 2 * timeline_amount(choice->timeline, its) - of_all;
    return fmin(fmax(alone, 0), phase_length(phase));
}

/* The time of threads, and of those that wait for a lock. By CPUTIME these have no records while they wait. */
static double time_of_threads(const struct phase_choice *choice, const struct phase *phase)
{
    double seconds = timeline_has_waits(choice->timeline) ? 0 : phase->paid[PAYS_LOCK_BLAME];
    for (int state = 0; state < TRACE_STATES; state++)
        seconds += phase->states[state];
    return seconds;
}

static struct amount amount_in(const struct phase_choice *choice, const struct phase *phase)
{
    const double *paid = phase->paid;
    double cpu = paid[PAYS_WORK] + paid[PAYS_OVERHEAD];
    switch (choice->matter) {
    case IDLE_WORKERS: return (struct amount){paid[PAYS_IDLENESS], cpu + paid[PAYS_IDLENESS]};
    case OVERHEAD_TIME: return (struct amount){paid[PAYS_OVERHEAD], cpu + paid[PAYS_IDLENESS]};
    case RUNTIME_WAITING: return (struct amount){paid[PAYS_WAITING], cpu + paid[PAYS_WAITING]};
    case LOCK_BLAME: return (struct amount){paid[PAYS_LOCK_BLAME], time_of_threads(choice, phase)};
    case ONE_THREAD: return (struct amount){seconds_alone(choice, phase), phase_length(phase)};
    default: return (struct amount){0, 0};
    }
}

/* The phase with most of it, and what all others have together. */
static size_t largest(const struct phase_choice *choice, struct amount *there, struct amount *elsewhere)
{
    struct amount amounts[MOST_PHASES] = {{0, 0}};
    size_t most = 0, n = choice->phases->n;
    for (size_t i = 0; i < n; i++) {
        amounts[i] = amount_in(choice, &choice->phases->at[i]);
        most = amounts[i].part > amounts[most].part ? i : most;
    }
    *there = amounts[most];
    *elsewhere = (struct amount){0, 0};
    for (size_t i = 0; i < n; i++) {
        elsewhere->part += i == most ? 0 : amounts[i].part;
        elsewhere->whole += i == most ? 0 : amounts[i].whole;
    }
    return most;
}

/* The share of an amount. A sample may stand for that of all threads. */
static struct share share_of(const struct facts *facts, struct amount amount)
{
    double threads = fmax((double)facts->process.threads.n, 1);
    return share_of_samples(fmin(amount.part, amount.whole), amount.whole, facts->cpu_increment * threads);
}

static void name_phase(const struct phase_choice *choice, struct finding *finding)
{
    struct amount there, elsewhere;
    const struct facts *facts = choice->facts;
    const struct phases *phases = choice->phases;
    enum matter matter = choice->matter;
    size_t number = largest(choice, &there, &elsewhere);
    const struct phase *phase = &phases->at[number];
    double all = there.part + elsewhere.part, run = (double)phases->at[phases->n - 1].range.to * 1e-9;
    struct share high = share_of(facts, there), low = share_of(facts, elsewhere);
    if (!(all > 0) || there.part < MOST_OF_IT * all || high.low < HIGH_SHARE || low.high > high.low / 2 ||
        phase_length(phase) > NEARLY_WHOLE_RUN * run)
        return;
    struct text text = {0};
    text_printf(&text, "%s %s of %s is in phase %zu of %zu (%s to %s)", finding->text,
                as_percent(there.part / all).text, nouns[matter], number + 1, phases->n,
                as_number((double)phase->range.from * 1e-9).text, as_seconds((double)phase->range.to * 1e-9).text);
    char buffer[NAME_SIZE];
    const char *place = phase_place(facts->view->db, phase, buffer);
    if (place) {
        text_add(&text, ": ");
        label_name_in_sentence(place, &text);
        if (!isnan(phase->working))
            text_printf(&text, ", %s threads at work", as_number(phase->working).text);
    }
    text_printf(&text, "; %s %s there, %s elsewhere.", as_percent(high.value).text, adjectives[matter],
                as_percent(low.value).text);
    free(finding->text);
    finding->text = text.at;
    finding->phase = (unsigned)number + 1;
    finding->part_in_phase = there.part / all;
}

void findings_name_phases(struct advice *advice, const struct phases *phases, const struct timeline *timeline)
{
    struct phase_choice choice = {&advice->facts, phases, timeline, NO_MATTER};
    for (size_t i = 0; i < advice->findings.list.n && phases->n > 1; i++) {
        struct finding *finding = &advice->findings.list.at[i];
        choice.matter = matter_of(finding, timeline->event, advice->facts.supply.is_disturbed);
        if (choice.matter != NO_MATTER)
            name_phase(&choice, finding);
    }
}
