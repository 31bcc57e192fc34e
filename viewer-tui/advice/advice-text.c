#include "viewer-tui/advice/advice-text.h"

#include "lib/number.h"
#include "viewer-tui/views/label.h"

#include <stdlib.h>
#include <string.h>

const char *verdict_name(enum verdict verdict)
{
    static const char *const names[VERDICTS] = {
        [VERDICT_TOO_FEW_SAMPLES] = "too few samples",
        [VERDICT_EFFECTIVE] = "well parallelized",
        [VERDICT_TOO_LITTLE] = "too little parallelism",
        [VERDICT_TOO_FINE] = "too fine a grain",
        [VERDICT_WRONG_PARALLELISM] = "wrong parallelization",
        [VERDICT_OVERHEAD_UNKNOWN] = "no verdict",
    };
    return names[verdict];
}

const char *verdict_meaning(enum verdict verdict)
{
    static const char *const meanings[VERDICTS] = {
        [VERDICT_TOO_FEW_SAMPLES] =
            "Its parallelization cannot be judged by so few: measure for longer or sample more "
            "often.",
        [VERDICT_EFFECTIVE] = "Idleness and overhead are both low. What makes the work itself "
                              "faster makes the program faster: look at serial performance.",
        [VERDICT_TOO_LITTLE] =
            "Idleness is high and overhead is low: workers wait because there is too little to do "
            "in parallel. Parallelize what is serial, or make the grain of tasks finer.",
        [VERDICT_TOO_FINE] =
            "Overhead is high and idleness is low: tasks are small for what it costs to make "
            "them. Make the grain of tasks coarser.",
        [VERDICT_WRONG_PARALLELISM] =
            "Idleness and overhead are both high: a finer grain would cost more overhead, a "
            "coarser one more idleness. Parallelize in another way.",
        [VERDICT_OVERHEAD_UNKNOWN] = "Overhead may be more than what is known of it.",
    };
    return meanings[verdict];
}

void advice_event(const char *suffix, struct text *event)
{
    text_clear(event);
    if (*suffix)
        text_add(event, suffix + strlen(" ("));
    if (event->n && event->at[event->n - 1] == ')')
        event->at[--event->n] = '\0';
}

void advice_add_paragraph(struct advice_lines *lines, size_t indent, size_t hanging,
                          const char *text)
{
    size_t taken = indent + hanging;
    size_t width = lines->width > taken ? lines->width - taken : 1;
    struct text piece = {0}, line = {0};
    while (text_take_line(&text, width, &piece)) {
        text_clear(&line);
        text_pad(&line, ' ', indent);
        text_add(&line, text_string(&piece));
        vec_push(&lines->list, mem_strdup(text_string(&line)));
        indent = taken;
    }
    vec_free(&piece);
    vec_free(&line);
}

static void add_percent(struct text *text, double share)
{
    char percent[NUMBER_SIZE];
    number_percent(share, 1, percent);
    text_printf(text, "%s%%", percent);
}

/* " (3.0% spawn, 0.8% sync)" */
static void add_kinds(struct text *text, const struct advice *advice, bool ascii)
{
    struct text kinds = {0};
    overhead_kinds_describe(&advice->kinds, advice->judgement.effort, ascii, &kinds);
    if (kinds.n)
        text_printf(text, " (%s)", text_string(&kinds));
    vec_free(&kinds);
}

/* "Idleness is 15.8% and overhead 3.8% (3.0% spawn, 0.8% sync) of its effort of 1.825 s." */
static void add_numbers(struct text *text, const struct advice *advice, bool is_whole_run,
                        bool ascii)
{
    const struct judgement *judgement = &advice->judgement;
    char effort[NUMBER_WITH_UNIT_SIZE];
    number_with_unit(judgement->effort, advice->unit, effort);
    text_add(text, "Idleness is ");
    add_percent(text, judgement->idleness);
    text_add(text, advice->bound ? " and overhead at least " : " and overhead ");
    add_percent(text, judgement->overhead);
    add_kinds(text, advice, ascii);
    text_printf(text, " of %s effort of %s", is_whole_run ? "the" : "its", effort);
    if (!is_whole_run) {
        text_add(text, "; of the whole run's they are ");
        add_percent(text, judgement->idleness_of_run);
        text_add(text, " and ");
        add_percent(text, judgement->overhead_of_run);
        text_add(text, ", its effort is ");
        add_percent(text, judgement->effort_of_run);
    }
    text_add(text, ".");
}

