/* A tree for programs.
 *
 * CSV: a record per row in the order of the walk, so that the rows below a row follow it with a larger depth. A
 * comparison has a column "in": the databases that have the row.
 *
 * JSON: the tree of the manual page hpcviewer(1). Rows of the flat view can also be of the kinds "module" and "file",
 * those of several programs of the kind "program". Further members, where they apply:
 *
 *     call_site         of a scope that is called or inlined; its "state" is "unknown" if the site is not known,
 *                       "several" if calls from several sites are compared as one
 *     created_at        of a start routine below <thread root>, the calls that created its threads:
 *                       [{"threads":2,"path":[{"name":..,"file":..,"line":..}]}]
 *     databases, in     of a comparison {"name", "path"} of each; a row then says which it is "in"
 *     called            of a metric that has another name in its database
 *     filters           the active filters, as the viewer shows them
 *     program, threads  which threads the values are sums over, unless over all
 *     inlined           "folded" if inlined code is folded into procedures (fold.h)
 *     recursion         "collapsed" if recursion is collapsed (fold.h)
 *
 * Costs are null if the metric was not measured. Where effort is shown, the costs that are a part of it come with
 * percentages of the whole program's effort. */
#include "viewer-tui/output/print.h"

#include "viewer-tui/compare/comparison.h"
#include "viewer-tui/compare/session-titles.h"
#include "viewer-tui/table/columns.h"
#include "viewer-tui/table/table.h"
#include "viewer-tui/tree/labels.h"
#include "viewer-tui/tree/row-origins.h"

#include <stdlib.h>

static const char *const part_names[] = {[INCLUSIVE] = "inclusive", [EXCLUSIVE] = "exclusive"};

/* What programs learn of a row. Texts are NULL and lines below 0 if unknown. */
struct row_facts {
    int64_t depth, line, call_line;
    const char *kind, *name, *file, *module, *call_file;
    const char *in;               /* the names of the databases that have it, "a,b" */
    uint32_t row;                 /* whose costs CSV has */
    const char *call_site_state;  /* "unknown", "several"; else NULL */
    bool has_call_site;
};

#define FACT(head, key, kind, member) {NULL, head, key, NULL, kind, .place = offsetof(struct row_facts, member)}
#define FACTS                         10

static const struct table_column fact_columns[FACTS] = {
    FACT("depth", NULL, OF_INTEGER, depth),
    FACT("kind", NULL, OF_TEXT, kind),
    FACT("name", "name", OF_TEXT, name),
    FACT(NULL, "kind", OF_TEXT, kind),
    FACT("file", "file", OF_TEXT, file),
    FACT("line", "line", OF_INTEGER, line),
    FACT("module", "module", OF_TEXT, module),
    FACT("call_file", NULL, OF_TEXT, call_file),
    FACT("call_line", NULL, OF_INTEGER, call_line),
    FACT("in", NULL, OF_TEXT, in)}; /* of comparisons only */

/* A metric of JSON, and which parts of it have columns. */
struct shown_metric {
    size_t metric;
    bool has_part[EXCLUSIVE + 1];
};

struct data_printer {
    struct writer writer;
    const struct tree *tree;
    const struct merged_runs *comparison; /* NULL: none */
    struct columns columns;
    struct row_facts facts; /* of the current row */
    struct text name, in;   /* its texts that are made */
    table_columns shown; /* the facts, and of CSV the costs */
    VEC(struct shown_metric) metrics; /* in the order of the columns */
};

/* Valid until the next row is read. */
static void read_facts(struct data_printer *printer, const struct view *view, uint32_t number)
{
    struct row_facts *facts = &printer->facts;
    const struct row *row = view_row(view, number);
    uint32_t origin_row = number, line;
    const struct database *db = view_origin(view, &origin_row)->db;
    text_clear(&printer->name);
    label_name(view, number, &printer->name);
    facts->name = text_string(&printer->name);
    facts->kind = label_kind(row->kind);
    facts->file = label_path(view, number, &line);
    facts->line = line ? (int64_t)line : -1;
    facts->module = label_module_path(view, number);
    facts->has_call_site = row->call_file != NOTHING || row->call_line;
    facts->call_file = database_file_path(db, row->call_file);
    facts->call_line = row->call_line ? (int64_t)row->call_line : -1;
    facts->call_site_state = row->has_several_call_sites ? "several"
                             : row->no_call_site         ? "unknown"
                                                         : NULL;
}

