/* The keys of the time view. */
#include "viewer-tui/terminal/screens/list.h"
#include "viewer-tui/terminal/screens/timeline-page.h"

#include "viewer-tui/compare/session-restriction.h"
#include "viewer-tui/tree/labels.h"
#include "viewer-tui/tree/pattern.h"

#include <stdlib.h>

/* Parts of the window that a step over its edge, and a key that moves it, go. */
#define EDGE_PARTS 8
#define PAN_PARTS  2

#define ZOOM 2.0

/* Most columns of the name of what is marked. */
#define MOST_NAME_COLUMNS 40

static struct time_chart *chart_of(struct tui *tui)
{
    return &tui->time_page->open.chart;
}

/* ---- time ---- */

static void go_to_time(struct time_page *page, uint64_t time)
{
    page->column = time_window_column(&page->open.chart.window, time);
}

/* Moves the cursor by a column; over the edge the window moves. */
static void step(struct tui *tui)
{
    struct time_page *page = tui->time_page;
    struct time_chart *chart = chart_of(tui);
    long columns = tui->command->argument, n = chart->window.n, to = (long)page->column + columns;
    if (to < 0 || to >= n) {
        uint64_t time = time_page_time(page), column = (chart->window.end - chart->window.begin) / chart->window.n;
        time_chart_pan(chart, columns * (n / EDGE_PARTS + 1));
        go_to_time(page, columns < 0 ? time - (column < time ? column : time) : time + column);
    } else {
        page->column = (unsigned)to;
    }
}

static void pan(struct tui *tui)
{
    struct time_chart *chart = chart_of(tui);
    time_chart_pan(chart, tui->command->argument * (long)(chart->window.n / PAN_PARTS));
}

/* Zooms around the mouse, if the wheel does it, or the cursor: in until a column is at most a sampling period. */
static void zoom(struct tui *tui)
{
    struct time_page *page = tui->time_page;
    struct mouse mouse = screen_mouse();
    if (mouse.column >= page->rows.column && mouse.column < page->rows.column + page->rows.width)
        page->column = (unsigned)(mouse.column - page->rows.column);
    uint64_t time = time_page_time(page);
    const struct timeline *timeline = chart_of(tui)->timeline;
    if (tui->command->argument > 0 && timeline->is_time &&
        timeline_column_length(&page->lines) <= 1e9 * timeline->period) {
        tui_say(tui, "no closer: a column is at most a sampling period (%.3g ms)", 1e3 * timeline->period);
        return;
    }
    time_chart_zoom(chart_of(tui), tui->command->argument > 0 ? 1 / ZOOM : ZOOM, time);
    go_to_time(page, time);
}

static void show_whole(struct tui *tui)
{
    struct time_page *page = tui->time_page;
    uint64_t time = time_page_time(page);
    time_chart_show(chart_of(tui), 0, chart_of(tui)->timeline->end, chart_of(tui)->window.n);
    go_to_time(page, time);
}

static void click(struct tui *tui)
{
    struct time_page *page = tui->time_page;
    struct mouse mouse = screen_mouse();
    size_t row = page->scroller.top + (size_t)(mouse.line - page->rows.line);
    if (mouse.line < page->rows.line || mouse.line >= page->rows.line + page->rows.height || row >= page->scroller.n)
        return;
    page->scroller.selected = row;
    if (mouse.column >= page->rows.column)
        page->column = (unsigned)(mouse.column - page->rows.column);
}

/* Goes to the longest stretch, the next one if that was the last command. */
static void go_to_idle(struct tui *tui)
{
    struct time_page *page = tui->time_page;
    struct time_chart *chart = chart_of(tui);
    struct time_stretch found;
    bool is_again = page->idle.end && page->last == tui->command;
    if (!time_chart_longest_idle(chart, is_again ? &page->idle : NULL, &found)) {
        tui_say(tui, is_again ? "there is no other one" : "no thread is idle or waits");
        page->idle.end = 0;
        return;
    }
    uint64_t length = found.end - found.begin, before = length < found.begin ? length : found.begin;
    page->idle = found;
    time_chart_show(chart, found.begin - before, found.end + length, chart->window.n);
    page->scroller.selected = time_chart_row(chart, found.thread);
    go_to_time(page, found.begin + length / 2);
    text_add(&tui->message, "idle or waiting for ");
    timeline_add_time(length, timeline_tick_step(length, 100), &tui->message);
    tui_say(tui, "; i: the next one");
}

/* ---- what is shown ---- */

static void change_depth(struct tui *tui)
{
    struct time_page *page = tui->time_page;
    long depth = (long)chart_of(tui)->depth + tui->command->argument;
    if (depth < 0 || depth > (long)place_deepest(&page->open.scopes)) {
        tui_say(tui, depth < 0 ? "these are the states" : "no path is deeper");
        return;
    }
    time_chart_set_depth(chart_of(tui), (uint32_t)depth);
    page->lines.letters.procedures.n = 0;
}

