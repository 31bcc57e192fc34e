/* The threads in three formats: the costs of each of all metrics, or the costs of one procedure in
 * each thread (--of), with statistics over the threads at the end. */
#include "viewer-tui/output/print.h"

#include "lib/diag.h"
#include "viewer-tui/base/task.h"
#include "viewer-tui/db/run.h"
#include "viewer-tui/metrics/efficiency.h"
#include "viewer-tui/table/columns.h"
#include "viewer-tui/output/thread-table.h"
#include "viewer-tui/table/writer.h"
#include "viewer-tui/threads/run-threads.h"
#include "viewer-tui/threads/thread-origin.h"
#include "viewer-tui/tree/labels.h"
#include "viewer-tui/tree/pattern.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* Sums over many threads are larger than costs in the trees. */
#define TOTAL_WIDTH  12
#define COLUMN_WIDTH (TOTAL_WIDTH + PERCENT_WIDTH)
#define ID_WIDTH     9

/* At most this many of the procedures that match are named. */
#define MOST_NAMED 5

static const char *const id_columns[] = {
    "kind", "profile", "pid",     "tid",     "name",          "command", "id",        "host",
    "rank", "samples", "dropped", "partial", "start_routine", "root",    "created_at"};

/* The costs of all threads. */
struct threads_table {
    struct writer writer;
    const struct session *session;
    const struct database *db;
    const struct metrics *metrics;
    struct threads threads;
    bool hosts_differ;
};

static double magnitude(const void *threads, size_t metric)
{
    const struct threads *all = threads;
    double sum = all->statistics[SUM][metric];
    return isfinite(sum) ? sum : all->statistics[LARGEST][metric];
}

static struct number_scale scale_of(const struct threads_table *table, size_t metric)
{
    return columns_scale_beside(table->metrics, metric, magnitude, &table->threads);
}

static double whole_of(const struct threads_table *table, size_t metric)
{
    return threads_whole(&table->threads, table->metrics, metric);
}

static void text_costs(struct threads_table *table, const double *values, bool with_shares)
{
    const struct metrics *metrics = table->metrics;
    struct text *line = &table->writer.line;
    for (size_t m = metrics_with_columns(metrics, 0); m < metrics->n;
         m = metrics_with_columns(metrics, m + 1)) {
        char number[NUMBER_SIZE], percent[NUMBER_SIZE];
        double whole = whole_of(table, m);
        struct number_scale scale = scale_of(table, m);
        columns_value(&metrics->at[m], values[m], &scale, number);
        text_add_right(line, number, TOTAL_WIDTH);
        bool has_share = with_shares && metric_is_measured(&metrics->at[m]) &&
                         isfinite(values[m]) && values[m] != 0 && isfinite(whole) && whole != 0;
        if (has_share)
            number_percent(values[m], whole, percent);
        text_printf(line, "%*s%s", PERCENT_WIDTH - 1, has_share ? percent : "",
                    has_share ? "%" : " ");
    }
}

static void csv_costs(struct threads_table *table, const double *values)
{
    const struct metrics *metrics = table->metrics;
    for (size_t m = metrics_shown(metrics, 0); m < metrics->n; m = metrics_shown(metrics, m + 1)) {
        csv_cost(&table->writer, &metrics->at[m], values[m]);
        if (metric_is_of_effort(&metrics->at[m]))
            csv_percent(&table->writer, values[m], whole_of(table, m));
    }
}

static void json_costs(struct threads_table *table, const char *key, const double *values)
{
    const struct metrics *metrics = table->metrics;
    struct json_writer *json = &table->writer.json;
    json_put_object(json, key);
    for (size_t m = metrics_in_json(metrics, 0); m < metrics->n;
         m = metrics_in_json(metrics, m + 1))
        json_put_cost(json, metrics->at[m].name, &metrics->at[m], values[m]);
    json_write_object_end(json);
}

static void json_percentages(struct threads_table *table, const char *key, const double *values)
{
    const struct metrics *metrics = table->metrics;
    struct json_writer *json = &table->writer.json;
    json_put_object(json, key);
    for (size_t m = metrics_shown(metrics, 0); m < metrics->n; m = metrics_shown(metrics, m + 1))
        if (metric_is_of_effort(&metrics->at[m]))
            json_put_percent(json, metrics->at[m].name, values[m], whole_of(table, m));
    json_write_object_end(json);
}

