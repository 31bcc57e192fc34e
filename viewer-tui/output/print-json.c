/* A view as JSON: the tree of design.md, section 7. Rows of the flat view can also be of the kinds
 * "module" and "file"; a scope that was called or inlined somewhere has a "call_site", null and of
 * "state" "unknown" where it is not known, "several" of calls that are compared as one; a start
 * routine of threads below <thread root> has "created_at":
 * [{"threads":2,"path":[{"name":..,"file":..,"line":..}]}], the calls that created them. Costs of
 * metrics that were not measured are null; where effort is shown, costs that are a part of it come
 * with their percentages of the whole program's. Of a comparison there are also "databases", each
 * with its "name" and "path", and each row says "in" which it is, by name; a metric that has
 * another name in its database says what it is "called" there. "filters" are the words
 * for those in force, if there are any. Columns that the user has hidden are left out. "program" or
 * "threads" says of which threads the values are, where not of all; rows of programs have the kind
 * "program". "inlined" is "folded" where inlined code is (database/fold.h). */
#include "viewer-tui/output/print.h"

#include "lib/json.h"
#include "viewer-tui/compare/comparison.h"
#include "viewer-tui/output/metric-json.h"
#include "viewer-tui/output/row-facts.h"
#include "viewer-tui/tree/row-origins.h"

#include <stdlib.h>

/* A metric of which one or both parts are shown. */
struct shown_metric {
    size_t metric;
    bool has_part[2];
};

struct printing {
    const struct comparison *comparison; /* NULL: of one database */
    struct json_writer json;
    VEC(struct shown_metric) metrics;
    struct row_facts facts; /* of the row that is written */
    const json_t *run;      /* NULL: of a comparison, or there is none */
    bool is_physical;
};

static void write_cost(struct json_writer *json, const struct view *view, uint32_t row,
                       const struct shown_metric *shown)
{
    static const char *const names[] = {[INCLUSIVE] = "inclusive", [EXCLUSIVE] = "exclusive"};
    static const char *const percents[] = {
        [INCLUSIVE] = "inclusive_percent_of_effort", [EXCLUSIVE] = "exclusive_percent_of_effort"};
    const struct metric *metric = &view->metrics->at[shown->metric];
    double costs[] = {view_cost(view, row, shown->metric, INCLUSIVE),
                      view_cost(view, row, shown->metric, EXCLUSIVE)};
    json_write_key(json, metric->name);
    json_write_object(json);
    for (int part = INCLUSIVE; part <= EXCLUSIVE; part++)
        if (shown->has_part[part]) {
            json_write_key(json, names[part]);
            json_write_cost(json, metric, costs[part]);
        }
    for (int part = INCLUSIVE; part <= EXCLUSIVE && metric_is_of_effort(metric); part++)
        if (shown->has_part[part])
            json_write_percent(json, percents[part], costs[part], view_whole(view, shown->metric));
    json_write_object_end(json);
}

static void write_costs(struct printing *printing, const struct view *view, uint32_t row)
{
    json_write_key(&printing->json, "metrics");
    json_write_object(&printing->json);
    for (size_t i = 0; i < printing->metrics.n; i++)
        write_cost(&printing->json, view, row, &printing->metrics.at[i]);
    json_write_object_end(&printing->json);
}

/* Each metric that has a column, in the order of the columns. */
static void find_metrics(struct printing *printing, const struct columns *columns)
{
    for (size_t i = 0; i < columns->n; i++) {
        size_t m = 0;
        while (m < printing->metrics.n && printing->metrics.at[m].metric != columns->at[i].metric)
            m++;
        if (m == printing->metrics.n)
            vec_push(&printing->metrics, (struct shown_metric){.metric = columns->at[i].metric});
        printing->metrics.at[m].has_part[columns->at[i].part] = true;
    }
}

static void write_metrics(struct printing *printing, const struct view *view)
{
    json_write_key(&printing->json, "metrics");
    json_write_array(&printing->json);
    for (size_t i = 0; i < printing->metrics.n; i++)
        json_write_metric(&printing->json, view->metrics, printing->metrics.at[i].metric);
    json_write_array_end(&printing->json);
}

static void write_filters(struct json_writer *json, const struct filters *filters)
{
    struct text filter = {0};
    json_write_key(json, "filters");
    json_write_array(json);
    for (size_t i = 0; i < filters_n(filters); i++) {
        text_clear(&filter);
        filter_describe(filters_at(filters, i), false, &filter);
        json_write_string(json, text_string(&filter));
    }
    json_write_array_end(json);
    vec_free(&filter);
}

