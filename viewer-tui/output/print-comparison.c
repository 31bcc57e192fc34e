#include "viewer-tui/output/print-comparison.h"

#include "lib/diag.h"
#include "lib/json.h"
#include "lib/number.h"
#include "viewer-tui/base/task.h"
#include "viewer-tui/compare/changes-text.h"
#include "viewer-tui/output/csv.h"
#include "viewer-tui/output/metric-json.h"
#include "viewer-tui/output/print-changes.h"
#include "viewer-tui/tree/describe.h"
#include "viewer-tui/tree/label.h"
#include "viewer-tui/tree/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Who reads of more procedures at once? */
#define MOST_CHANGED 5

static const char *const change_names[DIRECTIONS] = {[MORE] = "grew", [LESS] = "shrank"};

/* What is printed. */
struct compared {
    const struct session *session;
    const struct comparison *comparison;
    struct view *view; /* bottom-up */
    enum projection projection;
    size_t metric;                              /* the left side's; procedures are listed by its
                                                   difference */
    uint32_t changed[DIRECTIONS][MOST_CHANGED]; /* rows, the largest changes first */
    size_t n_changed[DIRECTIONS];
    struct changes_printed advice; /* on the whole program */
    FILE *out;
};

/* A number that is told of each side. */
struct fact {
    const char *name;
    double of[SIDES];
};

#define N_FACTS 3

static void find_facts(const struct comparison *comparison, struct fact facts[N_FACTS])
{
    facts[0] = (struct fact){.name = "processes"};
    facts[1] = (struct fact){.name = "workers"};
    facts[2] = (struct fact){.name = "problems"};
    for (int side = 0; side < SIDES; side++) {
        const json_t *run = comparison->sides[side].run;
        facts[0].of[side] = (double)json_array_size(json_object_get(run, "processes"));
        facts[1].of[side] = comparison_workers(comparison, side);
        facts[2].of[side] = (double)json_array_size(json_object_get(run, "problems"));
    }
}

/* Lists the procedures whose own costs changed most, in one direction and in the other. */
static void find_changed(struct compared *compared)
{
    struct view *view = compared->view;
    size_t metric = compared->metric + MERGED_DIFFERENCE;
    view_sort(view, (struct sorting){.metric = metric, .part = EXCLUSIVE});
    view_start_walk(view);
    view_expand(view, 0);
    uint32_t n = view_row(view, 0)->n_children;
    for (uint32_t i = 0; i < n && i < MOST_CHANGED; i++) {
        uint32_t most = view_child(view, 0, i), least = view_child(view, 0, n - 1 - i);
        if (view_cost(view, most, metric, EXCLUSIVE) > 0)
            compared->changed[MORE][compared->n_changed[MORE]++] = most;
        if (view_cost(view, least, metric, EXCLUSIVE) < 0)
            compared->changed[LESS][compared->n_changed[LESS]++] = least;
    }
}

/* The next metric that is shown, of the left side, from `from` on. */
static size_t next_compared(const struct metrics *metrics, size_t from)
{
    size_t m = metrics_shown(metrics, from);
    while (m < metrics->n && metrics->at[m].sides[0] != (int)m)
        m = metrics_shown(metrics, m + 1);
    return m;
}

/* "work" of "work [LEFT]". */
static char *compared_name(const struct compared *compared, size_t metric)
{
    const char *name = compared->view->metrics->at[metric].name;
    size_t side = strlen(compared->comparison->options->names[0]) + strlen(" []");
    return mem_strndup(name, strlen(name) - side);
}

/* --- text */

struct printing {
    const struct compared *compared;
    bool ascii;
    struct text line;
};

/* A number with its unit, and behind the difference a percentage. */
#define COLUMN  14
#define PERCENT 9

static void end_line(struct printing *printing)
{
    text_end_line(&printing->line, printing->compared->out);
}