/* Column titles stand in as many lines as they need, those of the ids in the first. */
static void text_heads(struct threads_table *table)
{
    const struct metrics *metrics = table->metrics;
    struct writer *writer = &table->writer;
    size_t n = table->threads.list.n;
    struct column_titles titles = {0};
    struct text title = {0};
    writer_run_line(writer, table->session, table->db);
    writer_line(writer, "%zu thread%s", n, n == 1 ? "" : "s");
    for (size_t m = metrics_with_columns(metrics, 0); m < metrics->n;
         m = metrics_with_columns(metrics, m + 1)) {
        if (metric_is_sum(&metrics->at[m])) {
            writer_clean(writer, metrics->at[m].name);
            text_add(&writer->line, " = ");
            efficiency_add_formula(metrics, m, &writer->line);
            writer_line(writer, ", whose percentages are of the effort of all threads");
        }
        text_clear(&title);
        columns_title(&metrics->at[m], scale_of(table, m).unit, writer->ascii, &title);
        column_titles_add(&titles, text_string(&title), COLUMN_WIDTH);
    }
    writer_end_line(writer);
    column_titles_line(&titles, false, &writer->line);
    writer_line(writer, "%*s%*s  name", ID_WIDTH, "process", ID_WIDTH, "thread");
    while (column_titles_line(&titles, false, &writer->line))
        writer_end_line(writer);
    column_titles_free(&titles);
    vec_free(&title);
}

static void csv_heads(struct threads_table *table)
{
    const struct metrics *metrics = table->metrics;
    struct text name = {0};
    csv_texts(&table->writer, id_columns, LENGTH(id_columns));
    for (size_t m = metrics_shown(metrics, 0); m < metrics->n; m = metrics_shown(metrics, m + 1)) {
        text_clear(&name);
        text_printf(&name, "%s%s", metrics->at[m].name, csv_state(&metrics->at[m]));
        csv_text(&table->writer, text_string(&name));
        text_add(&name, ":percent_of_effort");
        if (metric_is_of_effort(&metrics->at[m]))
            csv_text(&table->writer, text_string(&name));
    }
    csv_end_record(&table->writer);
    vec_free(&name);
}

static void json_heads(struct threads_table *table, enum projection projection)
{
    struct json_writer *json = &table->writer.json;
    json_write_text(json, "title", session_title(table->session, table->db));
    json_write_text(json, "view", "threads");
    json_write_text(json, "projection", projection_name(projection));
    json_put_metrics(json, "metrics", table->metrics);
    json_put_array(json, "threads");
}

/* "  rank 3: solver  (of 100 samples 2 dropped, 1 partial)  created at start pool.c:12" */
static void add_description(struct threads_table *table, const struct thread *thread)
{
    struct text *out = &table->writer.right;
    bool ascii = table->writer.ascii;
    text_add(out, "  ");
    if (thread->process)
        run_add_place(thread->process, table->hosts_differ, ascii, out);
    text_add_clean(out, thread->pid >= 0 ? thread->name : thread->id, ascii);
    if (thread->dropped || thread->partial)
        text_printf(out, "  (of %" PRIu64 " samples %" PRIu64 " dropped, %" PRIu64 " partial)",
                    thread->samples, thread->dropped, thread->partial);
    if (thread->created_at) {
        text_add(out, "  created at ");
        thread_origin_add(thread->created_at, ascii, out);
    }
}

static void write_created_at(struct writer *writer, const struct thread *thread)
{
    struct text created_at = {0};
    if (writer->class == &json_class) {
        json_write_key(&writer->json, "created_at");
        thread_origin_write(thread->created_at, &writer->json);
        return;
    }
    if (thread->created_at)
        thread_origin_add(thread->created_at, false, &created_at);
    writer_text(writer, "created_at", thread->created_at ? text_string(&created_at) : NULL);
    vec_free(&created_at);
}

static const char *text_or_null(const json_t *object, const char *key)
{
    const char *text = run_text(object, key);
    return *text ? text : NULL;
}

static void write_thread(struct threads_table *table, const struct thread *thread)
{
    struct writer *writer = &table->writer;
    writer_row(writer, "thread");
    writer_integer(writer, "profile", thread->profile, 0);
    writer_integer(writer, "pid", thread->pid, ID_WIDTH);
    writer_integer(writer, "tid", thread->tid, ID_WIDTH);
    writer_text(writer, "name", thread->name);
    writer_text(writer, "command", run_text(thread->process, "command"));
    writer_text(writer, "id", thread->id);
    writer_text(writer, "host", run_text(thread->process, "host"));
    writer_integer(writer, "rank", run_rank(thread->process), 0);
    writer_integer(writer, "samples", (int64_t)thread->samples, 0);
    writer_integer(writer, "dropped", (int64_t)thread->dropped, 0);
    writer_integer(writer, "partial", (int64_t)thread->partial, 0);
    writer_text(writer, "start_routine", text_or_null(thread->described, "start_routine"));
    writer_text(writer, "root", text_or_null(thread->described, "root"));
    write_created_at(writer, thread);
    if (writer->class == &text_class) {
        text_costs(table, thread->totals, true);
        add_description(table, thread);
    } else if (writer->class == &csv_class) {
        csv_costs(table, thread->totals);
    } else {
        json_costs(table, "metrics", thread->totals);
        json_percentages(table, "percent_of_effort", thread->totals);
    }
    writer_end_row(writer);
}

