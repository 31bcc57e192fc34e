/* The threads in three formats: the costs of each of all metrics, with statistics over the threads at the end. */
#include "viewer-tui/output/print.h"

#include "lib/diag.h"
#include "viewer-tui/compare/session-databases.h"
#include "viewer-tui/db/run.h"
#include "viewer-tui/metrics/efficiency.h"
#include "viewer-tui/table/columns.h"
#include "viewer-tui/table/table.h"
#include "viewer-tui/threads/thread-origin.h"
#include "viewer-tui/threads/thread-totals.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sums over many threads are larger than costs in the trees. */
#define TOTAL_WIDTH  12
#define COLUMN_WIDTH (TOTAL_WIDTH + PERCENT_WIDTH)
#define ID_WIDTH     9
#define LEAST_NAME   16

/* A thread, or a statistic over all. */
struct thread_line {
    const char *kind; /* "thread", "sum" */
    int64_t profile, pid, tid, rank;
    int64_t samples, dropped, partial; /* of all events: fired, without a path, with an incomplete path */
    const char *name, *command, *id, *host, *start_routine, *root;
    char *description, *created_at; /* for text; for CSV */
    const json_t *path;
    const double *totals;
};

#define MEMBER(name)        .place = offsetof(struct thread_line, name)
#define ID(key, kind, name) {NULL, key, key, NULL, kind, MEMBER(name)}
#define IDS                 17

static const struct table_column id_columns[IDS] = {
    {NULL, "kind", NULL, NULL, OF_TEXT, MEMBER(kind)},
    ID("profile", OF_INTEGER, profile),
    {"process", "pid", "pid", NULL, OF_INTEGER, MEMBER(pid), .width = ID_WIDTH},
    {"thread", "tid", "tid", NULL, OF_INTEGER, MEMBER(tid), .width = ID_WIDTH},
    ID("name", OF_TEXT, name),
    {"name", NULL, NULL, NULL, OF_TEXT, MEMBER(description)},
    ID("command", OF_TEXT, command),
    ID("id", OF_TEXT, id),
    ID("host", OF_TEXT, host),
    ID("rank", OF_INTEGER, rank),
    ID("samples", OF_INTEGER, samples),
    ID("dropped", OF_INTEGER, dropped),
    ID("partial", OF_INTEGER, partial),
    ID("start_routine", OF_TEXT, start_routine),
    ID("root", OF_TEXT, root),
    {NULL, NULL, "created_at", NULL, OF_JSON, MEMBER(path), .write = thread_origin_write},
    {NULL, "created_at", NULL, NULL, OF_TEXT, MEMBER(created_at)}};

/* The line of text of a statistic: its name in place of the thread's. */
static const struct table_column statistic_column = {
    "", NULL, NULL, NULL, OF_TEXT, MEMBER(kind), .width = ID_WIDTH};

typedef VEC(struct thread_line) thread_lines;

/* The costs of all threads. */
struct threads_table {
    struct writer writer;
    const struct session *session;
    const struct database *db;
    const struct metrics *metrics;
    struct threads threads;
    double *totals; /* thread_totals */
    bool hosts_differ;
    size_t width;                     /* columns of a terminal that are taken */
    table_columns columns;            /* ids, then costs */
    thread_lines lines;               /* threads, then statistics */
};

/* The totals of a line: a thread, or after these a statistic. */
static const double *totals_of(const struct threads_table *table, size_t line)
{
    return table->totals + line * table->metrics->n;
}

static const double *statistic(const struct threads_table *table, enum statistic statistic)
{
    return totals_of(table, table->threads.list.n + statistic);
}

static double magnitude(const void *table, size_t metric)
{
    double sum = statistic(table, SUM)[metric];
    return isfinite(sum) ? sum : statistic(table, LARGEST)[metric];
}