static void add_right(struct printing *printing, const char *text)
{
    struct text clean = {0};
    text_add_clean(&clean, text, printing->ascii);
    text_cut(&clean, COLUMN - 1);
    text_pad(&printing->line, ' ', COLUMN - text_columns(text_string(&clean)));
    text_add(&printing->line, text_string(&clean));
    vec_free(&clean);
}

static void print_facts(struct printing *printing)
{
    struct fact facts[N_FACTS];
    find_facts(printing->compared->comparison, facts);
    for (int column = 0; column < MERGED_COLUMNS; column++) {
        add_right(printing,
                  comparison_column(printing->compared->comparison, (enum merged_column)column));
        text_pad(&printing->line, ' ', column == MERGED_DIFFERENCE ? PERCENT : 0);
    }
    end_line(printing);
    for (size_t i = 0; i < N_FACTS; i++) {
        for (int side = 0; side < SIDES; side++) {
            char text[NUMBER_SIZE];
            number_grouped((uint64_t)facts[i].of[side], text);
            add_right(printing, text);
        }
        text_pad(&printing->line, ' ', (MERGED_COLUMNS - SIDES) * COLUMN + PERCENT + 2);
        text_add(&printing->line, facts[i].name);
        end_line(printing);
    }
}

static void add_percent(struct printing *printing, double value, size_t metric)
{
    char percent[NUMBER_SIZE] = "";
    if (isfinite(value) && value != 0)
        number_percent(value, view_whole(printing->compared->view, metric), percent);
    text_printf(&printing->line, "%*s%s", PERCENT - 1, percent, *percent ? "%" : " ");
}

/* The four numbers of a row. */
static void add_costs(struct printing *printing, uint32_t row, size_t metric, enum cost_part part)
{
    const struct view *view = printing->compared->view;
    for (size_t m = metric; m < metric + MERGED_COLUMNS; m++) {
        char text[NUMBER_WITH_UNIT_SIZE];
        double value = view_cost(view, row, m, part);
        columns_with_unit(view, m, value, text);
        add_right(printing, text);
        if (m == metric + MERGED_DIFFERENCE)
            add_percent(printing, value, m);
    }
    text_add(&printing->line, "  ");
}

static void print_metrics(struct printing *printing)
{
    const struct compared *compared = printing->compared;
    const struct metrics *metrics = compared->view->metrics;
    for (size_t m = next_compared(metrics, 0); m < metrics->n; m = next_compared(metrics, m + 1)) {
        char *name = compared_name(compared, m);
        add_costs(printing, 0, m, INCLUSIVE);
        text_add_clean(&printing->line, name, printing->ascii);
        const char *why = metrics->at[m + MERGED_DIFFERENCE].why;
        if (why) {
            text_add(&printing->line, ": ");
            text_add_clean(&printing->line, why, printing->ascii);
        }
        end_line(printing);
        free(name);
    }
}

static void print_changed(struct printing *printing, enum direction direction)
{
    const struct compared *compared = printing->compared;
    if (compared->n_changed[direction] == 0)
        return;
    struct text location = {0};
    char *metric = compared_name(compared, compared->metric);
    end_line(printing);
    text_printf(&printing->line, "Procedures whose own ");
    text_add_clean(&printing->line, metric, printing->ascii);
    text_printf(&printing->line, " %s most", change_names[direction]);
    end_line(printing);
    for (size_t i = 0; i < compared->n_changed[direction]; i++) {
        uint32_t row = compared->changed[direction][i];
        add_costs(printing, row, compared->metric, EXCLUSIVE);
        describe_name(compared->view, row, printing->ascii, &printing->line);
        text_clear(&location);
        describe_location(compared->view, row, printing->ascii, &location);
        if (location.n)
            text_printf(&printing->line, "  %s", text_string(&location));
        end_line(printing);
    }
    vec_free(&location);
    free(metric);
}

static void print_advice(struct printing *printing)
{
    const struct changes_printed *advice = &printing->compared->advice;
    struct advice_lines lines = {.width = ADVICE_WIDTH, .ascii = printing->ascii};
    changes_describe(&advice->list, advice->comparison, advice->view, advice->row, &lines);
    advice_lines_print(&lines, printing->compared->out);
    advice_lines_free(&lines);
}