/* A row of text or CSV for each statistic. */
static void write_statistics(struct threads_table *table)
{
    struct writer *writer = &table->writer;
    for (int s = 0; s < STATISTICS; s++) {
        const char *name = statistic_name((enum statistic)s);
        writer_row(writer, name);
        if (writer->class == &text_class) {
            text_costs(table, table->threads.statistics[s], s != SUM);
            text_printf(&writer->right, "%*s", ID_WIDTH, name);
        } else {
            csv_texts(writer, NULL, LENGTH(id_columns) - 1);
            csv_costs(table, table->threads.statistics[s]);
        }
        writer_end_row(writer);
    }
}

static void json_statistics(struct threads_table *table)
{
    struct json_writer *json = &table->writer.json;
    json_put_object(json, "statistics");
    for (int s = 0; s < STATISTICS; s++)
        json_costs(table, statistic_name((enum statistic)s), table->threads.statistics[s]);
    json_write_object_end(json);
    json_put_object(json, "statistics_percent_of_effort");
    for (int s = 0; s < STATISTICS; s++)
        json_percentages(table, statistic_name((enum statistic)s), table->threads.statistics[s]);
    json_write_object_end(json);
}

static void write_threads(struct threads_table *table, enum projection projection)
{
    const struct writer_class *class = table->writer.class;
    if (class == &text_class)
        text_heads(table);
    else if (class == &csv_class)
        csv_heads(table);
    else
        json_heads(table, projection);
    for (size_t i = 0; i < table->threads.list.n; i++)
        write_thread(table, &table->threads.list.at[i]);
    if (class == &json_class) {
        json_write_array_end(&table->writer.json);
        json_statistics(table);
        return;
    }
    if (class == &text_class)
        writer_end_line(&table->writer);
    write_statistics(table);
}

/* ---- One procedure in each thread ---- */

struct procedure_table {
    struct writer writer;
    const struct metric *metric;
    struct thread_costs costs;
    struct text name; /* of the procedure */
};

static const char *part_name(const struct procedure_table *table)
{
    return table->costs.part == INCLUSIVE ? "inclusive" : "exclusive";
}

static void write_procedure_text(struct procedure_table *table, const struct session *session)
{
    const struct thread_costs *costs = &table->costs;
    struct writer *writer = &table->writer;
    struct thread_table lines = thread_table_of(costs, costs->distribution.max, writer->ascii);
    struct thread_statistic statistics[THREAD_STATISTICS];
    char number[NUMBER_SIZE];
    writer_run_line(writer, session, costs->view->db);
    writer_clean(writer, text_string(&table->name));
    text_add(&writer->line, ": ");
    thread_table_add_title(&lines, &writer->line);
    writer_line(writer, "\n");
    for (size_t i = 0; i < costs->threads.list.n; i++) {
        thread_table_add_value(&lines, costs->order[i], &writer->line);
        writer_line(writer, "%s", costs->labels[costs->order[i]]);
    }
    writer_end_line(writer);
    thread_table_statistics(&lines, statistics);
    for (int s = 0; s < THREAD_STATISTICS; s++) {
        columns_value(table->metric, statistics[s].value, &lines.scale, number);
        if (statistics[s].is_factor && !isnan(statistics[s].value))
            snprintf(number, sizeof number, "%.2f", statistics[s].value);
        text_add_right(&writer->line, number, VALUE_WIDTH);
        writer_line(writer, "%*s  %s", PERCENT_WIDTH, "", statistics[s].name);
    }
}

static void write_procedure_csv(struct procedure_table *table)
{
    const struct thread_costs *costs = &table->costs;
    struct writer *writer = &table->writer;
    struct thread_table lines = thread_table_of(costs, costs->distribution.max, false);
    struct thread_statistic statistics[THREAD_STATISTICS];
    struct text head = {0};
    text_printf(&head, "%s%s:%s", table->metric->name, csv_state(table->metric), part_name(table));
    csv_texts(writer, (const char *const[]){"kind", "profile", "thread", text_string(&head)}, 4);
    csv_end_record(writer);
    for (size_t i = 0; i < costs->threads.list.n; i++) {
        size_t thread = costs->order[i];
        csv_text(writer, "thread");
        csv_integer(writer, costs->threads.list.at[thread].profile);
        csv_text(writer, costs->labels[thread]);
        csv_cost(writer, table->metric, costs->values[thread]);
        csv_end_record(writer);
    }
    thread_table_statistics(&lines, statistics);
    for (int s = 0; s < THREAD_STATISTICS; s++) {
        csv_texts(writer, (const char *const[]){statistics[s].name, NULL, NULL}, 3);
        csv_cost(writer, table->metric, statistics[s].value);
        csv_end_record(writer);
    }
    vec_free(&head);
}

