#include "viewer-tui/advice/advice.h"

#include "viewer-tui/advice/advice-rules.h"
#include "viewer-tui/advice/balance.h"
#include "viewer-tui/db/time-slice.h"
#include "viewer-tui/tree/labels.h"

#include <math.h>
#include <string.h>

static const struct rule all_rules[] = {
    {FINDING_LOST, "not measured", ORDER_MACHINE, OF_RUN, ONCE, is_lost, say_lost},
    {FINDING_PROGRAMS, "programs", ORDER_MACHINE, OF_RUN, ONCE, is_of_system, say_programs},
    {FINDING_STARTS, "starts", ORDER_FIRST, OF_RUN, ONCE, starts_many, say_starts},
    {FINDING_NO_CPU, "no cpu", ORDER_MACHINE, 0, ONCE, others_had_cpus, say_others},
    {FINDING_QUOTA, "quota", ORDER_MACHINE, 0, ONCE, is_throttled, say_quota},
    {FINDING_TOO_MANY_THREADS, "too many threads", ORDER_FACT, OF_RUN | NEEDS_QUIET, ONCE,
     have_too_few_cpus, say_too_few_cpus},
    {FINDING_HIDDEN, "hidden", ORDER_FACT, 0, ONCE, is_hidden, say_hidden},
    {FINDING_NO_NAMES, "no names", ORDER_FACT, 0, ONCE, has_no_names, say_no_names},
    {FINDING_NO_LINES, "no lines", ORDER_FACT, 0, ONCE, has_no_lines, say_no_lines},
    {FINDING_NOT_OPTIMIZED, "not optimized", ORDER_FACT, 0, ONCE, is_not_optimized, say_not_optimized},
    {FINDING_LOCK, "lock", ORDER_GAIN, CLAIMS_GAIN, ONCE, wait_for_locks, say_locks},
    {FINDING_BLOCKED, "blocked", ORDER_GAIN, CLAIMS_GAIN | ALLOWS_LOAD, EACH_WAIT,
     is_blocked, say_blocked},
    {FINDING_ASLEEP, "asleep", ORDER_GAIN, OF_RUN | OF_ONE | ANY_CPUS, ONCE, are_asleep, say_asleep},
    {FINDING_IMBALANCE, "imbalance", ORDER_GAIN, OF_ONE | CLAIMS_GAIN, EACH_SHARED_WORK,
     has_unequal_parts, say_unequal_parts},
    {FINDING_RANKS, "ranks", ORDER_GAIN, OF_RUN | CLAIMS_GAIN, ONCE,
     have_unequal_ranks, say_unequal_ranks},
    {FINDING_ONE_THREAD, "one thread", ORDER_GAIN, OF_RUN | CLAIMS_GAIN, ONCE,
     runs_alone, say_alone},
    {FINDING_PARALLELISM, "parallelism", ORDER_FIRST, OF_RUN, ONCE, has_work_span, say_parallelism},
    {FINDING_PARALLELIZATION, "parallelization", ORDER_GAIN, CLAIMS_GAIN, EACH_EVENT,
     is_judged, say_verdict},
    {FINDING_SPAN, "span", ORDER_FACT, OF_RUN | NEEDS_QUIET | OF_ONE | CLAIMS_GAIN | ANY_CPUS, ONCE,
     has_limit, say_limit},
    {FINDING_WAITING, "waiting", ORDER_FACT, NEEDS_QUIET, ONCE, wait_in_runtime, say_waiting},
    {FINDING_SYSTEM_CALLS, "system calls", ORDER_GAIN, ANY_CPUS, ONCE,
     has_system_calls, say_system_calls},
    {FINDING_MEMORY_CALLS, "memory calls", ORDER_GAIN, ANY_CPUS, ONCE,
     moves_memory, say_memory_calls},
    {FINDING_HOT_PLACE, "hot place", ORDER_PLACE, 0, ONCE, is_hot, say_hot}};

void add_gain(const struct subject *subject, const char *before, const char *after, struct text *text)
{
    if (!(subject->gain.factor > 1))
        return;
    text_add(text, before);
    gain_describe(&subject->gain, text);
    text_add(text, after);
}