/* The name of the database if the row is in it, else NULL. */
static const char *name_if_in(const struct data_printer *printer, uint32_t row, int side)
{
    return comparison_has(printer->tree->view, row, side) ? comparison_name(printer->comparison, side) : NULL;
}

static struct data_printer open_printer(const struct tree *tree, enum format format)
{
    struct data_printer printer = {
        .tree = tree,
        .comparison = comparison_of(tree->view),
        .columns = tree->columns ? *tree->columns : columns_all(tree->view)};
    for (size_t i = 0; i < FACTS; i++)
        vec_push(&printer.shown, fact_columns[i]);
    if (!printer.comparison)
        printer.shown.at[FACTS - 1].head = NULL;
    if (format == FORMAT_JSON && !tree->columns)
        columns_add_internal(&printer.columns, tree->view);
    for (size_t i = 0; i < printer.columns.n; i++) {
        const struct column *column = &printer.columns.at[i];
        size_t m = 0;
        while (m < printer.metrics.n && printer.metrics.at[m].metric != column->metric)
            m++;
        if (m == printer.metrics.n)
            vec_push(&printer.metrics, (struct shown_metric){.metric = column->metric});
        printer.metrics.at[m].has_part[column->part] = true;
    }
    writer_open(&printer.writer, format, 0, tree->out);
    return printer;
}

static void close_printer(struct data_printer *printer)
{
    if (!printer->tree->columns)
        free(printer->columns.at);
    table_columns_free(&printer->shown);
    vec_free(&printer->metrics);
    vec_free(&printer->name);
    vec_free(&printer->in);
    writer_free(&printer->writer);
}

/* ---- CSV ---- */

/* Adds the columns of a metric: costs, and percentages of effort. */
static void add_columns(struct data_printer *printer, const struct column *columns, size_t n)
{
    const struct view *view = printer->tree->view;
    size_t first = printer->shown.n;
    for (size_t i = 0; i < n; i++) {
        struct table_column column = table_view_column(view, columns->metric, columns[i].part);
        column.place = offsetof(struct row_facts, row);
        vec_push(&printer->shown, column);
    }
    for (size_t i = first; i < first + n && metric_is_of_effort(&view->metrics->at[columns->metric]); i++) {
        struct table_column percent = table_percent_column(&printer->shown.at[i], true);
        vec_push(&printer->shown, percent);
    }
}

static struct data_table table_of(const struct data_printer *printer)
{
    return (struct data_table){printer->shown.at, printer->shown.n, &printer->facts, sizeof printer->facts, 1,
                               printer->tree->view->metrics};
}

static void enter_csv(void *context, struct view *view, uint32_t number, uint32_t level)
{
    struct data_printer *printer = context;
    struct data_table table = table_of(printer);
    read_facts(printer, view, number);
    printer->facts.depth = level;
    text_clear(&printer->in);
    for (int side = 0; printer->comparison && side < SIDES; side++)
        if (name_if_in(printer, number, side))
            text_printf(&printer->in, "%s%s", printer->in.n ? "," : "", name_if_in(printer, number, side));
    printer->facts.in = text_string(&printer->in);
    printer->facts.row = number;
    table_write_records(&table, &printer->writer);
}

void print_tree_csv(const struct tree *tree)
{
    struct data_printer printer = open_printer(tree, FORMAT_CSV);
    for (size_t i = 0, n; i < printer.columns.n; i += n) {
        n = columns_of_metric(&printer.columns, i);
        add_columns(&printer, &printer.columns.at[i], n);
    }
    struct data_table table = table_of(&printer);
    table_write_names(&table, &printer.writer);
    struct visitor visitor = {.enter = enter_csv, .context = &printer};
    walk_visible(tree->filtered, tree->root, &tree->limits, NULL, &visitor);
    close_printer(&printer);
}

/* ---- JSON ---- */