static void group(struct tui *tui)
{
    static const char *const words[GROUPINGS] = {[BY_THREAD] = "a row for each thread",
                                                 [BY_PROCESS] = "a row for each process",
                                                 [BY_ROUTINE] = "a row for each start routine"};
    struct time_page *page = tui->time_page;
    struct time_chart *chart = chart_of(tui);
    time_chart_group(chart, (enum thread_grouping)((chart->rows.grouping + 1) % GROUPINGS));
    page->scroller = (struct scroller){.n = chart->rows.rows.n};
    time_page_fit_labels(page);
    tui_say(tui, "%s", words[chart->rows.grouping]);
}

static void toggle_group(struct tui *tui)
{
    time_chart_toggle(chart_of(tui), tui->time_page->scroller.selected);
    time_page_fit_labels(tui->time_page);
}

static void unmark(struct time_page *page)
{
    time_chart_mark(&page->open.chart, NULL);
    text_clear(&page->marked);
}

void time_page_mark_row(struct tui *tui)
{
    struct time_page *page = tui->time_page;
    const struct pane *pane = tui_pane(tui);
    bool *marks = place_marks_of_row(&page->open.scopes, pane->view, pane_row(pane));
    unmark(page);
    if (!marks)
        return;
    time_chart_mark(chart_of(tui), marks);
    describe_short_name(pane->view, pane_row(pane), tui->ascii, MOST_NAME_COLUMNS, &page->marked);
}

static void mark_or_unmark(struct tui *tui)
{
    if (tui->time_page->marked.n)
        unmark(tui->time_page);
    else
        time_page_mark_row(tui);
}

static void find(struct tui *tui)
{
    struct time_page *page = tui->time_page;
    const char *answer = tui_ask(tui, "/", "", NULL);
    size_t n = 0;
    if (answer)
        unmark(page);
    if (answer && *answer) {
        struct pattern *pattern = pattern_new(answer);
        bool *marks = place_marks_of_name(&page->open.scopes, pattern, &n);
        if (n) {
            time_chart_mark(chart_of(tui), marks);
            text_add_clean(&page->marked, answer, tui->ascii);
            tui_say(tui, "%zu procedure%s, with what they call  (Esc: all)", n, n == 1 ? "" : "s");
        } else {
            free(marks);
            tui_say(tui, "not found: %s", answer);
        }
        if (pattern->is_broken)
            tui_say(tui, "; invalid regular expression; searching for it literally");
        pattern_free(pattern);
    }
}

/* ---- other views ---- */

/* Goes to the row of what the thread did at the cursor, in the top-down view; if nothing is known of that instant, of
 * what has most of the cell. */
static void go_to_row(struct tui *tui)
{
    struct time_page *page = tui->time_page;
    const struct thread_row *row = time_page_row(page);
    const struct time_window *window = &chart_of(tui)->window;
    autofree struct text unused = {0};
    if (row->is_group) {
        toggle_group(tui);
        return;
    }
    uint32_t node = timeline_add_instant(&page->open, row->first, time_page_time(page), tui->ascii, &unused);
    if (!node)
        node = timeline_largest_node(&page->open, row->first, time_window_at(window, page->column),
                                     time_window_at(window, page->column + 1));
    if (!node) {
        tui_say(tui, "there is no call path");
        return;
    }
    tui_show_view(tui, tui->projection, TOP_DOWN);
    page->is_closed = true;
    if (tui->id == TOP_DOWN)
        tui_select(tui, place_row(&page->open.scopes, tui_pane(tui)->view, node));
}

/* Goes to the begin of the next region that the program names, or of the one before that in which the cursor is or was
 * last. */
static void go_to_region(struct tui *tui)
{
    struct time_page *page = tui->time_page;
    struct time_chart *chart = chart_of(tui);
    const thread_regions *regions = &page->open.regions;
    uint64_t time = time_page_time(page);
    bool is_next = tui->command->argument > 0;
    const struct thread_region *region = thread_region_next(regions, is_next ? time : time + 1, is_next ? 1 : -1);
    if (region && !is_next)
        region = thread_region_next(regions, region->begin, -1);
    if (!region) {
        tui_say(tui, regions->n ? "there is no other region" : "the program names no regions (hpctoolkit.h)");
        return;
    }
    uint64_t half = (chart->window.end - chart->window.begin) / 2, begin = region->begin;
    if (begin < chart->window.begin || begin >= chart->window.end)
        time_chart_show(chart, begin > half ? begin - half : 0, begin + half, chart->window.n);
    page->scroller.selected = time_chart_row(chart, time_chart_thread(chart, region->profile));
    go_to_time(page, begin);
    if (time_page_time(page) < begin && page->column + 1 < chart->window.n)
        page->column++; /* into the region */
    tui_say(tui, "region %s: ", region->name);
    timeline_add_time(region->end - begin, timeline_tick_step(region->end - begin, 100), &tui->message);
}

