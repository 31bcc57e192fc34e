/* A tree as text for people: costs on the left, where they line up, and the tree on the right.
 * Lines are 100 columns wide unless the user chose the columns; on a terminal, as wide as that. */
#include "viewer-tui/output/print.h"

#include "viewer-tui/compare/comparison.h"
#include "viewer-tui/compare/session-titles.h"
#include "viewer-tui/db/source-text.h"
#include "viewer-tui/metrics/derived.h"
#include "viewer-tui/metrics/efficiency.h"
#include "viewer-tui/tree/labels.h"

#include <stdlib.h>
#include <string.h>

/* Deeper levels are not indented further; their number is shown, "[21]". */
#define MOST_INDENTED 20
#define INDENT        2

/* Columns of a terminal for the name of a row, with its marker. */
#define LEAST_NAME GOOD_TREE_WIDTH

/* Columns that must be left in the line for a statement's source text. */
#define LEAST_SOURCE 16

struct tree_printer {
    struct writer writer;
    const struct tree *tree;
    struct columns columns;
    size_t width;           /* columns of a row; SIZE_MAX: any number */
    uint32_t most_indented; /* levels */
    struct sources sources;
    struct row_line line;
};

/* The columns that the user asked for, or those that fit. */
static struct columns usual_columns(const struct tree *tree)
{
    const struct view *view = tree->view;
    const struct metrics *metrics = view->metrics;
    /* A comparison has four columns of each. */
    bool is_asked_for = tree->session->metric_list && !session_is_merged(tree->session);
    size_t width = tree->width ? tree->width : LINE_WIDTH;
    size_t most = width > GOOD_TREE_WIDTH ? (width - GOOD_TREE_WIDTH) / PART_WIDTH : 0;
    if (metrics->set == SET_KINDS) /* parts of one whole: one column each */
        most = metrics_n_shown(metrics);
    struct columns columns = is_asked_for ? columns_all(view) : columns_fitting(view, most);
    while (tree->width && !is_asked_for && columns.n > 1 && columns.n * PART_WIDTH + LEAST_NAME > tree->width)
        columns.n--;
    columns_add_derived(&columns, view); /* the user defined them to see them */
    return columns;
}

/* Whether the total of a metric stands above the tree. */
static bool has_total(const struct view *view, size_t metric)
{
    return metrics_with_columns(view->metrics, metric) == metric || view->sorting.metric == metric;
}

static void print_total(struct writer *writer, const struct view *view, size_t m, size_t width)
{
    const struct metric *metric = &view->metrics->at[m];
    writer_say(writer, "  %s", metric->name);
    text_printf(&writer->line, "%*s%s", (int)(width - text_columns(metric->name) + 2), "",
                columns_with_unit(view, m, view_total(view, m)).text);
    if (metric_is_sum(metric)) {
        text_add(&writer->line, "  = ");
        efficiency_add_formula(view->metrics, m, &writer->line);
        text_add(&writer->line, ", whose percentages are of effort");
    }
    if (metric_derivation(metric))
        writer_say(writer, "  = %s", derived_formula(metric));
    if (metric->state != METRIC_MEASURED)
        writer_say(writer, "  %s: %s", columns_state_words(metric), metric->why);
    writer_end_line(writer);
}

static void print_head(struct writer *writer, const struct tree *tree)
{
    writer_run_line(writer, tree->session, tree->view->db);
    writer_line(writer, "%s view, %s projection%s", tree->view->class->name, projection_name(tree->projection),
                session_folding_words(tree->session));
    writer_line(writer, "%s\n", tree->view->class->title);
    size_t width = 0; /* of the names of metrics */
    metrics_each (m, tree->view->metrics, metrics_shown) {
        size_t columns = text_columns(tree->view->metrics->at[m].name);
        width = has_total(tree->view, m) && columns > width ? columns : width;
    }
    metrics_each (m, tree->view->metrics, metrics_shown)
        if (has_total(tree->view, m))
            print_total(writer, tree->view, m, width);
    if (filters_n(tree->filtered->filters)) {
        text_add(&writer->line, "  filters: ");
        tree_add_filters(tree, writer->ascii, &writer->line);
        writer_end_line(writer);
    }
    const struct merged_runs *comparison = comparison_of(tree->view);
    if (comparison) {
        comparison_explain(comparison, &writer->line);
        writer_end_line(writer);
    }
    size_t n_problems = json_array_size(json_object_get(tree->session->run, "problems"));
    if (n_problems)
        writer_line(writer, "  %zu problem%s with the measurement: see --print summary", n_problems,
                    n_problems == 1 ? "" : "s");
    writer_end_line(writer);
}

