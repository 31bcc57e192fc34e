/* A view as text for people, laid out for 100 columns: costs on the left, where they line up, and
 * the tree on the right. */
#include "viewer-tui/print.h"

#include "lib/number.h"
#include "viewer-tui/describe.h"
#include "viewer-tui/source.h"

#include <stdlib.h>
#include <string.h>

#define LINE_WIDTH    100
#define VALUE_WIDTH   9
#define PERCENT_WIDTH 7
#define PART_WIDTH    (VALUE_WIDTH + PERCENT_WIDTH)
#define TREE_WIDTH    34 /* what the tree wants at least before further metrics are shown */

/* Levels that are told apart by indentation; below, the number of the level is shown. */
#define MOST_INDENTED 20
#define INDENT        2

/* Source text is shown behind statements where this much of the line is left. */
#define LEAST_SOURCE 16

struct printing {
    const struct tree *tree;
    bool ascii;
    size_t *metrics; /* the columns */
    size_t n_metrics;
    struct number_scale *scales;
    struct sources sources;
    struct text line;
};

/* The metrics that have columns: what the user asked for, or what fits, beginning with the one
 * that is sorted by. */
static void choose_columns(struct printing *printing)
{
    const struct tree *tree = printing->tree;
    const struct metrics *metrics = &tree->view->db->metrics;
    size_t most = (LINE_WIDTH - TREE_WIDTH) / (2 * PART_WIDTH);
    bool is_asked_for = tree->session->metric_list != NULL;
    printing->metrics = mem_alloc((metrics->n + 1) * sizeof *printing->metrics);
    if (!is_asked_for)
        printing->metrics[printing->n_metrics++] = tree->limits.metric;
    for (size_t m = 0; m < metrics->n; m++)
        if (is_asked_for || (m != tree->limits.metric && metric_is_measured(&metrics->at[m]) &&
                             printing->n_metrics < most))
            printing->metrics[printing->n_metrics++] = m;
    printing->scales = mem_alloc((metrics->n + 1) * sizeof *printing->scales);
    for (size_t m = 0; m < metrics->n; m++)
        printing->scales[m] =
            number_scale_for(tree->view->totals[m].inclusive, metrics->at[m].unit);
}

static void end_line(struct printing *printing)
{
    text_end_line(&printing->line, printing->tree->out);
}

static void print_totals(struct printing *printing)
{
    const struct view *view = printing->tree->view;
    size_t width = 0;
    for (size_t m = 0; m < view->n_metrics; m++) {
        size_t columns = text_columns(view->db->metrics.at[m].name);
        width = columns > width ? columns : width;
    }
    for (size_t m = 0; m < view->n_metrics; m++) {
        const struct metric *metric = &view->db->metrics.at[m];
        char total[NUMBER_WITH_UNIT_SIZE] = "-";
        if (metric_is_measured(metric))
            number_with_unit(view->totals[m].inclusive, metric->unit, total);
        text_add(&printing->line, "  ");
        text_add_clean(&printing->line, metric->name, printing->ascii);
        text_pad(&printing->line, ' ', width - text_columns(metric->name) + 2);
        text_add(&printing->line, total);
        if (!metric_is_measured(metric)) {
            text_add(&printing->line, "  not measured: ");
            text_add_clean(&printing->line, metric->why, printing->ascii);
        }
        end_line(printing);
    }
}

static void print_head(struct printing *printing)
{
    const struct tree *tree = printing->tree;
    text_add_clean(&printing->line, session_title(tree->session, tree->view->db), printing->ascii);
    text_printf(&printing->line, ": %s view, %s projection", tree->view->class->name,
                projection_name(tree->projection));
    end_line(printing);
    text_add(&printing->line, tree->view->class->title);
    end_line(printing);
    end_line(printing);
    print_totals(printing);
    size_t n_problems = json_array_size(json_object_get(tree->session->run, "problems"));
    if (n_problems) {
        text_printf(&printing->line, "  %zu problem%s with the measurement: see --print summary",
                    n_problems, n_problems == 1 ? "" : "s");
        end_line(printing);
    }
    end_line(printing);
}

/* Text in the middle of a column. */
static void add_centered(struct text *line, const char *what, size_t width)
{
    size_t length = text_columns(what);
    size_t before = length < width ? (width - length) / 2 : 0;
    text_pad(line, ' ', before);
    text_add(line, what);
    text_pad(line, ' ', length + before < width ? width - length - before : 0);
}

