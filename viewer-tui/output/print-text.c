/* A view as text for people, laid out for 100 columns unless the columns are chosen: costs on the
 * left, where they line up, and the tree on the right. */
#include "viewer-tui/output/print.h"

#include "lib/number.h"
#include "viewer-tui/output/columns.h"
#include "viewer-tui/compare/comparison.h"
#include "viewer-tui/metrics/efficiency.h"
#include "viewer-tui/metrics/derived.h"
#include "viewer-tui/output/heads.h"
#include "viewer-tui/db/source-text.h"
#include "viewer-tui/tree/describe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINE_WIDTH 100

/* Levels that are told apart by indentation; below, the number of the level is shown. */
#define MOST_INDENTED 20
#define INDENT        2

/* Source text is shown behind statements where this much of the line is left. */
#define LEAST_SOURCE 16

struct printing {
    const struct tree *tree;
    bool ascii;
    struct columns columns;
    struct sources sources[SIDES]; /* of each database */
    struct text line;
};

/* What the user asked for, or what fits. */
static struct columns usual_columns(const struct printing *printing)
{
    const struct view *view = printing->tree->view;
    const struct metrics *metrics = view->metrics;
    size_t most = (LINE_WIDTH - GOOD_TREE_WIDTH) / PART_WIDTH;
    bool is_asked_for = printing->tree->session->metric_list != NULL;
    if (metrics->set == SET_KINDS) /* parts of one whole: each once, side by side */
        most = metrics_n_shown(metrics);
    struct columns columns = is_asked_for ? columns_all(view) : columns_fitting(view, most);
    columns_add_derived(&columns, view); /* which somebody asked for */
    return columns;
}

static void end_line(struct printing *printing)
{
    text_end_line(&printing->line, printing->tree->out);
}

/* Whether it is one of those above the tree: all that have columns, and what rows are sorted by. */
static bool has_total(const struct view *view, size_t metric)
{
    return metrics_with_columns(view->metrics, metric) == metric || view->sorting.metric == metric;
}

static void print_totals(struct printing *printing)
{
    const struct view *view = printing->tree->view;
    const struct metrics *metrics = view->metrics;
    size_t width = 0;
    for (size_t m = metrics_shown(metrics, 0); m < metrics->n; m = metrics_shown(metrics, m + 1)) {
        size_t columns = text_columns(metrics->at[m].name);
        width = has_total(view, m) && columns > width ? columns : width;
    }
    for (size_t m = metrics_shown(metrics, 0); m < metrics->n; m = metrics_shown(metrics, m + 1)) {
        const struct metric *metric = &metrics->at[m];
        char total[NUMBER_WITH_UNIT_SIZE];
        if (!has_total(view, m))
            continue;
        columns_with_unit(view, m, view_total(view, m), total);
        text_add(&printing->line, "  ");
        text_add_clean(&printing->line, metric->name, printing->ascii);
        text_pad(&printing->line, ' ', width - text_columns(metric->name) + 2);
        text_add(&printing->line, total);
        if (metric_is_sum(metric)) {
            text_add(&printing->line, "  = ");
            efficiency_add_formula(metrics, m, &printing->line);
            text_add(&printing->line, ", whose percentages are of effort");
        }
        if (metric->derivation) {
            text_add(&printing->line, "  = ");
            text_add_clean(&printing->line, derived_formula(metric), printing->ascii);
        }
        if (metric->state != METRIC_MEASURED) {
            text_printf(&printing->line, "  %s: ", columns_state_words(metric));
            text_add_clean(&printing->line, metric->why, printing->ascii);
        }
        end_line(printing);
    }
}