static void write_procedure_json(struct procedure_table *table, const struct session *session,
                                 enum projection projection)
{
    const struct thread_costs *costs = &table->costs;
    const struct metric *metric = table->metric;
    struct thread_table lines = thread_table_of(costs, costs->distribution.max, false);
    struct thread_statistic statistics[THREAD_STATISTICS];
    struct json_writer *json = &table->writer.json;
    json_write_text(json, "title", session_title(session, costs->view->db));
    json_write_text(json, "view", "threads");
    json_write_text(json, "projection", projection_name(projection));
    json_write_text(json, "of", text_string(&table->name));
    json_write_text(json, "metric", metric->name);
    json_write_text(json, "unit", metric->unit);
    json_write_text(json, "state", metric_state_name(metric->state));
    if (metric->why)
        json_write_text(json, "why", metric->why);
    json_write_text(json, "part", part_name(table));
    json_put_array(json, "threads");
    for (size_t i = 0; i < costs->threads.list.n; i++) {
        size_t thread = costs->order[i];
        writer_row(&table->writer, NULL);
        json_put_integer(json, "profile", costs->threads.list.at[thread].profile);
        json_write_text(json, "thread", costs->labels[thread]);
        json_put_cost(json, "value", metric, costs->values[thread]);
        writer_end_row(&table->writer);
    }
    json_write_array_end(json);
    json_put_object(json, "statistics");
    thread_table_statistics(&lines, statistics);
    for (int s = 0; s < THREAD_STATISTICS; s++)
        json_put_number(json, statistics[s].name, statistics[s].value);
    json_write_object_end(json);
}

/* The row of a bottom-up view whose procedure matches; 0, with the error reported, unless exactly
 * one does. */
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

static void write_procedure(struct procedure_table *table, const struct session *session,
                            const struct print_options *options, FILE *out)
{
    writer_open(&table->writer, print_class(options->format), out);
    if (options->format == FORMAT_TEXT)
        write_procedure_text(table, session);
    else if (options->format == FORMAT_CSV)
        write_procedure_csv(table);
    else
        write_procedure_json(table, session, options->projection);
    writer_free(&table->writer);
}

static int print_threads_of(struct session *session, const struct print_options *options, FILE *out)
{
    struct view *view = session_view(session, options->projection, BOTTOM_UP);
    if (!view)
        return session_exit_status(session);
    struct sorting sorting = {.metric = view->sorting.metric, .part = INCLUSIVE};
    if (!print_sorting(session, view->metrics, options->sort, &sorting))
        return 2;
    uint32_t row = find_procedure(view, options->of);
    if (!row)
        return 2;
    struct procedure_table table = {.metric = &view->metrics->at[sorting.metric]};
    label_name(view, row, &table.name);
    thread_costs_open(&table.costs, view, row, session->run, session->threads, describe_in_ascii());
    thread_costs_read(&table.costs, sorting.metric, sorting.part);
    thread_costs_sort(&table.costs, options->sort ? BY_VALUE : BY_NUMBER, false);
    if (table.costs.why)
        diag_error(view->db->folder, "'%s': %s", table.metric->name, table.costs.why);
    else
        write_procedure(&table, session, options, out);
    int status = table.costs.why || problem_text() ? 1 : 0;
    thread_costs_free(&table.costs);
    vec_free(&table.name);
    return status;
}

int print_threads(struct session *session, const struct print_options *options, FILE *out)
{
    if (options->of)
        return print_threads_of(session, options, out);
    const struct database *db = session_database(session, options->projection);
    struct sorting sorting;
    if (!db)
        return session_exit_status(session);
    if (!print_sorting(session, &db->metrics, options->sort, &sorting))
        return 2;
    struct threads_table table = {.session = session,
                                  .db = db,
                                  .metrics = &db->metrics,
                                  .hosts_differ = run_hosts_differ(session->run)};
    threads_read(&table.threads, db, session->run);
    thread_set_keep(session->threads, &table.threads, &db->metrics);
    if (options->sort)
        threads_sort(&table.threads, sorting.metric);
    writer_open(&table.writer, print_class(options->format), out);
    if (options->width)
        table.writer.width = options->width;
    write_threads(&table, options->projection);
    writer_free(&table.writer);
    threads_free(&table.threads);
    return problem_text() ? 1 : 0;
}
