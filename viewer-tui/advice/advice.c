#include "viewer-tui/advice/advice.h"

#include "viewer-tui/advice/advice-rules.h"

/* Adds the finding on a subject. */
static void add(const struct rule *rule, const struct facts *facts, struct subject *subject, struct findings *findings)
{
    struct text where = {0}, text = {0};
    add_place(facts, &subject->place, &where);
    subject->where = text_string(&where);
    rule->words(facts, subject, &text);
    struct finding *finding = findings_add(findings, rule->kind, &text);
    finding->name = rule->name;
    finding->order = subject->order;
    finding->gain = subject->gain;
    finding->is_gain_claimed = rule->flags & CLAIMS_GAIN && subject->gain.factor > 1;
    finding->procedure = subject->place.procedure;
    finding->file = subject->place.at.file;
    finding->line = subject->place.at.line;
    if (rule->details)
        rule->details(facts, subject, finding);
    vec_free(&where);
    vec_free(&text);
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

static void apply(const struct rule *rule, const struct facts *facts, struct findings *findings)
{
    static const struct gain none = {1, 1, 1};
    static const struct source_line nowhere = {NOTHING, 0};
    if ((rule->flags & OF_RUN && facts->row != 0) || (rule->flags & NEEDS_QUIET && facts->supply.is_disturbed) ||
        (rule->flags & OF_ONE && !facts->process.is_only_one))
        return;
    for (size_t i = 0; i < n_entries(rule->each, facts); i++) {
        struct hotspot place = {.procedure = NOTHING, .at = nowhere, .around = nowhere, .callee = NOTHING};
        struct subject subject = {.entry = i, .place = place, .order = rule->order};
        if (!rule->condition(facts, &subject))
            continue;
        struct gain gain = rule->gain ? rule->gain(facts, &subject) : none;
        /* If others had the CPUs, the wall clock bounds no gain. */
        subject.gain = rule->flags & CLAIMS_GAIN && facts->supply.is_disturbed ? none : gain;
        if (!(rule->flags & NEEDS_GAIN) || gain.factor >= LEAST_GAIN)
            add(rule, facts, &subject, findings);
    }
}

struct advice advice_on(struct view *view, uint32_t row, const json_t *run)
{
    struct advice advice = {.facts = facts_of(view, row, run)};
    for (const struct rule *rule = all_rules; rule->condition; rule++)
        apply(rule, &advice.facts, &advice.findings);
    findings_sort(&advice.findings);
    return advice;
}

void advice_free(struct advice *advice)
{
    findings_free(&advice->findings);
    facts_free(&advice->facts);
}