/* The name of each metric, and below it the parts that its columns have. */
static void print_column_heads(struct tree_printer *printer)
{
    const struct columns *columns = &printer->columns;
    const struct tree *tree = printer->tree;
    struct writer *writer = &printer->writer;
    struct column_titles titles = {0};
    autofree struct text title = {0};
    for (size_t i = 0, n; i < columns->n; i += n) {
        const struct column *first = &columns->at[i];
        struct number_scale scale = columns_scale(tree->view, first->metric);
        n = columns_of_metric(columns, i);
        text_clear(&title);
        columns_title(&tree->view->metrics->at[first->metric], scale.unit, (struct title_cuts){0}, writer->ascii, &title);
        column_titles_add(&titles, text_string(&title), n * PART_WIDTH);
    }
    while (column_titles_line(&titles, true, &writer->line))
        writer_end_line(writer);
    column_titles_free(&titles);
    for (size_t i = 0; i < columns->n; i++)
        text_printf(&writer->line, "%*s", PART_WIDTH, columns->at[i].part == INCLUSIVE ? "inclusive" : "exclusive");
    writer_line(writer, "  scope");
    for (size_t i = 0; i < writer->width; i++)
        text_add(&writer->line, writer->ascii ? "-" : "─");
    writer_end_line(writer);
}

/* Adds a statement's source text, as far as it fits. */
static void add_source(struct tree_printer *printer, uint32_t number)
{
    struct text *line = &printer->line.text;
    const struct view *view = view_origin(printer->tree->view, &number);
    const struct row *row = view_row(view, number);
    const struct source *source = sources_get(&printer->sources, view->db, row->place);
    const char *code = source_line(source, row->line);
    size_t used = text_columns(text_string(line)) + 2;
    if (!code || used + LEAST_SOURCE > printer->writer.width)
        return;
    code += strspn(code, " \t");
    autofree struct text clean = {0}, spaced = {0};
    text_add_expanded(&spaced, code);
    text_add_clean_code(&clean, text_string(&spaced), printer->writer.ascii);
    text_cut(&clean, printer->writer.width - used);
    text_printf(line, "  %s", text_string(&clean));
}

/* Makes the line of a row. On a terminal the name is shortened until the place fits; a place that does not fit is left
 * out, and what is still too long is cut. */
static void make_line(struct tree_printer *printer, struct view *view, uint32_t number, uint32_t level,
                      const char *marker)
{
    struct row_line *line = &printer->line;
    size_t width = printer->width, indent = INDENT * (level < printer->most_indented ? level : printer->most_indented);
    size_t taken = printer->columns.n * PART_WIDTH + indent, place_width = 0;
    for (int round = 0; round < 2 && (round == 0 || text_columns(text_string(&line->text)) > width); round++) {
        size_t room = width > taken + place_width ? width - taken - place_width : 0;
        row_line_make(line, &printer->tree->cells, view, number, &printer->columns, indent,
                      &(struct row_label){.marker = marker, .room = room > LEAST_NAME ? room : LEAST_NAME});
        const struct line_part *last = &line->parts.at[line->parts.n - 1];
        place_width = last->kind == LINE_PLACE ? 2 + text_columns(line->text.at + last->at) : 0;
    }
    if (place_width && text_columns(text_string(&line->text)) > width)
        text_truncate(&line->text, line->parts.at[line->parts.n - 1].at - 2);
    text_cut(&line->text, width);
}

