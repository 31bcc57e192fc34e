/* What a procedure costs in each thread, as text, as comma-separated values and as JSON, with
 * statistics at the end. */
#include "viewer-tui/output/print.h"

#include "lib/diag.h"
#include "lib/number.h"
#include "viewer-tui/base/task.h"
#include "viewer-tui/db/run.h"
#include "viewer-tui/output/columns.h"
#include "viewer-tui/output/csv.h"
#include "viewer-tui/output/metric-json.h"
#include "viewer-tui/tree/describe.h"
#include "viewer-tui/tree/label.h"
#include "viewer-tui/tree/view.h"
#include "viewer-tui/tree/pattern.h"
#include "viewer-tui/tree/thread-costs.h"

#include <math.h>

#define STATISTICS_OF_SPREAD 6

/* So many of the procedures that match too much are named. */
#define MOST_NAMED 5

struct printing {
    const struct session *session;
    struct thread_costs costs;
    const struct metric *metric;
    struct text name; /* of the procedure */
    enum projection projection;
    FILE *out;
};

struct named_number {
    const char *name;
    double value;
};

/* How far lower bounds lie apart says nothing of the values that they bound. */
static void statistics_of(const struct printing *printing,
                          struct named_number statistics[STATISTICS_OF_SPREAD])
{
    const struct distribution *distribution = &printing->costs.distribution;
    bool is_bound = metric_is_lower_bound(printing->metric);
    const struct named_number all[STATISTICS_OF_SPREAD] = {
        {"min", distribution->min},
        {"mean", distribution->mean},
        {"median", distribution->median},
        {"max", distribution->max},
        {"stddev", is_bound ? NAN : distribution->stddev},
        {"max/mean", is_bound ? NAN : distribution->imbalance}};
    for (int s = 0; s < STATISTICS_OF_SPREAD; s++)
        statistics[s] = all[s];
}

static const char *part_name(const struct printing *printing)
{
    return printing->costs.part == INCLUSIVE ? "inclusive" : "exclusive";
}

static void print_text(struct printing *printing)
{
    const struct thread_costs *costs = &printing->costs;
    bool ascii = describe_in_ascii();
    struct number_scale scale = number_scale_for(costs->distribution.max, printing->metric->unit);
    struct named_number statistics[STATISTICS_OF_SPREAD];
    char number[NUMBER_SIZE], percent[NUMBER_SIZE];
    struct text line = {0};
    text_add_clean(&line, text_string(&printing->name), ascii);
    text_add(&line, ": ");
    columns_title(printing->metric, scale.unit, ascii, &line);
    text_printf(&line, ", %s", part_name(printing));
    text_end_line(&line, printing->out);
    text_end_line(&line, printing->out);
    for (size_t i = 0; i < costs->threads.list.n; i++) {
        double value = costs->values[costs->order[i]];
        columns_value(printing->metric, value, &scale, number);
        number_percent(value, costs->distribution.sum, percent);
        text_add_right(&line, number, VALUE_WIDTH);
        text_printf(&line, "%*s%s  %s", PERCENT_WIDTH - 1,
                    value != 0 && !printing->metric->is_ratio ? percent : "",
                    value != 0 && !printing->metric->is_ratio ? "%" : " ",
                    costs->labels[costs->order[i]]);
        text_end_line(&line, printing->out);
    }
    text_end_line(&line, printing->out);
    statistics_of(printing, statistics);
    for (int s = 0; s < STATISTICS_OF_SPREAD; s++) {
        columns_value(printing->metric, statistics[s].value, &scale, number);
        if (s == STATISTICS_OF_SPREAD - 1 && !isnan(statistics[s].value))
            snprintf(number, sizeof number, "%.2f", statistics[s].value);
        text_add_right(&line, number, VALUE_WIDTH);
        text_printf(&line, "%*s  %s", PERCENT_WIDTH, "", statistics[s].name);
        text_end_line(&line, printing->out);
    }
    vec_free(&line);
}

static void print_csv(struct printing *printing)
{
    const struct thread_costs *costs = &printing->costs;
    struct csv csv = {.out = printing->out};
    struct named_number statistics[STATISTICS_OF_SPREAD];
    struct text head = {0};
    text_printf(&head, "%s%s:%s", printing->metric->name, csv_state(printing->metric),
                part_name(printing));
    const char *const columns[] = {"kind", "profile", "thread", text_string(&head)};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        csv_text(&csv, columns[i]);
    csv_end_record(&csv);
    for (size_t i = 0; i < costs->threads.list.n; i++) {
        size_t thread = costs->order[i];
        csv_text(&csv, "thread");
        csv_integer(&csv, costs->threads.list.at[thread].profile);
        csv_text(&csv, costs->labels[thread]);
        csv_cost(&csv, printing->metric, costs->values[thread]);
        csv_end_record(&csv);
    }
    statistics_of(printing, statistics);
    for (int s = 0; s < STATISTICS_OF_SPREAD; s++) {
        csv_text(&csv, statistics[s].name);
        csv_text(&csv, NULL);
        csv_text(&csv, NULL);
        csv_cost(&csv, printing->metric, statistics[s].value);
        csv_end_record(&csv);
    }
    vec_free(&head);
}

