/* A view as JSON: the tree of design.md, section 7. Rows of the flat view can also be of the kinds
 * "module" and "file"; a scope that was called or inlined somewhere has a "call_site". Costs of
 * metrics that were not measured are null; where effort is shown, costs that are a part of it come
 * with their percentages of the whole program's. Of a comparison there are also "databases", each
 * with its "name" and "path", and each row says "in" which it is, by name. */
#include "viewer-tui/print/print.h"

#include "lib/json.h"
#include "viewer-tui/compare/comparison.h"
#include "viewer-tui/print/metric-json.h"
#include "viewer-tui/views/label.h"

#include <stdlib.h>

struct printing {
    const struct comparison *comparison; /* NULL: of one database */
    struct json_writer json;
    struct text name;
};

static void write_place(struct json_writer *json, const struct database *db, uint32_t file,
                        uint32_t line)
{
    json_write_key(json, "file");
    json_write_string(json, database_file_path(db, file));
    json_write_key(json, "line");
    if (line)
        json_write_integer(json, line);
    else
        json_write_null(json);
}

static void write_costs(struct json_writer *json, const struct view *view, uint32_t row)
{
    const struct metrics *metrics = view->metrics;
    json_write_key(json, "metrics");
    json_write_object(json);
    for (size_t m = metrics_shown(metrics, 0); m < metrics->n; m = metrics_shown(metrics, m + 1)) {
        const struct metric *metric = &metrics->at[m];
        double inclusive = view_cost(view, row, m, INCLUSIVE);
        double exclusive = view_cost(view, row, m, EXCLUSIVE);
        json_write_key(json, metric->name);
        json_write_object(json);
        json_write_key(json, "inclusive");
        json_write_cost(json, metric, inclusive);
        json_write_key(json, "exclusive");
        json_write_cost(json, metric, exclusive);
        if (metric_is_of_effort(metric)) {
            double effort = view_whole(view, m);
            json_write_percent(json, "inclusive_percent_of_effort", inclusive, effort);
            json_write_percent(json, "exclusive_percent_of_effort", exclusive, effort);
        }
        json_write_object_end(json);
    }
    json_write_object_end(json);
}

/* The names of the databases that have a scope. */
static void write_sides(struct printing *printing, struct pair pair)
{
    struct json_writer *json = &printing->json;
    json_write_key(json, "in");
    json_write_array(json);
    for (int side = 0; side < SIDES; side++)
        if (pair.rows[side] != NOTHING)
            json_write_string(json, printing->comparison->options->names[side]);
    json_write_array_end(json);
}

static void enter(void *context, struct view *view, uint32_t number)
{
    struct printing *printing = context;
    struct json_writer *json = &printing->json;
    const struct row *row = view_row(view, number);
    uint32_t origin_row = number, file, line;
    const struct database *db = view_origin(view, &origin_row)->db;
    label_place(view, number, &file, &line);
    text_clear(&printing->name);
    label_name(view, number, &printing->name);
    json_write_break(json);
    json_write_object(json);
    json_write_key(json, "name");
    json_write_string(json, text_string(&printing->name));
    json_write_key(json, "kind");
    json_write_string(json, label_kind(row->kind));
    write_place(json, db, file, line);
    json_write_key(json, "module");
    json_write_string(json, database_module_path(db, label_module(view, number)));
    if (row->call_file != NOTHING || row->call_line) {
        json_write_key(json, "call_site");
        json_write_object(json);
        write_place(json, db, row->call_file, row->call_line);
        json_write_object_end(json);
    }
    if (printing->comparison)
        write_sides(printing, merged_pair(view, number));
    write_costs(json, view, number);
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
        json_write_key(json, "name");
        json_write_string(json, session->comparing->names[side]);
        json_write_key(json, "path");
        json_write_string(json, session->sides[side]->folder);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

void print_tree_json(const struct tree *tree)
{
    struct printing printing = {.comparison = session_comparison(tree->session, tree->projection)};
    struct json_writer *json = &printing.json;
    json_write_start(json, tree->out, 0);
    json_write_object(json);
    json_write_key(json, "title");
    json_write_string(json, session_title(tree->session, tree->view->db));
    if (printing.comparison)
        write_databases(json, tree->session);
    json_write_key(json, "view");
    json_write_string(json, tree->view->class->name);
    json_write_key(json, "projection");
    json_write_string(json, projection_name(tree->projection));
    json_write_key(json, "metrics");
    json_write_metrics(json, tree->view->metrics);
    json_write_key(json, "root");
    struct visitor visitor = {.enter = enter, .leave = leave, .context = &printing};
    walk_view(tree->view, tree->root, &tree->limits, &visitor);
    json_write_object_end(json);
    json_write_finish(json);
    vec_free(&printing.name);
}