static void enter(void *context, struct view *view, uint32_t number, uint32_t level)
{
    struct tree_printer *printer = context;
    const struct tree *tree = printer->tree;
    bool is_closed = row_is_closed(tree->open, number) && filtered_can_open(tree->filtered, number);
    char marker[32];
    const char *sign = !is_closed ? "  " : tree->cells.ascii ? "> " : "▸ ";
    snprintf(marker, sizeof marker, level > printer->most_indented ? "%s[%u] " : "%s", sign, level);
    make_line(printer, view, number, level, marker);
    if (view_row(view, number)->kind == KIND_STATEMENT)
        add_source(printer, number);
    text_end_line(&printer->line.text, tree->out);
}

/* Adds what the limit is a share of: "work"; of two runs "work [a] and work [b]". */
static void add_limited_metric(struct writer *writer, const struct tree *tree)
{
    const struct limits *limits = &tree->limits;
    const struct metrics *metrics = tree->view->metrics;
    const struct metric *metric = &metrics->at[limits->by.metric];
    for (int side = 0; side < (metric_is_compared(metric) ? SIDES : 1); side++) {
        size_t m = metric_is_compared(metric) ? metric->compared.sides[side] : limits->by.metric;
        size_t of = limits->share_of == SHARE_OF_WHOLE ? metrics_whole(metrics, m) : m;
        writer_say(writer, "%s%s", side == 0 ? "" : " and ", metrics->at[of].name);
    }
}

static void print_left_out(struct writer *writer, const struct tree *tree,
                           const struct left_out *left_out)
{
    if (left_out->small || left_out->deep || left_out->closed)
        writer_end_line(writer);
    if (left_out->small) {
        bool is_one = left_out->small == 1;
        text_printf(&writer->line, "%s scope%s with less than %g%% of ", number_grouped(left_out->small).text,
                    is_one ? "" : "s", tree->limits.share * 100);
        add_limited_metric(writer, tree);
        writer_line(writer, " %s left out (--min-percent 0 shows all).", is_one ? "is" : "are");
    }
    if (left_out->deep)
        writer_line(writer, "%s scope%s below level %u (--depth shows more).", number_grouped(left_out->deep).text,
                    left_out->deep == 1 ? " goes on" : "s go on", tree->limits.depth);
    if (left_out->closed) {
        bool is_one = left_out->closed == 1;
        writer_line(writer, "%s row%s %s closed: what is below %s is left out.", number_grouped(left_out->closed).text,
                    is_one ? "" : "s", is_one ? "is" : "are", is_one ? "it" : "them");
    }
}

void print_tree_text(const struct tree *tree)
{
    struct tree_printer printer = {.tree = tree, .sources = {.rules = tree->session->rules}};
    struct columns usual = tree->columns ? (struct columns){0} : usual_columns(tree);
    printer.columns = tree->columns ? *tree->columns : usual;
    size_t least = printer.columns.n * PART_WIDTH + LEAST_NAME;
    printer.width = !tree->width ? SIZE_MAX : tree->width > least ? tree->width : least;
    printer.most_indented = MOST_INDENTED;
    while (printer.most_indented && least + INDENT * printer.most_indented > printer.width)
        printer.most_indented--;
    writer_open(&printer.writer, FORMAT_TEXT, tree->width, tree->out);
    print_head(&printer.writer, tree);
    print_column_heads(&printer);
    struct visitor visitor = {.enter = enter, .context = &printer};
    struct left_out left_out =
        walk_visible(tree->filtered, tree->root, &tree->limits, tree->open, &visitor);
    print_left_out(&printer.writer, tree, &left_out);
    free(usual.at);
    sources_free(&printer.sources);
    vec_free(&printer.line.text);
    vec_free(&printer.line.parts);
    writer_free(&printer.writer);
}