static void print_json(struct printing *printing)
{
    const struct thread_costs *costs = &printing->costs;
    struct named_number statistics[STATISTICS_OF_SPREAD];
    struct json_writer json;
    json_write_start(&json, printing->out, 0);
    json_write_object(&json);
    json_write_text(&json, "title", session_title(printing->session, costs->view->db));
    json_write_text(&json, "view", "threads");
    json_write_text(&json, "projection", projection_name(printing->projection));
    json_write_text(&json, "of", text_string(&printing->name));
    json_write_text(&json, "metric", printing->metric->name);
    json_write_text(&json, "unit", printing->metric->unit);
    json_write_text(&json, "state", metric_state_name(printing->metric->state));
    if (printing->metric->why)
        json_write_text(&json, "why", printing->metric->why);
    json_write_text(&json, "part", part_name(printing));
    json_write_key(&json, "threads");
    json_write_array(&json);
    for (size_t i = 0; i < costs->threads.list.n; i++) {
        size_t thread = costs->order[i];
        json_write_break(&json);
        json_write_object(&json);
        json_write_key(&json, "profile");
        json_write_integer(&json, costs->threads.list.at[thread].profile);
        json_write_text(&json, "thread", costs->labels[thread]);
        json_write_key(&json, "value");
        json_write_cost(&json, printing->metric, costs->values[thread]);
        json_write_object_end(&json);
    }
    json_write_array_end(&json);
    json_write_key(&json, "statistics");
    json_write_object(&json);
    statistics_of(printing, statistics);
    for (int s = 0; s < STATISTICS_OF_SPREAD; s++) {
        json_write_key(&json, statistics[s].name);
        json_write_double(&json, statistics[s].value);
    }
    json_write_object_end(&json);
    json_write_object_end(&json);
    json_write_finish(&json);
}

/* The procedure whose name matches, a row of a bottom-up view; 0, with the complaint made, when
 * there is none or more than one. */
static uint32_t find_procedure(struct view *view, const char *expression)
{
    char *by_name = mem_printf("name:%s", expression);
    struct pattern *pattern = pattern_new(by_name);
    struct text names = {0};
    uint32_t found = 0, n_found = 0;
    view_expand(view, 0);
    for (uint32_t i = 0; i < view_row(view, 0)->n_children; i++) {
        uint32_t row = view_child(view, 0, i);
        if (!pattern_matches(pattern, view, row))
            continue;
        found = row;
        if (n_found++ < MOST_NAMED) {
            text_add(&names, n_found > 1 ? ", " : "");
            label_name(view, row, &names);
        }
    }
    if (n_found == 0)
        diag_error(view->db->folder, "--of: no procedure matches '%s'", expression);
    if (n_found > 1)
        diag_error(view->db->folder, "--of: %u procedures match '%s': %s%s", n_found, expression,
                   text_string(&names), n_found > MOST_NAMED ? ", ..." : "");
    vec_free(&names);
    pattern_free(pattern);
    free(by_name);
    return n_found == 1 ? found : 0;
}

int print_threads_of(struct session *session, const struct print_options *options, FILE *out)
{
    static void (*const printers[FORMATS])(struct printing *) = {
        [FORMAT_TEXT] = print_text, [FORMAT_CSV] = print_csv, [FORMAT_JSON] = print_json};
    struct view *view = session_view(session, options->projection, BOTTOM_UP);
    if (!view)
        return session_exit_status(session);
    struct sorting sorting = {.metric = view->sorting.metric, .part = INCLUSIVE};
    if (!print_sorting(session, view->metrics, options->sort, &sorting))
        return 2;
    uint32_t row = find_procedure(view, options->of);
    if (!row)
        return 2;
    struct printing printing = {.session = session,
                                .metric = &view->metrics->at[sorting.metric],
                                .projection = options->projection,
                                .out = out};
    label_name(view, row, &printing.name);
    thread_costs_open(&printing.costs, view, row, session->run, session->threads,
                      describe_in_ascii());
    thread_costs_read(&printing.costs, sorting.metric, sorting.part);
    thread_costs_sort(&printing.costs, options->sort ? BY_VALUE : BY_NUMBER, false);
    if (printing.costs.why)
        diag_error(view->db->folder, "'%s': %s", printing.metric->name, printing.costs.why);
    else
        printers[options->format](&printing);
    int status = printing.costs.why || problem_text() ? 1 : 0;
    thread_costs_free(&printing.costs);
    vec_free(&printing.name);
    return status;
}