static void print_text(const struct compared *compared)
{
    struct printing printing = {.compared = compared, .ascii = describe_in_ascii()};
    text_add_clean(&printing.line, session_title(compared->session, NULL), printing.ascii);
    text_printf(&printing.line, ": comparison, %s projection%s",
                projection_name(compared->projection), session_folding_words(compared->session));
    end_line(&printing);
    end_line(&printing);
    print_facts(&printing);
    print_metrics(&printing);
    end_line(&printing);
    comparison_explain(compared->comparison, &printing.line);
    end_line(&printing);
    print_advice(&printing);
    for (int direction = MORE; direction < DIRECTIONS; direction++)
        print_changed(&printing, (enum direction)direction);
    vec_free(&printing.line);
}

/* --- csv: a section and a name, then a value of each column */

static void write_record(struct csv *csv, const char *section, const char *name)
{
    csv_text(csv, section);
    csv_text(csv, name);
}

static void write_costs(struct csv *csv, const struct compared *compared, uint32_t row,
                        size_t metric, enum cost_part part)
{
    const struct view *view = compared->view;
    for (size_t m = metric; m < metric + MERGED_COLUMNS; m++)
        csv_cost(csv, &view->metrics->at[m], view_cost(view, row, m, part));
    csv_end_record(csv);
}

/* Says in which of the two databases a metric is a lower bound: the reason in that one's column. */
static void write_bounds(struct csv *csv, const struct metric *sides, const char *name)
{
    if (!metric_is_lower_bound(&sides[0]) && !metric_is_lower_bound(&sides[1]))
        return;
    write_record(csv, "lower bound", name);
    for (int side = 0; side < SIDES; side++)
        csv_text(csv, metric_is_lower_bound(&sides[side]) ? sides[side].why : NULL);
    for (int column = SIDES; column < MERGED_COLUMNS; column++)
        csv_text(csv, NULL);
    csv_end_record(csv);
}

static void print_csv(const struct compared *compared)
{
    static const char *const heads[] = {"section", "name"};
    const struct metrics *metrics = compared->view->metrics;
    struct csv csv = {.out = compared->out};
    struct fact facts[N_FACTS];
    find_facts(compared->comparison, facts);
    write_record(&csv, heads[0], heads[1]);
    for (int column = 0; column < MERGED_COLUMNS; column++)
        csv_text(&csv, comparison_column(compared->comparison, (enum merged_column)column));
    csv_end_record(&csv);
    for (size_t i = 0; i < N_FACTS; i++) {
        write_record(&csv, "run", facts[i].name);
        for (int side = 0; side < SIDES; side++)
            csv_number(&csv, facts[i].of[side]);
        for (int column = SIDES; column < MERGED_COLUMNS; column++)
            csv_text(&csv, NULL);
        csv_end_record(&csv);
    }
    for (size_t m = next_compared(metrics, 0); m < metrics->n; m = next_compared(metrics, m + 1)) {
        char *name = compared_name(compared, m);
        write_record(&csv, "metric", name);
        write_costs(&csv, compared, 0, m, INCLUSIVE);
        write_bounds(&csv, &metrics->at[m], name);
        free(name);
    }
    print_changes_csv(&csv, &compared->advice);
    struct text name = {0};
    for (int direction = MORE; direction < DIRECTIONS; direction++)
        for (size_t i = 0; i < compared->n_changed[direction]; i++) {
            uint32_t row = compared->changed[direction][i];
            text_clear(&name);
            label_name(compared->view, row, &name);
            write_record(&csv, change_names[direction], text_string(&name));
            write_costs(&csv, compared, row, compared->metric, EXCLUSIVE);
        }
    vec_free(&name);
}

/* --- json */

