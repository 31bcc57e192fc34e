/* A view as comma-separated values: one record per row in the order of the walk, so that the rows
 * below one follow it with a larger depth. Of a comparison "in" says which databases have the row.
 */
#include "viewer-tui/output/print.h"

#include "viewer-tui/compare/comparison.h"
#include "viewer-tui/output/columns.h"
#include "viewer-tui/output/csv.h"
#include "viewer-tui/output/row-facts.h"

#include <stdlib.h>

struct printing {
    struct csv csv;
    struct row_facts facts; /* of the row that is written */
    struct text name;       /* of a column, and the like */
    struct columns columns;
    const struct comparison *comparison; /* NULL: of one database */
};

/* The heads of `n` columns of a metric. */
static void write_part_names(struct printing *printing, const struct column *columns, size_t n,
                             const struct metric *metric, const char *of_what)
{
    static const char *const parts[] = {[INCLUSIVE] = "inclusive", [EXCLUSIVE] = "exclusive"};
    for (size_t i = 0; i < n; i++) {
        text_clear(&printing->name);
        text_printf(&printing->name, "%s%s:%s%s", metric->name, csv_state(metric),
                    parts[columns[i].part], of_what);
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
    for (size_t i = 0, n; i < printing->columns.n; i += n) {
        const struct column *columns = &printing->columns.at[i];
        const struct metric *metric = &metrics->at[columns->metric];
        n = columns_of_metric(&printing->columns, i);
        write_part_names(printing, columns, n, metric, "");
        if (metric_is_of_effort(metric))
            write_part_names(printing, columns, n, metric, "_percent_of_effort");
    }
    csv_end_record(&printing->csv);
}

static void write_place(struct csv *csv, const char *file, uint32_t line)
{
    csv_text(csv, file);
    if (line)
        csv_integer(csv, line);
    else
        csv_text(csv, NULL);
}

/* What a row has in `n` columns of a metric: the values, then their percentages. */
static void write_metric(struct csv *csv, const struct view *view, uint32_t row,
                         const struct column *columns, size_t n)
{
    const struct metric *metric = &view->metrics->at[columns->metric];
    for (size_t i = 0; i < n; i++)
        csv_cost(csv, metric, view_cost(view, row, columns->metric, columns[i].part));
    for (size_t i = 0; i < n && metric_is_of_effort(metric); i++)
        csv_percent(csv, view_cost(view, row, columns->metric, columns[i].part),
                    view_whole(view, columns->metric));
}

/* The names of the databases that have a scope, with a comma between two. */
static void write_sides(struct printing *printing, struct row_pair pair)
{
    char *const *names = printing->comparison->options->names;
    text_clear(&printing->name);
    for (int side = 0; side < SIDES; side++)
        if (pair.rows[side] != NOTHING)
            text_printf(&printing->name, "%s%s", printing->name.n ? "," : "", names[side]);
    csv_text(&printing->csv, text_string(&printing->name));
}

static void enter(void *context, struct view *view, uint32_t number, uint32_t level)
{
    struct printing *printing = context;
    struct csv *csv = &printing->csv;
    const struct row_facts *facts = &printing->facts;
    row_facts_read(&printing->facts, view, number);
    csv_integer(csv, level);
    csv_text(csv, facts->kind);
    csv_text(csv, text_string(&facts->name));
    write_place(csv, facts->file, facts->line);
    csv_text(csv, facts->module);
    write_place(csv, facts->call_file, facts->call_line);
    if (printing->comparison)
        write_sides(printing, merged_rows(view, number));
    for (size_t i = 0, n; i < printing->columns.n; i += n) {
        n = columns_of_metric(&printing->columns, i);
        write_metric(csv, view, number, &printing->columns.at[i], n);
    }
    csv_end_record(csv);
}

void print_tree_csv(const struct tree *tree)
{
    struct printing printing = {.csv = {.out = tree->out},
                                .comparison = session_comparison(tree->session, tree->projection)};
    struct columns all = columns_all(tree->view);
    printing.columns = tree->columns ? *tree->columns : all;
    write_header(&printing, tree->view->metrics);
    struct visitor visitor = {.enter = enter, .context = &printing};
    walk_visible(tree->filtered, tree->root, &tree->limits, NULL, &visitor);
    vec_free(&printing.name);
    vec_free(&printing.facts.name);
    free(all.at);
}