static void add_procedure_name(struct text *text, const struct database *db, uint32_t procedure,
                               bool ascii)
{
    char buffer[NAME_SIZE];
    text_add_clean(text, database_procedure_name(db, procedure, buffer), ascii);
}

static void add_place(struct text *text, const struct database *db, const struct carrier *carrier,
                      bool ascii)
{
    struct text place = {0};
    label_file_line(db, carrier->file, carrier->line, &place);
    text_add_clean(text, text_string(&place), ascii);
    vec_free(&place);
}

/* ", called from free, from free_matrix" */
static void add_callers(struct text *text, const struct database *db, const struct carrier *carrier,
                        bool ascii)
{
    const char *how = carrier->has_other_callers ? ", mostly called from " : ", called from ";
    for (int i = 0; i < MOST_CALLERS && carrier->callers[i] != NOTHING; i++) {
        text_add(text, i == 0 ? how : ", from ");
        add_procedure_name(text, db, carrier->callers[i], ascii);
    }
}

void advice_describe_carrier(const struct database *db, const struct carrier *carrier, bool ascii,
                             struct text *text)
{
    bool has_name = carrier->procedure != NOTHING;
    if (has_name)
        add_procedure_name(text, db, carrier->procedure, ascii);
    if (!has_name || (carrier->file != NOTHING && carrier->line)) {
        text_add(text, has_name ? ", " : "");
        add_place(text, db, carrier, ascii);
    }
    add_callers(text, db, carrier, ascii);
}

/* "    78.2% block, cholesky.c:63, called from multiply" */
static void add_carrier(struct advice_lines *lines, const struct view *view,
                        const struct carrier *carrier, double whole)
{
    struct text text = {0};
    add_percent(&text, whole > 0 ? carrier->cost / whole : 0);
    text_add(&text, " ");
    advice_describe_carrier(view->db, carrier, lines->ascii, &text);
    advice_add_paragraph(lines, 4, 4, text_string(&text));
    vec_free(&text);
}

static void add_carriers(struct advice_lines *lines, const struct advice *advice,
                         const struct view *view, uint32_t row, enum waste waste)
{
    const struct carriers *carriers = &advice->carriers[waste];
    const struct judgement *judgement = &advice->judgement;
    double share = waste == WASTED_IDLE ? judgement->idleness : judgement->overhead;
    struct text head = {0};
    if (carriers->n == 0)
        return;
    bool is_about_callers = view->class == &bottomup_class && row != 0;
    text_printf(&head, "Most of the %s %s:", waste_name(waste),
                is_about_callers ? "is there in calls from" : "is in");
    advice_add_paragraph(lines, 2, 0, text_string(&head));
    vec_free(&head);
    for (size_t i = 0; i < carriers->n; i++)
        add_carrier(lines, view, &carriers->at[i], share * judgement->effort);
}

/* Names the kind that more than half of a high overhead is of. */
static void add_dominant_kind(struct advice_lines *lines, const struct advice *advice)
{
    const struct judgement *judgement = &advice->judgement;
    double overhead = judgement->overhead * judgement->effort;
    if (!judgement_is_high(judgement, judgement->overhead) || advice->kinds.n == 0 ||
        advice->kinds.at[0].cost <= overhead / 2)
        return;
    struct text text = {0};
    char *kind = overhead_kind_name(advice->kinds.at[0].metric);
    const char *meaning = overhead_kind_meaning(kind);
    text_add(&text, "Most of the overhead is of the kind ");
    text_add_clean(&text, kind, lines->ascii);
    text_printf(&text, "%s%s.", meaning ? ": " : "", meaning ? meaning : "");
    advice_add_paragraph(lines, 2, 0, text_string(&text));
    free(kind);
    vec_free(&text);
}