static void print_head(struct printing *printing)
{
    const struct tree *tree = printing->tree;
    text_add_clean(&printing->line, session_title(tree->session, tree->view->db), printing->ascii);
    text_printf(&printing->line, ": %s view, %s projection%s", tree->view->class->name,
                projection_name(tree->projection), session_folding_words(tree->session));
    end_line(printing);
    text_add(&printing->line, tree->view->class->title);
    end_line(printing);
    end_line(printing);
    print_totals(printing);
    if (filters_n(tree->filtered->filters)) {
        text_add(&printing->line, "  filters: ");
        tree_add_filters(tree, printing->ascii, &printing->line);
        end_line(printing);
    }
    const struct comparison *comparison = session_comparison(tree->session, tree->projection);
    if (comparison) {
        comparison_explain(comparison, &printing->line);
        end_line(printing);
    }
    size_t n_problems = json_array_size(json_object_get(tree->session->run, "problems"));
    if (n_problems) {
        text_printf(&printing->line, "  %zu problem%s with the measurement: see --print summary",
                    n_problems, n_problems == 1 ? "" : "s");
        end_line(printing);
    }
    end_line(printing);
}

/* The names of the metrics, each over its columns. */
static void print_names(struct printing *printing)
{
    const struct columns *columns = &printing->columns;
    const struct tree *tree = printing->tree;
    struct heads heads = {0};
    struct text title = {0};
    for (size_t i = 0, n; i < columns->n; i += n) {
        const struct column *first = &columns->at[i];
        struct number_scale scale = cell_scale(&tree->cells, tree->view, first);
        int width = 0;
        n = columns_of_metric(columns, i);
        for (size_t c = 0; c < n; c++)
            width += cell_width(&tree->cells, &first[c]);
        text_clear(&title);
        columns_title(&tree->view->metrics->at[first->metric], scale.unit, printing->ascii, &title);
        heads_add(&heads, text_string(&title), (size_t)width);
    }
    while (heads_take_line(&heads, true, &printing->line))
        end_line(printing);
    heads_free(&heads);
    vec_free(&title);
}

static void print_column_heads(struct printing *printing)
{
    print_names(printing);
    for (size_t i = 0; i < printing->columns.n; i++)
        text_printf(&printing->line, "%*s",
                    cell_width(&printing->tree->cells, &printing->columns.at[i]),
                    printing->columns.at[i].part == INCLUSIVE ? "inclusive" : "exclusive");
    text_add(&printing->line, "  scope");
    end_line(printing);
    for (size_t i = 0; i < LINE_WIDTH; i++)
        text_add(&printing->line, printing->ascii ? "-" : "─");
    end_line(printing);
}

/* The last of it is a sign where rows below are closed. */
static void add_indent(struct printing *printing, uint32_t row, uint32_t depth)
{
    size_t levels = depth < MOST_INDENTED ? depth : MOST_INDENTED;
    text_pad(&printing->line, ' ', 2 + INDENT * levels);
    if (row_is_closed(printing->tree->open, row) && filtered_can_open(printing->tree->filtered, row)) {
        printing->line.n -= INDENT;
        text_add(&printing->line, printing->ascii ? "> " : "▸ ");
    }
    if (depth > MOST_INDENTED)
        text_printf(&printing->line, "[%u] ", depth);
}

/* The line of source code itself, as far as it fits. */
static void add_source(struct printing *printing, uint32_t number)
{
    const struct view *view = view_origin(printing->tree->view, &number);
    const struct row *row = view_row(view, number);
    const struct source *source = sources_get(&printing->sources[view->side], view->db, row->place);
    const char *code = source_line(source, row->line);
    size_t used = text_columns(text_string(&printing->line)) + 2;
    if (!code || used + LEAST_SOURCE > LINE_WIDTH)
        return;
    code += strspn(code, " \t");
    struct text clean = {0}, spaced = {0};
    text_add_expanded(&spaced, code);
    text_add_clean_code(&clean, text_string(&spaced), printing->ascii);
    text_cut(&clean, LINE_WIDTH - used);
    vec_free(&spaced);
    text_printf(&printing->line, "  %s", text_string(&clean));
    vec_free(&clean);
}

