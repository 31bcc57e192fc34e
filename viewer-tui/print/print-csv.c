/* A view as comma-separated values: one record per row in the order of the walk, so that the rows
 * below one follow it with a larger depth. Of a comparison "in" says which databases have the row.
 */
#include "viewer-tui/print/print.h"

#include "viewer-tui/compare/comparison.h"
#include "viewer-tui/print/csv.h"
#include "viewer-tui/views/label.h"

#include <stdlib.h>

struct printing {
    struct csv csv;
    struct text name;
    uint32_t depth;                      /* of the first row */
    const struct comparison *comparison; /* NULL: of one database */
};

/* The heads of the columns of a metric. */
static void write_part_names(struct printing *printing, const char *metric, const char *of_what)
{
    static const char *const parts[] = {[INCLUSIVE] = "inclusive", [EXCLUSIVE] = "exclusive"};
    for (int part = INCLUSIVE; part <= EXCLUSIVE; part++) {
        text_clear(&printing->name);
        text_printf(&printing->name, "%s:%s%s", metric, parts[part], of_what);
        csv_text(&printing->csv, text_string(&printing->name));
    }
}

static void write_header(struct printing *printing, const struct metrics *metrics)
{
    static const char *const columns[] = {"depth", "kind",   "name",      "file",
                                          "line",  "module", "call_file", "call_line"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        csv_text(&printing->csv, columns[i]);
    if (printing->comparison)
        csv_text(&printing->csv, "in");
    for (size_t m = metrics_shown(metrics, 0); m < metrics->n; m = metrics_shown(metrics, m + 1)) {
        write_part_names(printing, metrics->at[m].name, "");
        if (metric_is_of_effort(&metrics->at[m]))
            write_part_names(printing, metrics->at[m].name, "_percent_of_effort");
    }
    csv_end_record(&printing->csv);
}

static void write_place(struct csv *csv, const struct database *db, uint32_t file, uint32_t line)
{
    csv_text(csv, database_file_path(db, file));
    if (line)
        csv_integer(csv, line);
    else
        csv_text(csv, NULL);
}

static void write_costs(struct csv *csv, const struct view *view, uint32_t row)
{
    const struct metrics *metrics = view->metrics;
    for (size_t m = metrics_shown(metrics, 0); m < metrics->n; m = metrics_shown(metrics, m + 1)) {
        const struct metric *metric = &metrics->at[m];
        double inclusive = view_cost(view, row, m, INCLUSIVE);
        double exclusive = view_cost(view, row, m, EXCLUSIVE);
        csv_cost(csv, metric, inclusive);
        csv_cost(csv, metric, exclusive);
        if (metric_is_of_effort(metric)) {
            csv_percent(csv, inclusive, view_whole(view, m));
            csv_percent(csv, exclusive, view_whole(view, m));
        }
    }
}

/* The names of the databases that have a scope, with a comma between two. */
static void write_sides(struct printing *printing, struct pair pair)
{
    char *const *names = printing->comparison->options->names;
    text_clear(&printing->name);
    for (int side = 0; side < SIDES; side++)
        if (pair.rows[side] != NOTHING)
            text_printf(&printing->name, "%s%s", printing->name.n ? "," : "", names[side]);
    csv_text(&printing->csv, text_string(&printing->name));
}

static void enter(void *context, struct view *view, uint32_t number)
{
    struct printing *printing = context;
    struct csv *csv = &printing->csv;
    const struct row *row = view_row(view, number);
    uint32_t origin_row = number, file, line;
    const struct database *db = view_origin(view, &origin_row)->db;
    label_place(view, number, &file, &line);
    text_clear(&printing->name);
    label_name(view, number, &printing->name);
    csv_integer(csv, row->depth - printing->depth);
    csv_text(csv, label_kind(row->kind));
    csv_text(csv, text_string(&printing->name));
    write_place(csv, db, file, line);
    csv_text(csv, database_module_path(db, label_module(view, number)));
    write_place(csv, db, row->call_file, row->call_line);
    if (printing->comparison)
        write_sides(printing, merged_pair(view, number));
    write_costs(csv, view, number);
    csv_end_record(csv);
}

void print_tree_csv(const struct tree *tree)
{
    struct printing printing = {.csv = {.out = tree->out},
                                .depth = view_row(tree->view, tree->root)->depth,
                                .comparison = session_comparison(tree->session, tree->projection)};
    write_header(&printing, tree->view->metrics);
    struct visitor visitor = {.enter = enter, .context = &printing};
    walk_view(tree->view, tree->root, &tree->limits, &visitor);
    vec_free(&printing.name);
}