/* What would make overhead measurable. */
static void add_bound(struct advice_lines *lines, const char *bound)
{
    struct text text = {0};
    text_add(&text, "Overhead is a lower bound: ");
    text_add_clean(&text, bound, lines->ascii);
    text_add(&text, ".");
    advice_add_paragraph(lines, 2, 0, text_string(&text));
    vec_free(&text);
}

static void describe_judgement(struct advice_lines *lines, const struct advice *advice,
                               const struct view *view, uint32_t row)
{
    const struct judgement *judgement = &advice->judgement;
    struct text text = {0};
    text_add(&text, verdict_name(judgement->verdict));
    text.at[0] = (char)(text.at[0] - 'a' + 'A');
    text_printf(&text, ". %s", verdict_meaning(judgement->verdict));
    advice_add_paragraph(lines, 2, 0, text_string(&text));
    text_clear(&text);
    if (advice->bound)
        add_bound(lines, advice->bound);
    add_numbers(&text, advice, row == 0, lines->ascii);
    advice_add_paragraph(lines, 2, 0, text_string(&text));
    bool is_bad = judgement_is_high(judgement, judgement->idleness) ||
                  judgement_is_high(judgement, judgement->overhead);
    if (is_bad && !judgement->is_notable)
        advice_add_paragraph(lines, 2, 0,
                             "That is little of the whole run: there is not much to gain here.");
    vec_free(&text);
    add_dominant_kind(lines, advice);
    for (int waste = 0; waste < WASTES; waste++)
        add_carriers(lines, advice, view, row, (enum waste)waste);
}

static void describe_missing(struct advice_lines *lines, const struct advice *advice)
{
    struct text text = {0};
    text_add(&text, "None:");
    for (int waste = 0; waste < WASTES; waste++)
        if (advice->missing[waste]) {
            text_printf(&text,
                        "%s %s was not measured: ", waste > 0 && advice->missing[0] ? ";" : "",
                        waste_name((enum waste)waste));
            text_add_clean(&text, advice->missing[waste], lines->ascii);
        }
    advice_add_paragraph(lines, 2, 0, text_string(&text));
    vec_free(&text);
}

void advice_add_event(struct advice_lines *lines, const char *suffix)
{
    struct text event = {0}, text = {0};
    advice_event(suffix, &event);
    text_add(&text, "By ");
    text_add_clean(&text, text_string(&event), lines->ascii);
    text_add(&text, ":");
    advice_add_paragraph(lines, 2, 0, text_string(&text));
    vec_free(&event);
    vec_free(&text);
}

void advice_describe(const struct advices *advices, const struct view *view, uint32_t row,
                     struct advice_lines *lines)
{
    for (size_t i = 0; i < advices->list.n; i++) {
        const struct advice *advice = &advices->list.at[i];
        if (*advice->event)
            advice_add_event(lines, advice->event);
        if (advice_is_there(advice))
            describe_judgement(lines, advice, view, row);
        else
            describe_missing(lines, advice);
    }
    if (advices->list.n == 0)
        advice_add_paragraph(lines, 2, 0, "None: work is not among the metrics shown.");
}

void advice_lines_print(const struct advice_lines *lines, FILE *out)
{
    fputs("\nAdvice\n", out);
    for (size_t i = 0; i < lines->list.n; i++)
        fprintf(out, "%s\n", lines->list.at[i]);
}

void advice_lines_free(struct advice_lines *lines)
{
    for (size_t i = 0; i < lines->list.n; i++)
        free(lines->list.at[i]);
    vec_free(&lines->list);
}