static void restrict_to(struct tui *tui, struct time_range range)
{
    time_chart_show(chart_of(tui), range.from, range.to, chart_of(tui)->window.n);
    tui->time_page->is_closed = true;
    tui->command = command_of_key('6');
    tui_restrict_time(tui, &range);
}

/* Begins a range with the cursor's column, or ends it and restricts all views to it. */
static void select_range(struct tui *tui)
{
    struct time_page *page = tui->time_page;
    const struct time_window *window = &chart_of(tui)->window;
    uint64_t from = time_window_at(window, page->column), to = time_window_at(window, page->column + 1);
    uint64_t begin = page->range_begin;
    if (begin == NO_TIME) {
        page->range_begin = from;
        tui_say(tui, "the range begins here; r ends it, Esc gives it up");
    } else {
        restrict_to(tui, begin < from ? (struct time_range){begin, to} : (struct time_range){from, begin});
    }
}

static void select_window(struct tui *tui)
{
    restrict_to(tui, (struct time_range){chart_of(tui)->window.begin, chart_of(tui)->window.end});
}

/* Shows the phase around the cursor; if that is shown, the next one (argument 1) or the one before (-1); from the last
 * one the first. */
static void show_phase(struct tui *tui)
{
    struct time_page *page = tui->time_page;
    tui_announce("looking for phases ...");
    const struct phases *phases = session_phases(tui->session);
    uint64_t time = time_page_time(page);
    size_t at = 0;
    if (!phases)
        return;
    while (at + 1 < phases->n && phases->at[at].range.to <= time)
        at++;
    const struct time_range *now = &phases->at[at].range;
    bool is_shown = chart_of(tui)->window.begin == now->from && chart_of(tui)->window.end == now->to;
    size_t step = (size_t)(tui->command->argument + (int)phases->n);
    at = is_shown ? (at + step) % phases->n : at;
    const struct phase *phase = &phases->at[at];
    time_chart_show(chart_of(tui), phase->range.from, phase->range.to, chart_of(tui)->window.n);
    page->column = 0;
    char buffer[NAME_SIZE];
    tui_say(tui, "phase %zu of %zu%s%s  (n: next, R: all views about it)", at + 1, phases->n,
            phase->procedure != NOTHING ? ": " : "",
            text_or_empty(phase_place(page->open.scopes.db, phase, buffer)));
}

/* Undoes marks, the begin of a range, the range; else closes the page. */
static void undo(struct tui *tui)
{
    struct time_page *page = tui->time_page;
    if (page->marked.n) {
        unmark(page);
    } else if (page->range_begin != NO_TIME) {
        page->range_begin = NO_TIME;
    } else {
        page->is_closed = true;
        if (tui->ranged_by)
            tui_leave_restriction(tui);
    }
}

const struct family time_family = {
    "Time line (key 6)",
    COMMANDS({"Left, h", "move the cursor to earlier times; at the edge the window moves", step, -1, 0},
             {"Right, l", "move the cursor to later times", step, 1, 0},
             {"Shift-Left, <", "go half a window to earlier times", pan, -1, 0},
             {"Shift-Right, >", "go half a window to later times", pan, 1, 0},
             {"z, wheel up", "zoom in around the cursor, or the mouse", zoom, 1, 0},
             {"Z, wheel down, Backspace", "zoom out", zoom, -1, 0}, {"0", "the whole run", show_whole, 0, 0},
             {"+, =", "deeper: procedures at the next depth of the call paths, from the program's outermost one on",
              change_depth, 1, 0},
             {"-", "less deep; depth 0: states", change_depth, -1, 0},
             {"Enter", "go to the row of what the thread did at the cursor; open or close a group", go_to_row, 0, 0},
             {"Space", "open or close a group of threads", toggle_group, 0, 0},
             {"o", "a row for each thread, process, or start routine", group, 0, 0},
             {"/, F3", "show only when procedures ran whose name matches, with what they call", find, 0, 0},
             {"t", "show only the time of the row that is selected in the tree, or all", mark_or_unmark, 0, 0},
             {"i", "go to the longest time that a thread was idle (without idle workers: waited); again: the next",
              go_to_idle, 0, 0},
             {"r", "begin a range; again: all views, the summary and the advice are about it", select_range, 0, 0},
             {"R", "all views, the summary and the advice are about the window", select_window, 0, 0},
             {"n", "show the phase around the cursor; again: the next", show_phase, 1, 0},
             {"N", "the same; again: the phase before", show_phase, -1, 0},
             {"m", "go to the begin of the next region that the program names (hpctoolkit.h)", go_to_region, 1, 0},
             {"M", "the region before", go_to_region, -1, 0},
             {"Esc", "undo: what is marked, the range; then close the page", undo, 0, 0},
             {"click", "move the cursor", click, 0, 0})};
