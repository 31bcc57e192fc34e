#include "viewer-tui/print/print.h"

#include "lib/diag.h"
#include "viewer-tui/base/problem.h"
#include "viewer-tui/threads/threads.h"

#include <stdlib.h>
#include <string.h>

enum format format_named(const char *name)
{
    static const char *const names[FORMATS] = {[FORMAT_TEXT] = "text",
                                               [FORMAT_CSV] = "csv",
                                               [FORMAT_JSON] = "json",
                                               [FORMAT_FOLDED] = "folded",
                                               [FORMAT_FLAMEGRAPH] = "flamegraph",
                                               [FORMAT_SPEEDSCOPE] = "speedscope",
                                               [FORMAT_PPROF] = "pprof"};
    int format = 0;
    while (format < FORMATS && strcmp(names[format], name) != 0)
        format++;
    return (enum format)format;
}

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
                    {".pb.gz", FORMAT_PPROF}};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t size = strlen(suffixes[i].suffix);
        if (length >= size && strcmp(name + length - size, suffixes[i].suffix) == 0)
            return suffixes[i].format;
    }
    return FORMATS;
}

/* Scopes are left out by their inclusive costs, so that what is shown hangs together; only in the
 * bottom-up view do the rows below divide whatever the rows are sorted by. */
static struct limits limits_for(const struct view *view, enum view_id id,
                                const struct print_options *options)
{
    static const double least[FORMATS] = {
        [FORMAT_TEXT] = TEXT_MIN_PERCENT, [FORMAT_FLAMEGRAPH] = FLAMEGRAPH_MIN_PERCENT};
    double percent = options->min_percent < 0 ? least[options->format] : options->min_percent;
    uint32_t depth = options->depth;
    if (depth == 0)
        depth = id == BOTTOM_UP ? BOTTOM_UP_DEPTH + 1 : NO_DEPTH_LIMIT;
    size_t metric = view->sorting.metric;
    const struct metric *sorted = &view->metrics->at[metric];
    if (!metric_is_additive(sorted) && !metric_is_compared(sorted)) /* which has no shares */
        metric = metrics_first_additive(view->metrics);
    return (struct limits){.depth = depth,
                           .share = percent / 100,
                           .metric = metric,
                           .part = id == BOTTOM_UP ? view->sorting.part : INCLUSIVE};
}

/* Whether what a view is sorted by adds up along stacks, of a comparison in either run; otherwise
 * the complaint is made. */
static bool can_be_stacked(const struct session *session, const struct view *view)
{
    const struct metric *sorted = &view->metrics->at[view->sorting.metric];
    bool is_of_two = session_is_of_two(session);
    if (is_of_two ? metric_is_compared(sorted) : metric_is_additive(sorted))
        return true;
    diag_error(is_of_two ? NULL : view->db->folder,
               "'%s' does not add up along stacks; sort by another metric", sorted->name);
    return false;
}

int print_view(struct session *session, enum view_id id, const struct print_options *options,
               FILE *out)
{
    static void (*const printers[FORMATS])(const struct tree *) = {
        [FORMAT_TEXT] = print_tree_text,
        [FORMAT_CSV] = print_tree_csv,
        [FORMAT_JSON] = print_tree_json,
        [FORMAT_FOLDED] = print_tree_folded,
        [FORMAT_FLAMEGRAPH] = print_tree_flamegraph,
        [FORMAT_SPEEDSCOPE] = print_tree_speedscope,
        [FORMAT_PPROF] = print_tree_pprof,
    };
    struct view *view = session_view(session, options->projection, id);
    if (!view)
        return session->metric_list_is_bad ? 2 : 1;
    struct sorting sorting = view->sorting;
    if (!print_sorting(session, view->metrics, options->sort, &sorting))
        return 2;
    view_sort(view, sorting);
    if (options->format >= FORMAT_FOLDED && !can_be_stacked(session, view))
        return 2;
    struct tree tree = {.session = session,
                        .view = view,
                        .projection = options->projection,
                        .root = options->root,
                        .limits = limits_for(view, id, options),
                        .out = out};
    printers[options->format](&tree);
    return problem_text() ? 1 : 0;
}

int print_threads(struct session *session, const struct print_options *options, FILE *out)
{
    static void (*const printers[FORMATS])(const struct thread_table *) = {
        [FORMAT_TEXT] = print_threads_text,
        [FORMAT_CSV] = print_threads_csv,
        [FORMAT_JSON] = print_threads_json,
    };
    if (options->of)
        return print_threads_of(session, options, out);
    const struct database *db = session_database(session, options->projection);
    struct sorting sorting;
    if (!db)
        return session->metric_list_is_bad ? 2 : 1;
    if (!print_sorting(session, &db->metrics, options->sort, &sorting))
        return 2;
    struct threads threads;
    threads_read(&threads, db, session->run);
    thread_set_keep(session->threads, &threads, &db->metrics);
    if (options->sort)
        threads_sort(&threads, sorting.metric);
    struct thread_table table = {session, db, &threads, options->projection, out};
    printers[options->format](&table);
    threads_free(&threads);
    return problem_text() ? 1 : 0;
}
