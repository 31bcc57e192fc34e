#include "viewer-tui/output/print.h"

#include "lib/diag.h"
#include "viewer-tui/db/metric-selection.h"
#include "viewer-tui/table/column-choice.h"
#include "viewer-tui/tree/labels.h"
#include "viewer-tui/tree/filtered-tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum format format_of_file(const char *name)
{
    static const struct {
        const char *suffix;
        enum format format;
    } suffixes[] = {{".txt", FORMAT_TEXT},
                    {".csv", FORMAT_CSV},
                    {".speedscope.json", FORMAT_SPEEDSCOPE},
                    {".json", FORMAT_JSON},
                    {".folded", FORMAT_FOLDED},
                    {".html", FORMAT_FLAMEGRAPH},
                    {".svg", FORMAT_SVG},
                    {".pb.gz", FORMAT_PPROF}};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t size = strlen(suffixes[i].suffix);
        if (length >= size && strcmp(name + length - size, suffixes[i].suffix) == 0)
            return suffixes[i].format;
    }
    return FORMATS;
}

double print_least_percent(enum format format, double min_percent)
{
    static const double least[FORMATS] = {
        [FORMAT_TEXT] = TEXT_MIN_PERCENT, [FORMAT_FLAMEGRAPH] = FLAMEGRAPH_MIN_PERCENT,
        [FORMAT_SVG] = FLAMEGRAPH_MIN_PERCENT};
    return min_percent < 0 ? least[format] : min_percent;
}

/* The user's limit refers to the percentages on the screen; a format's own to the metric itself, so
 * that a little idleness shows, too. */
struct limits print_limits(const struct view *view, enum format format, double min_percent,
                           uint32_t depth)
{
    double percent = print_least_percent(format, min_percent);
    if (depth == 0)
        depth = view->class->shows_callers ? BOTTOM_UP_DEPTH + 1 : NO_DEPTH_LIMIT;
    return (struct limits){.depth = depth,
                           .share = percent > 0 ? percent / 100 : -INFINITY,
                           .share_of = min_percent < 0 ? SHARE_OF_TOTAL : SHARE_OF_WHOLE,
                           .by = view_judged_by(view)};
}

bool print_sorting(const struct session *session, const struct metrics *metrics, const char *wanted,
                   struct sorting *sorting)
{
    if (!wanted)
        return true;
    if (!choose_sorting(metrics, wanted, sorting)) {
        autofree char *names = choose_names(metrics);
        diag_error(session->folder, "no metric '%s' to sort by; there are: %s", wanted, names);
        return false;
    }
    const struct metric *metric = &metrics->at[sorting->metric];
    if (!metric_is_measured(metric))
        diag_error(session->folder, "'%s' was not measured: %s", metric->name, metric->why);
    return metric_is_measured(metric);
}

void tree_add_filters(const struct tree *tree, bool ascii, struct text *out)
{
    const struct filters *filters = tree->filtered->filters;
    for (size_t i = 0; i < filters_n(filters); i++) {
        text_add(out, i ? " [" : "[");
        filter_describe(filters_at(filters, i), ascii, out);
        text_add(out, "]");
    }
}

void print_tree(const struct tree *tree, enum format format)
{
    static void (*const printers[FORMATS])(const struct tree *) = {
        [FORMAT_TEXT] = print_tree_text,
        [FORMAT_CSV] = print_tree_csv,
        [FORMAT_JSON] = print_tree_json,
        [FORMAT_FOLDED] = print_tree_folded,
        [FORMAT_FLAMEGRAPH] = print_tree_flamegraph,
        [FORMAT_SPEEDSCOPE] = print_tree_speedscope,
        [FORMAT_PPROF] = print_tree_pprof,
        [FORMAT_SVG] = print_tree_svg,
    };
    printers[format](tree);
}

bool print_can(enum format format, const struct view *view)
{
    const struct metric *sorted = &view->metrics->at[view->sorting.metric];
    bool is_of_two = !view->db;
    return format < FORMAT_FOLDED ||
           (is_of_two ? metric_is_compared(sorted) : metric_is_additive(sorted));
}

/* The columns that an option --columns names; false, with the error reported, if there are none of them. */
static bool print_columns(const struct session *session, const struct metrics *metrics, const char *wanted,
                          struct columns *columns)
{
    struct column_choice choice = {0};
    column_text_take(&choice, metrics, wanted);
    *columns = column_choice_shown(&choice, metrics);
    if (!choice.is_made) {
        autofree char *names = choose_names(metrics);
        diag_error(session->folder, "no column of '%s'; there are :inclusive and :exclusive of %s", wanted, names);
        free(columns->at);
    }
    column_choice_free(&choice);
    return choice.is_made;
}

int print_view(struct session *session, struct view *view, const struct print_options *options, FILE *out)
{
    static const struct filters no_filters;
    struct sorting sorting = view->sorting;
    if (!print_sorting(session, view->metrics, options->sort, &sorting))
        return 2;
    view_sort(view, sorting);
    if (!print_can(options->format, view)) {
        diag_error(view->db ? view->db->folder : NULL,
                   "'%s' does not add up along stacks; sort by another metric",
                   view->metrics->at[sorting.metric].name);
        return 2;
    }
    struct columns columns;
    if (options->columns && !print_columns(session, view->metrics, options->columns, &columns))
        return 2;
    struct filtered_tree filtered = {.view = view,
                                     .filters = options->filters ? options->filters : &no_filters};
    filtered_prepare(&filtered);
    struct tree tree = {
        .session = session,
        .view = view,
        .projection = options->projection,
        .filtered = &filtered,
        .limits = print_limits(view, options->format, options->min_percent, options->depth),
        .columns = options->columns ? &columns : NULL,
        .cells = {.has_bars = options->has_bars, .ascii = describe_in_ascii()},
        .width = options->width,
        .out = out};
    print_tree(&tree, options->format);
    filtered_close(&filtered);
    if (options->columns)
        free(columns.at);
    return 0;
}
