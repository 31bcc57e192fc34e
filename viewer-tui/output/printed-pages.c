#include "viewer-tui/output/printed-pages.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/compare/session-databases.h"

#define BIT(format) (1u << FORMAT_##format)
#define TABLES      (BIT(TEXT) | BIT(CSV) | BIT(JSON))
#define TREES       (TABLES | BIT(FOLDED) | BIT(FLAMEGRAPH) | BIT(SPEEDSCOPE) | BIT(PPROF) | BIT(SVG))

const struct printed_page printed_pages[PRINTED] = {
    [TOP_DOWN] = {"top-down", print_view, TOP_DOWN, TREES, TAKES_ALL, .is_tree = true},
    [BOTTOM_UP] = {"bottom-up", print_view, BOTTOM_UP, TREES, TAKES_ALL, .is_tree = true},
    [FLAT] = {"flat", print_view, FLAT, TREES, TAKES_ALL, .is_tree = true},
    [PRINT_THREADS] = {"threads", print_threads, VIEWS, TABLES, TAKES_SORT | TAKES_METRICS | TAKES_CALLS | TAKES_FOLDS,
                       .alone = "threads of two runs cannot be matched: print them for each database, or see those of "
                                "either run in the viewer (key 4)"},
    [PRINT_SUMMARY] = {"summary", print_summary, TOP_DOWN, BIT(TEXT) | BIT(JSON) | BIT(MARKDOWN),
                       TAKES_METRICS | TAKES_CALLS | TAKES_FOLDS,
                       .whole = "the summary is about the whole run", .compare = print_comparison},
    [PRINT_TIMELINE] = {"timeline", print_timeline, VIEWS,
                        BIT(TEXT) | BIT(JSON) | BIT(SVG) | BIT(CHROME), TAKES_CALLS | TAKES_DEPTH,
                        .alone = "time lines of two runs cannot be matched: print that of each database"},
    [PRINT_PHASES] = {"phases", print_phases, VIEWS, TABLES, TAKES_METRICS, .whole = "phases are those of the whole run",
                      .alone = "phases are those of one run: print them for each database"},
    [PRINT_CRITICAL_PATH] = {"critical-path", print_critical_path, VIEWS, TABLES, TAKES_PERCENT,
                             .whole = "the critical path goes through all threads",
                             .alone = "critical paths are those of one run: print that of each database"},
    [PRINT_SCALING] = {"scaling", NULL, VIEWS, TABLES | BIT(SVG), 0, .is_of_set = true,
                       .whole = "scaling is about whole runs"},
    /* Losses may be negative, which stacks cannot show. */
    [PRINT_LOSSES] = {"losses", print_view, TOP_DOWN, TABLES, TAKES_ALL, .is_tree = true, .is_of_set = true,
                      .whole = "losses are about whole runs"}};

int print_page(enum printed page, struct session *session, const struct print_options *options, FILE *out)
{
    const struct printed_page *printed = &printed_pages[page];
    bool compares = session_is_comparison(session) && printed->compare;
    enum view_id id = compares ? BOTTOM_UP : printed->view;
    struct view *view = id < VIEWS ? session_view(session, options->projection, id) : NULL;
    if (id < VIEWS && !view)
        return session_exit_status(session);
    struct sorting usual = view ? view->sorting : (struct sorting){0};
    int status = (compares ? printed->compare : printed->print)(session, view, options, out);
    if (view)
        view_sort(view, usual);
    return status ? status : problem_text() ? 1 : 0;
}