static void print_column_heads(struct printing *printing)
{
    const struct metrics *metrics = &printing->tree->view->db->metrics;
    struct text title = {0};
    for (size_t i = 0; i < printing->n_metrics; i++) {
        size_t m = printing->metrics[i];
        const char *unit = printing->scales[m].unit;
        text_clear(&title);
        text_add_clean(&title, metrics->at[m].name, printing->ascii);
        if (*unit && metric_is_measured(&metrics->at[m]))
            text_printf(&title, ", %s", unit);
        add_centered(&printing->line, text_string(&title), 2 * PART_WIDTH);
    }
    end_line(printing);
    for (size_t i = 0; i < printing->n_metrics; i++)
        text_add(&printing->line, "       inclusive       exclusive");
    text_add(&printing->line, "  scope");
    end_line(printing);
    for (size_t i = 0; i < LINE_WIDTH; i++)
        text_add(&printing->line, printing->ascii ? "-" : "─");
    end_line(printing);
    vec_free(&title);
}

static void add_cost(struct printing *printing, uint32_t row, size_t m, enum cost_part part)
{
    const struct view *view = printing->tree->view;
    char number[NUMBER_SIZE] = "-", percent[NUMBER_SIZE] = "";
    if (metric_is_measured(&view->db->metrics.at[m])) {
        double value = view_cost(view, row, m, part);
        number_format(value, &printing->scales[m], number);
        number_percent(value, view->totals[m].inclusive, percent);
        if (value == 0)
            percent[0] = '\0';
    }
    text_printf(&printing->line, "%*s", VALUE_WIDTH, number);
    if (percent[0])
        text_printf(&printing->line, "%*s%%", PERCENT_WIDTH - 1, percent);
    else
        text_pad(&printing->line, ' ', PERCENT_WIDTH);
}

static void add_indent(struct printing *printing, uint32_t depth)
{
    size_t levels = depth < MOST_INDENTED ? depth : MOST_INDENTED;
    text_pad(&printing->line, ' ', 2 + INDENT * levels);
    if (depth > MOST_INDENTED)
        text_printf(&printing->line, "[%u] ", depth);
}

/* The line of source code itself, as far as it fits. */
static void add_source(struct printing *printing, const struct row *row)
{
    const struct view *view = printing->tree->view;
    const struct source *source = sources_get(&printing->sources, view->db, row->place);
    const char *code = source_line(source, row->line);
    size_t used = text_columns(text_string(&printing->line)) + 2;
    if (!code || used + LEAST_SOURCE > LINE_WIDTH)
        return;
    code += strspn(code, " \t");
    struct text clean = {0}, spaced = {0};
    text_add_expanded(&spaced, code);
    text_add_clean(&clean, text_string(&spaced), printing->ascii);
    text_cut(&clean, LINE_WIDTH - used);
    vec_free(&spaced);
    text_printf(&printing->line, "  %s", text_string(&clean));
    vec_free(&clean);
}

static void enter(void *context, struct view *view, uint32_t number)
{
    struct printing *printing = context;
    const struct row *row = view_row(view, number);
    struct text *line = &printing->line;
    for (size_t i = 0; i < printing->n_metrics; i++)
        for (int part = INCLUSIVE; part <= EXCLUSIVE; part++)
            add_cost(printing, number, printing->metrics[i], (enum cost_part)part);
    add_indent(printing, row->depth);
    describe_call(view, number, printing->ascii, line);
    describe_name(view, number, printing->ascii, line);
    struct text location = {0};
    describe_location(view, number, printing->ascii, &location);
    if (location.n)
        text_printf(line, "  %s", text_string(&location));
    vec_free(&location);
    if (row->kind == KIND_STATEMENT)
        add_source(printing, row);
    end_line(printing);
}

static void print_left_out(struct printing *printing, const struct left_out *left_out)
{
    const struct limits *limits = &printing->tree->limits;
    const char *metric = printing->tree->view->db->metrics.at[limits->metric].name;
    char count[NUMBER_SIZE];
    if (left_out->small || left_out->deep)
        end_line(printing);
    if (left_out->small) {
        bool is_one = left_out->small == 1;
        number_grouped(left_out->small, count);
        text_printf(&printing->line, "%s scope%s with less than %g%% of ", count, is_one ? "" : "s",
                    limits->share * 100);
        text_add_clean(&printing->line, metric, printing->ascii);
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
}

void print_tree_text(const struct tree *tree)
{
    struct printing printing = {.tree = tree, .ascii = describe_in_ascii()};
    choose_columns(&printing);
    print_head(&printing);
    print_column_heads(&printing);
    struct visitor visitor = {.enter = enter, .context = &printing};
    struct left_out left_out = walk_view(tree->view, &tree->limits, &visitor);
    print_left_out(&printing, &left_out);
    free(printing.metrics);
    free(printing.scales);
    sources_free(&printing.sources);
    vec_free(&printing.line);
}