/* Adds the columns of a metric: the cost, and in CSV and JSON its percentage of effort. */
static void add_columns(struct threads_table *table, size_t m)
{
    struct number_scale scale = columns_scale_beside(table->metrics, m, magnitude, table);
    double whole = statistic(table, SUM)[metrics_whole(table->metrics, m)];
    struct table_column cost = table_cost_column(table->metrics, m, NULL, scale, whole);
    cost.place = offsetof(struct thread_line, totals);
    cost.width = COLUMN_WIDTH;
    if (cost.title && table->writer.is_terminal && !table->session->metric_list &&
        table->width + COLUMN_WIDTH > table->writer.width) { /* on a terminal, those that fit */
        free((char *)cost.title);
        cost.title = NULL;
    }
    table->width += cost.title ? COLUMN_WIDTH : 0;
    vec_push(&table->columns, cost);
    if (metric_is_of_effort(&table->metrics->at[m]) && cost.head)
        vec_push(&table->columns, table_percent_column(&cost, false));
}

/* What text says before the table. */
static void print_head(struct threads_table *table)
{
    const struct metrics *metrics = table->metrics;
    struct writer *writer = &table->writer;
    size_t n = table->threads.list.n;
    writer_line(writer, "%zu thread%s", n, n == 1 ? "" : "s");
    metrics_each (m, metrics, metrics_with_columns) {
        if (!metric_is_sum(&metrics->at[m]))
            continue;
        writer_say(writer, "%s = ", metrics->at[m].name);
        efficiency_add_formula(metrics, m, &writer->line);
        writer_line(writer, ", whose percentages are of the effort of all threads");
    }
    writer_end_line(writer);
}

/* "rank 3: solver  (of 100 samples 2 dropped, 1 partial)  created at start pool.c:12" */
static void add_description(const struct threads_table *table, const struct thread *thread,
                            const struct thread_line *line, struct text *out)
{
    bool ascii = table->writer.ascii;
    if (thread->process)
        run_add_place(thread->process, table->hosts_differ, ascii, out);
    text_add_clean(out, thread->pid >= 0 ? thread->name : thread->id, ascii);
    if (line->dropped || line->partial)
        text_printf(out, "  (of %" PRId64 " samples %" PRId64 " dropped, %" PRId64 " partial)", line->samples,
                    line->dropped, line->partial);
    if (thread->created_at) {
        text_add(out, "  created at ");
        thread_origin_add(thread->created_at, ascii, out);
    }
}

static void count_samples(const json_t *described, struct thread_line *line)
{
    json_t *tally;
    const char *name;
    json_each (event, json_object_get(described, "events")) {
        json_object_foreach(json_object_get(event, "fates"), name, tally)
        {
            double count = run_number(tally, "count");
            int64_t n = count > 0 && count < 1e18 ? (int64_t)count : 0;
            if (strcmp(name, "fired") == 0)
                line->samples += n;
            else if (strncmp(name, "dropped: ", strlen("dropped: ")) == 0)
                line->dropped += n;
            else if (strncmp(name, "partial: ", strlen("partial: ")) == 0)
                line->partial += n;
        }
    }
}

static const char *text_or_null(const json_t *object, const char *key)
{
    const char *text = run_text(object, key);
    return *text ? text : NULL;
}

static void add_line(struct threads_table *table, size_t i)
{
    const struct thread *thread = &table->threads.list.at[i];
    struct text description = {0}, created_at = {0};
    if (thread->created_at)
        thread_origin_add(thread->created_at, false, &created_at);
    struct thread_line line = {.kind = "thread",
                               .profile = thread->profile,
                               .pid = thread->pid,
                               .tid = thread->tid,
                               .rank = run_rank(thread->process),
                               .name = thread->name,
                               .command = run_text(thread->process, "command"),
                               .id = thread->id,
                               .host = run_text(thread->process, "host"),
                               .start_routine = text_or_null(thread->described, "start_routine"),
                               .root = text_or_null(thread->described, "root"),
                               .created_at = created_at.at,
                               .path = thread->created_at,
                               .totals = totals_of(table, i)};
    count_samples(thread->described, &line);
    add_description(table, thread, &line, &description);
    text_add(&description, "");
    line.description = description.at;
    vec_push(&table->lines, line);
}

/* The largest first, then those that are not defined. */
static int compare_totals(const void *left, const void *right, void *metric)
{
    const struct thread_line *a = left, *b = right;
    double total_a = a->totals[*(size_t *)metric], total_b = b->totals[*(size_t *)metric];
    if (isnan(total_a) != isnan(total_b))
        return isnan(total_a) ? 1 : -1;
    if (total_a < total_b || total_a > total_b)
        return total_a < total_b ? 1 : -1;
    return (a->profile > b->profile) - (a->profile < b->profile);
}