/* The names of the databases that have a scope. */
static void write_sides(struct printing *printing, struct row_pair pair)
{
    struct json_writer *json = &printing->json;
    json_write_key(json, "in");
    json_write_array(json);
    for (int side = 0; side < SIDES; side++)
        if (pair.rows[side] != NOTHING)
            json_write_string(json, printing->comparison->options->names[side]);
    json_write_array_end(json);
}

/* Where the threads were created that begin here. */
static void write_origins(struct printing *printing, const struct view *view, uint32_t row)
{
    struct thread_origins origins;
    struct json_writer *json = &printing->json;
    row_origins_find(&origins, view, row, printing->run, printing->is_physical);
    if (origins.list.n) {
        json_write_key(json, "created_at");
        json_write_array(json);
        for (size_t i = 0; i < origins.list.n; i++) {
            json_write_object(json);
            json_write_key(json, "threads");
            json_write_integer(json, (int64_t)origins.list.at[i].threads);
            json_write_key(json, "path");
            thread_origin_write(origins.list.at[i].path, json);
            json_write_object_end(json);
        }
        json_write_array_end(json);
    }
    vec_free(&origins.list);
}

static void enter(void *context, struct view *view, uint32_t number, uint32_t level)
{
    struct printing *printing = context;
    struct json_writer *json = &printing->json;
    (void)level;
    const struct row_facts *facts = &printing->facts;
    row_facts_read(&printing->facts, view, number);
    json_write_break(json);
    json_write_object(json);
    json_write_text(json, "name", text_string(&facts->name));
    json_write_text(json, "kind", facts->kind);
    json_write_place(json, facts->file, facts->line);
    json_write_text(json, "module", facts->module);
    if (facts->has_call_site || facts->call_site_state) {
        json_write_key(json, "call_site");
        json_write_object(json);
        json_write_place(json, facts->call_file, facts->call_line);
        if (facts->call_site_state)
            json_write_text(json, "state", facts->call_site_state);
        json_write_object_end(json);
    }
    if (row_is_start_routine(view, number))
        write_origins(printing, view, number);
    if (printing->comparison)
        write_sides(printing, merged_rows(view, number));
    write_costs(printing, view, number);
    json_write_key(json, "children");
    json_write_array(json);
}

static void leave(void *context, struct view *view, uint32_t row)
{
    struct printing *printing = context;
    (void)view;
    (void)row;
    json_write_array_end(&printing->json);
    json_write_object_end(&printing->json);
}

/* What is compared. */
static void write_databases(struct json_writer *json, const struct session *session)
{
    json_write_key(json, "databases");
    json_write_array(json);
    for (int side = 0; side < SIDES; side++) {
        json_write_object(json);
        json_write_text(json, "name", session->comparing->names[side]);
        json_write_text(json, "path", session->sides[side]->folder);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

void print_tree_json(const struct tree *tree)
{
    struct printing printing = {.comparison = session_comparison(tree->session, tree->projection),
                                .run = tree->session->run,
                                .is_physical = tree->projection == PHYSICAL};
    struct json_writer *json = &printing.json;
    struct columns all = columns_all(tree->view);
    find_metrics(&printing, tree->columns ? tree->columns : &all);
    free(all.at);
    json_write_start(json, tree->out, 0);
    json_write_object(json);
    json_write_text(json, "title", session_title(tree->session, tree->view->db));
    if (printing.comparison)
        write_databases(json, tree->session);
    json_write_text(json, "view", tree->view->class->name);
    json_write_text(json, "projection", projection_name(tree->projection));
    if (tree->session->folds_inlined)
        json_write_text(json, "inlined", "folded");
    const struct thread_set *threads = tree->session->threads;
    if (threads)
        json_write_text(json, threads->is_program ? "program" : "threads", threads->what);
    if (filters_n(tree->filtered->filters))
        write_filters(json, tree->filtered->filters);
    write_metrics(&printing, tree->view);
    json_write_key(json, "root");
    struct visitor visitor = {.enter = enter, .leave = leave, .context = &printing};
    walk_visible(tree->filtered, tree->root, &tree->limits, NULL, &visitor);
    json_write_object_end(json);
    json_write_finish(json);
    vec_free(&printing.metrics);
    vec_free(&printing.facts.name);
}