static void write_facts(struct json_writer *json, const struct compared *compared)
{
    struct fact facts[N_FACTS];
    find_facts(compared->comparison, facts);
    json_write_key(json, "databases");
    json_write_array(json);
    for (int side = 0; side < SIDES; side++) {
        json_write_object(json);
        json_write_text(json, "name", compared->comparison->options->names[side]);
        json_write_text(json, "path", compared->session->sides[side]->folder);
        for (size_t i = 0; i < N_FACTS; i++) {
            json_write_key(json, facts[i].name);
            json_write_double(json, facts[i].of[side]);
        }
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void write_changed(struct json_writer *json, const struct compared *compared,
                          enum direction direction)
{
    const struct view *view = compared->view;
    struct text name = {0};
    json_write_key(json, change_names[direction]);
    json_write_array(json);
    for (size_t i = 0; i < compared->n_changed[direction]; i++) {
        uint32_t row = compared->changed[direction][i];
        text_clear(&name);
        label_name(view, row, &name);
        json_write_object(json);
        json_write_text(json, "name", text_string(&name));
        for (size_t m = compared->metric; m < compared->metric + MERGED_COLUMNS; m++) {
            json_write_key(json, view->metrics->at[m].name);
            json_write_cost(json, &view->metrics->at[m], view_cost(view, row, m, EXCLUSIVE));
        }
        json_write_object_end(json);
    }
    json_write_array_end(json);
    vec_free(&name);
}

static void print_json(const struct compared *compared)
{
    const struct metrics *metrics = compared->view->metrics;
    struct json_writer json;
    json_write_start(&json, compared->out, 0);
    json_write_object(&json);
    json_write_text(&json, "title", session_title(compared->session, NULL));
    write_facts(&json, compared);
    json_write_key(&json, "metrics");
    json_write_totals(&json, compared->view);
    for (int direction = MORE; direction < DIRECTIONS; direction++)
        write_changed(&json, compared, (enum direction)direction);
    json_write_key(&json, "advice");
    print_changes_json(&json, &compared->advice);
    json_write_key(&json, "metric_states");
    json_write_metrics(&json, metrics);
    json_write_object_end(&json);
    json_write_finish(&json);
}

/* The metric by whose difference procedures are listed. */
static bool choose_metric(struct compared *compared, const char *wanted)
{
    struct sorting sorting = compared->view->sorting;
    if (!print_sorting(compared->session, compared->view->metrics, wanted, &sorting))
        return false;
    const struct metric *sorted = &compared->view->metrics->at[sorting.metric];
    if (!metric_is_compared(sorted)) {
        diag_error("--sort", "the summary compares what was measured, not '%s'", sorted->name);
        return false;
    }
    compared->metric = (size_t)sorted->sides[0];
    return true;
}

/* What is to be said of the whole program: top-down, as procedures of the runtime stand for those
 * that they are in. False when that view cannot be had. */
static bool find_advice(struct compared *compared, struct session *session)
{
    struct view *view = session_view(session, compared->projection, TOP_DOWN);
    if (view)
        compared->advice =
            (struct changes_printed){.comparison = compared->comparison,
                                     .view = view,
                                     .list = changes_of(compared->comparison, view, 0)};
    return view != NULL;
}

int print_comparison(struct session *session, const struct print_options *options, FILE *out)
{
    static void (*const printers[FORMATS])(const struct compared *) = {
        [FORMAT_TEXT] = print_text, [FORMAT_CSV] = print_csv, [FORMAT_JSON] = print_json};
    struct compared compared = {.session = session,
                                .view = session_view(session, options->projection, BOTTOM_UP),
                                .projection = options->projection,
                                .out = out};
    if (!compared.view)
        return session_exit_status(session);
    compared.comparison = session_comparison(session, options->projection);
    struct sorting sorting = compared.view->sorting;
    if (!choose_metric(&compared, options->sort))
        return 2;
    if (!find_advice(&compared, session))
        return 1;
    find_changed(&compared);
    printers[options->format](&compared);
    vec_free(&compared.advice.list);
    view_sort(compared.view, sorting);
    return problem_text() ? 1 : 0;
}