static void write_cost(struct data_printer *printer, uint32_t row, const struct shown_metric *shown)
{
    static const char *const percents[] = {
        [INCLUSIVE] = "inclusive_percent_of_effort", [EXCLUSIVE] = "exclusive_percent_of_effort"};
    const struct view *view = printer->tree->view;
    const struct metric *metric = &view->metrics->at[shown->metric];
    struct json_writer *json = &printer->writer.json;
    json_print(json, "%s:{", metric->name);
    for (int part = INCLUSIVE; part <= EXCLUSIVE; part++)
        if (shown->has_part[part])
            json_put_cost(json, part_names[part], metric, view_cost(view, row, shown->metric, (enum cost_part)part));
    for (int part = INCLUSIVE; part <= EXCLUSIVE && metric_is_of_effort(metric); part++)
        if (shown->has_part[part])
            json_put_percent(json, percents[part], view_cost(view, row, shown->metric, (enum cost_part)part),
                             view_whole(view, shown->metric));
    json_print(json, "}");
}

/* The calls that created the threads which begin at the row. */
static void write_origins(struct data_printer *printer, const struct view *view, uint32_t row)
{
    struct thread_origins origins;
    struct json_writer *json = &printer->writer.json;
    row_origins_find(&origins, view, row, printer->tree->session->run,
                     printer->tree->projection == PHYSICAL);
    json_print(json, origins.list.n ? "created_at:[" : "");
    for (size_t i = 0; i < origins.list.n; i++) {
        json_print(json, "{threads:%zu path:", origins.list.at[i].threads);
        thread_origin_write(origins.list.at[i].path, json);
        json_print(json, "}");
    }
    json_print(json, origins.list.n ? "]" : "");
    vec_free(&origins.list);
}

static void enter_json(void *context, struct view *view, uint32_t number, uint32_t level)
{
    struct data_printer *printer = context;
    struct json_writer *json = &printer->writer.json;
    const struct row_facts *facts = &printer->facts;
    (void)level;
    struct data_table table = table_of(printer);
    read_facts(printer, view, number);
    json_print(json, "\n{");
    table_write_members(&table, &printer->writer, 0);
    if (facts->has_call_site || facts->call_site_state) {
        json_print(json, "call_site:{");
        json_put_place(json, facts->call_file, facts->call_line > 0 ? (uint32_t)facts->call_line : 0);
        if (facts->call_site_state)
            json_print(json, "state:%s", facts->call_site_state);
        json_print(json, "}");
    }
    if (row_is_start_routine(view, number))
        write_origins(printer, view, number);
    if (printer->comparison) {
        json_print(json, "in:[");
        for (int side = 0; side < SIDES; side++)
            if (name_if_in(printer, number, side))
                json_write_string(json, name_if_in(printer, number, side));
        json_print(json, "]");
    }
    json_print(json, "metrics:{");
    for (size_t i = 0; i < printer->metrics.n; i++)
        write_cost(printer, number, &printer->metrics.at[i]);
    json_print(json, "} children:[");
}

static void leave_json(void *context, struct view *view, uint32_t row)
{
    struct data_printer *printer = context;
    (void)view;
    (void)row;
    json_print(&printer->writer.json, "]}");
}

static void write_head(struct data_printer *printer)
{
    const struct tree *tree = printer->tree;
    const struct thread_set *threads = tree->session->threads;
    struct json_writer *json = &printer->writer.json;
    writer_head(&printer->writer, tree->session, tree->view->db, tree->view->class->name, tree->projection);
    if (tree->session->folds.inlined)
        json_print(json, "inlined:'folded'");
    if (session_recursion_is_collapsed(tree->session))
        json_print(json, "recursion:'collapsed'");
    if (threads)
        json_write_text(json, threads->is_program ? "program" : "threads", threads->what);
    size_t n_filters = filters_n(tree->filtered->filters);
    json_print(json, n_filters ? "filters:[" : "");
    for (size_t i = 0; i < n_filters; i++) {
        autofree struct text filter = {0};
        filter_describe(filters_at(tree->filtered->filters, i), false, &filter);
        json_write_string(json, text_string(&filter));
    }
    json_print(json, n_filters ? "]" : "");
    json_print(json, "metrics:[");
    for (size_t i = 0; i < printer->metrics.n; i++)
        json_write_metric(json, tree->view->metrics, printer->metrics.at[i].metric);
    json_print(json, "]");
}

void print_tree_json(const struct tree *tree)
{
    struct data_printer printer = open_printer(tree, FORMAT_JSON);
    write_head(&printer);
    json_write_key(&printer.writer.json, "root");
    struct visitor visitor = {.enter = enter_json, .leave = leave_json, .context = &printer};
    walk_visible(tree->filtered, tree->root, &tree->limits, NULL, &visitor);
    close_printer(&printer);
}
