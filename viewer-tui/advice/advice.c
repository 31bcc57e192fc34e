#include "viewer-tui/advice/advice.h"

#include "viewer-tui/advice/advice-rules.h"

/* Adds the finding on a subject. */
static void add(const struct rule *rule, const struct facts *facts, const struct subject *subject,
                struct findings *findings)
{
    struct text text = {0};
    rule->words(facts, subject, &text);
    struct finding *finding = findings_add(findings, rule->kind, &text);
    vec_free(&text);
    finding->order = subject->order;
    finding->gain = subject->gain;
    finding->is_gain_claimed = rule->claims_gain && subject->gain.factor > 1;
    finding->procedure = subject->place.procedure;
    finding->file = subject->place.at.file;
    finding->line = subject->place.at.line;
    if (rule->details)
        rule->details(facts, subject, finding);
}

static void apply(const struct rule *rule, const struct facts *facts, struct findings *findings)
{
    size_t from = 0;
    struct subject subject = subject_of_rule(rule);
    if ((rule->is_of_run && facts->row != 0) || (rule->needs_quiet && facts->supply.is_disturbed))
        return;
    for (; rule->condition(facts, &from, &subject); subject = subject_of_rule(rule)) {
        struct gain none = {1, 1, 1}, gain = rule->gain ? rule->gain(facts, &subject) : none;
        /* If others had the CPUs, the wall clock bounds no gain. */
        subject.gain = rule->claims_gain && facts->supply.is_disturbed ? none : gain;
        if (!rule->needs_gain || gain.factor >= LEAST_GAIN)
            add(rule, facts, &subject, findings);
    }
}

struct advice advice_on(struct view *view, uint32_t row, const json_t *run)
{
    struct advice advice = {.facts = facts_of(view, row, run)};
    for (const struct rule *const *rule = all_rules; *rule; rule++)
        apply(*rule, &advice.facts, &advice.findings);
    findings_sort(&advice.findings);
    return advice;
}

void advice_free(struct advice *advice)
{
    findings_free(&advice->findings);
    facts_free(&advice->facts);
}