static void enter(void *context, struct view *view, uint32_t number, uint32_t level)
{
    struct printing *printing = context;
    const struct row *row = view_row(view, number);
    struct text *line = &printing->line;
    for (size_t i = 0; i < printing->columns.n; i++)
        cell_add(&printing->tree->cells, view, number, &printing->columns.at[i], line);
    add_indent(printing, number, level);
    describe_call(view, number, printing->ascii, line);
    describe_name(view, number, printing->ascii, line);
    struct text location = {0};
    describe_location(view, number, printing->ascii, &location);
    if (location.n)
        text_printf(line, "  %s", text_string(&location));
    vec_free(&location);
    if (row->kind == KIND_STATEMENT)
        add_source(printing, number);
    end_line(printing);
}

static void add_metric(struct printing *printing, int metric)
{
    text_add_clean(&printing->line, printing->tree->view->metrics->at[metric].name,
                   printing->ascii);
}

/* What the limits' share is of: "work", of two runs "work [a] and work [b]". */
static void add_what_of(struct printing *printing)
{
    const struct limits *limits = &printing->tree->limits;
    const struct metrics *metrics = printing->tree->view->metrics;
    const struct metric *metric = &metrics->at[limits->by.metric];
    int of[SIDES] = {(int)limits->by.metric, METRIC_ABSENT};
    if (metric_is_compared(metric))
        memcpy(of, metric->sides, sizeof of);
    for (int side = 0; side < SIDES && of[side] != METRIC_ABSENT; side++) {
        text_add(&printing->line, side == 0 ? "" : " and ");
        add_metric(printing, limits->share_of == SHARE_OF_WHOLE
                                 ? (int)metrics_whole(metrics, (size_t)of[side])
                                 : of[side]);
    }
}

static void print_left_out(struct printing *printing, const struct left_out *left_out)
{
    const struct limits *limits = &printing->tree->limits;
    char count[NUMBER_SIZE];
    if (left_out->small || left_out->deep || left_out->closed)
        end_line(printing);
    if (left_out->small) {
        bool is_one = left_out->small == 1;
        number_grouped(left_out->small, count);
        text_printf(&printing->line, "%s scope%s with less than %g%% of ", count, is_one ? "" : "s",
                    limits->share * 100);
        add_what_of(printing);
        text_printf(&printing->line, " %s left out (--min-percent 0 shows all).",
                    is_one ? "is" : "are");
        end_line(printing);
    }
    if (left_out->deep) {
        bool is_one = left_out->deep == 1;
        number_grouped(left_out->deep, count);
        text_printf(&printing->line, "%s scope%s below level %u (--depth shows more).", count,
                    is_one ? " goes on" : "s go on", limits->depth);
        end_line(printing);
    }
    if (left_out->closed) {
        bool is_one = left_out->closed == 1;
        number_grouped(left_out->closed, count);
        text_printf(&printing->line, "%s row%s %s closed: what is below %s is left out.", count,
                    is_one ? "" : "s", is_one ? "is" : "are", is_one ? "it" : "them");
        end_line(printing);
    }
}

void print_tree_text(const struct tree *tree)
{
    struct printing printing = {
        .tree = tree,
        .ascii = describe_in_ascii(),
        .sources = {{.rules = tree->session->rules}, {.rules = tree->session->rules}}};
    struct columns usual = tree->columns ? (struct columns){0} : usual_columns(&printing);
    printing.columns = tree->columns ? *tree->columns : usual;
    print_head(&printing);
    print_column_heads(&printing);
    struct visitor visitor = {.enter = enter, .context = &printing};
    struct left_out left_out =
        walk_visible(tree->filtered, tree->root, &tree->limits, tree->open, &visitor);
    print_left_out(&printing, &left_out);
    free(usual.at);
    for (int side = 0; side < SIDES; side++)
        sources_free(&printing.sources[side]);
    vec_free(&printing.line);
}