void add_call(const struct facts *facts, const struct subject *subject, struct text *text)
{
    const struct hotspot *place = &subject->place;
    char buffer[NAME_SIZE] = "";
    const char *name = place->callee == NOTHING ? "" : database_procedure_name(facts->view->db, place->callee, buffer);
    bool is_call = *name && !strchr(name + 1, '<'); /* of a template, the place says more than the name */
    if (!is_call && place->owner == CODE_OF_SYSTEM && place->procedure != NOTHING) {
        uint32_t module = database_procedure(facts->view->db, place->procedure).module;
        callee_describe(facts->view->db, place->procedure, module, text);
        return;
    }
    if (is_call)
        callee_describe(facts->view->db, place->callee, NOTHING, text);
    if (is_call && place->at.line) {
        text_add(text, ", ");
        label_file_line(facts->view->db, place->at.file, place->at.line, text);
    } else {
        text_printf(text, "%s%s", is_call ? " called by " : "", subject->where);
    }
}

/* Adds the finding on a subject; valid until the next one is added. */
static struct finding *add(const struct rule *rule, const struct facts *facts, struct subject *subject,
                           struct findings *findings)
{
    autofree struct text where = {0}, text = {0};
    add_place(facts, &subject->place, &where);
    subject->where = text_string(&where);
    rule->words(facts, subject, &text);
    struct finding *finding = findings_add(findings, rule->kind, &text);
    finding->name = rule->name;
    finding->order = subject->order;
    finding->is_gain_claimed = rule->flags & CLAIMS_GAIN && subject->gain.factor > 1;
    finding->procedure = subject->place.procedure;
    finding->file = subject->place.at.file;
    finding->line = subject->place.at.line;
    if (rule->kind == FINDING_PARALLELIZATION)
        add_details(facts, subject, finding);
    return finding;
}

static size_t n_entries(enum rule_each each, const struct facts *facts)
{
    switch (each) {
    case EACH_WAIT: return facts->off_cpu_places.list.n;
    case EACH_SHARED_WORK: return facts->balance.list.n;
    case EACH_EVENT: return facts->parallelizations.list.n;
    default: return 1;
    }
}

static double factor_of_run(double factor, double piece, double run)
{
    return run / (run - piece * (1 - 1 / factor));
}

/* Makes the gain of a piece of time that of the whole run, whose other time stays the same. False if that is nothing to
 * name. */
static bool find_gain_of_run(const struct facts *facts, struct gain *gain)
{
    const struct time_slice *slice = facts->view->db->slice;
    if (!slice)
        return true;
    double run = (double)slice->timeline->end * 1e-9, wall = facts->process.wall;
    double piece = fmin(wall > 0 ? wall : time_ranges_seconds(&slice->ranges), run); /* 0: of some threads only */
    *gain = (struct gain){factor_of_run(gain->factor, piece, run), factor_of_run(gain->low, piece, run),
                          factor_of_run(gain->high, piece, run)};
    return gain->factor >= LEAST_GAIN;
}

static void apply(const struct rule *rule, const struct facts *facts, struct findings *findings)
{
    static const struct gain none = {1, 1, 1};
    static const struct source_line nowhere = {NOTHING, 0};
    if ((rule->flags & OF_RUN && facts->row != 0) || (rule->flags & NEEDS_QUIET && facts->supply.is_disturbed) ||
        (rule->flags & OF_ONE && !facts->process.is_only_one))
        return;
    for (size_t i = 0; i < n_entries(rule->each, facts); i++) {
        struct hotspot place = {.procedure = NOTHING, .at = nowhere, .around = nowhere, .callee = NOTHING};
        struct subject subject = {.entry = i, .place = place, .order = rule->order, .gain = none};
        if (!rule->condition(facts, &subject))
            continue;
        if (!(rule->flags & ANY_CPUS)) {
            struct gain most = facts_most_gain(facts);
            gain_limit(&subject.gain, &most);
        }
        bool is_notable = find_gain_of_run(facts, &subject.gain);
        struct gain order = subject.gain;
        /* If others had the CPUs, the wall clock bounds no gain: it only orders. */
        bool is_bound = !facts->supply.is_disturbed || rule->flags & ALLOWS_LOAD;
        if (rule->flags & CLAIMS_GAIN && (!is_bound || !is_notable))
            subject.gain = none;
        add(rule, facts, &subject, findings)->gain = order;
    }
}

struct advice advice_on(struct view *view, uint32_t row, const json_t *run, const struct timeline *timeline)
{
    struct advice advice = {.facts = facts_of(view, row, run, timeline)};
    advice.facts.balance = balance_of(&advice.facts);
    for (size_t i = 0; i < sizeof all_rules / sizeof *all_rules; i++)
        apply(&all_rules[i], &advice.facts, &advice.findings);
    findings_sort(&advice.findings);
    return advice;
}

void advice_free(struct advice *advice)
{
    findings_free(&advice->findings);
    facts_free(&advice->facts);
}
