#include "viewer-tui/advice/advice-rules.h"

#include "viewer-tui/tree/labels.h"

const struct rule *const all_rules[] = {
    &others_rule,        &quota_rule,     &too_few_cpus_rule, &no_names_rule,     &no_lines_rule,
    &not_optimized_rule, &lock_rule,      &blocked_rule,      &imbalance_rule,    &ranks_rule,
    &alone_rule,         &parallelism_rule, &parallelization_rule, &limit_rule,   &waiting_rule,
    &system_calls_rule,  &memory_calls_rule, &hot_rule,       NULL};

struct subject subject_of_rule(const struct rule *rule)
{
    struct source_line nowhere = {NOTHING, 0};
    struct hotspot place = {.procedure = NOTHING, .at = nowhere, .around = nowhere, .callee = NOTHING};
    return (struct subject){.place = place, .order = rule->order, .gain = {1, 1, 1}};
}

void add_place(const struct facts *facts, const struct hotspot *place, struct text *text)
{
    hotspot_describe(facts->view->db, place, false, text);
}

void add_gain_without_it(const struct subject *subject, struct text *text)
{
    if (!(subject->gain.factor > 1))
        return;
    text_add(text, "; could win ");
    add_factor(text, subject->gain.factor);
    text_add(text, " without it");
}

void add_call(const struct facts *facts, const struct hotspot *place, struct text *text)
{
    const struct database *db = facts->view->db;
    if (place->callee == NOTHING) {
        add_place(facts, place, text);
        return;
    }
    callee_describe(db, place->callee, NOTHING, text);
    text_add(text, place->at.line ? ", " : " called by ");
    if (place->at.line)
        label_file_line(db, place->at.file, place->at.line, text);
    else
        add_place(facts, place, text);
}