/* `sorted_by`: the metric whose largest totals come first; NULL: threads are in their order. */
static struct data_table table_of(struct threads_table *table, size_t *sorted_by)
{
    static const char *const names[STATISTICS] = {
        [SUM] = "sum", [LEAST] = "min", [MEAN] = "mean", [LARGEST] = "max"};
    size_t n = table->threads.list.n;
    for (size_t i = 0; i < IDS; i++)
        vec_push(&table->columns, id_columns[i]);
    vec_push(&table->columns, (struct table_column){.group = "metrics"});
    vec_push(&table->columns, (struct table_column){.group = "percent_of_effort"});
    for (size_t m = 0; m < table->metrics->n; m++)
        add_columns(table, m);
    for (size_t i = 0; i < n; i++)
        add_line(table, i);
    if (sorted_by && n)
        qsort_r(table->lines.at, n, sizeof *table->lines.at, compare_totals, sorted_by);
    for (int s = 0; s < STATISTICS; s++)
        vec_push(&table->lines, (struct thread_line){.kind = names[s], -1, -1, -1, -1, -1, -1, -1,
                                                     .totals = statistic(table, (enum statistic)s)});
    return (struct data_table){table->columns.at,          table->columns.n, table->lines.at,
                          sizeof *table->lines.at, table->lines.n, table->metrics};
}

/* The sum and the statistics, below the threads. */
static void write_statistics_text(struct threads_table *table, struct data_table *all)
{
    size_t sum = table->threads.list.n + SUM;
    writer_end_line(&table->writer);
    for (size_t i = 0; i < IDS; i++)
        table->columns.at[i].title = NULL;
    table->columns.at[0] = statistic_column;
    table_write_lines(all, &table->writer, sum, sum + 1, false);
    table_write_lines(all, &table->writer, sum + 1, all->n_rows, true);
}

static void write_statistics_json(struct threads_table *table, const struct data_table *all)
{
    struct json_writer *json = &table->writer.json;
    size_t n = table->threads.list.n;
    json_print(json, "statistics:{");
    for (size_t s = n; s < n + STATISTICS; s++)
        table_write_group(all, &table->writer, s, "metrics", table->lines.at[s].kind);
    json_print(json, "} statistics_percent_of_effort:{");
    for (size_t s = n; s < n + STATISTICS; s++)
        table_write_group(all, &table->writer, s, "percent_of_effort", table->lines.at[s].kind);
    json_print(json, "}");
}

static void write_threads(struct threads_table *table, enum projection projection, size_t *sorted_by)
{
    struct data_table all = table_of(table, sorted_by);
    struct writer *writer = &table->writer;
    writer_head(writer, table->session, table->db, "threads", projection);
    if (writer->format == FORMAT_TEXT)
        print_head(table);
    table_write(&all, writer, "threads", table->threads.list.n);
    if (writer->format == FORMAT_TEXT)
        write_statistics_text(table, &all);
    else if (writer->format == FORMAT_JSON)
        write_statistics_json(table, &all);
    table_columns_free(&table->columns);
    for (size_t i = 0; i < table->lines.n; i++) {
        free(table->lines.at[i].description);
        free(table->lines.at[i].created_at);
    }
    vec_free(&table->lines);
}

int print_threads(struct session *session, struct view *view, const struct print_options *options, FILE *out)
{
    (void)view; /* costs of threads are in no view */
    const struct database *db = session_database(session, options->projection);
    struct sorting sorting;
    if (!db)
        return session_exit_status(session);
    if (!print_sorting(session, &db->metrics, options->sort, &sorting))
        return 2;
    struct threads_table table = {.session = session,
                                  .db = db,
                                  .metrics = &db->metrics,
                                  .width = 2 * ID_WIDTH + LEAST_NAME,
                                  .hosts_differ = run_hosts_differ(session->run)};
    threads_read(&table.threads, db, session->run, false);
    thread_set_keep(session->threads, &table.threads);
    table.totals = thread_totals(&table.threads, db);
    writer_open(&table.writer, options->format, options->width, out);
    write_threads(&table, options->projection, options->sort ? &sorting.metric : NULL);
    writer_free(&table.writer);
    free(table.totals);
    threads_free(&table.threads);
    return 0;
}
