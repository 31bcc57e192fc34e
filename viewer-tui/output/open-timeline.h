/* The time line of the open database as a chart, with the words for it. */
#ifndef VIEWER_OPEN_TIMELINE_H
#define VIEWER_OPEN_TIMELINE_H

#include "viewer-tui/compare/session.h"
#include "viewer-tui/timeline/thread-regions.h"
#include "viewer-tui/timeline/time-chart.h"

/* Must stay where it is while the chart is used. */
struct open_timeline {
    const struct timeline *timeline; /* of the session */
    struct place_scopes scopes;
    struct time_chart chart;
    thread_regions regions;
    bool hosts_differ;
    double clock_error; /* of hosts (db/run.h) */
};

/* Opens the threads and the piece of time to which the session is restricted, in `columns`. `has_all_threads`: also
 * those that have no records in that piece. Returns NULL, or why there is no time line, which may be problem_text();
 * the caller closes it if there is one. */
const char *open_timeline(struct open_timeline *open, struct session *session, enum projection projection,
                          bool has_all_threads, unsigned columns);
/* Why a database can't be read: problem_text(), if it is known. */
const char *database_why_none(void);

/* Why the session's database has no time line; problem_text() if it is damaged. */
const char *timeline_why_none(const struct session *session);

void close_timeline(struct open_timeline *open);

/* Adds the name of a row: a thread's label, "rank 3: app 71 (4 threads)", "worker (4 threads)". */
void timeline_add_row(const struct open_timeline *open, size_t row, bool ascii, struct text *out);

/* Adds a time with as many decimals as tell apart times that are `step` ns from each other: "1.25 s". */
void timeline_add_time(uint64_t time, uint64_t step, struct text *out);

/* The distance of ticks: 1, 2 or 5 times a power of ten ns, so that a length has at most `most` of them. */
uint64_t timeline_tick_step(uint64_t length, unsigned most);

/* Adds the ticks of the window: "|0.5 s     |1.0 s". */
void timeline_add_axis(const struct time_window *window, struct text *out);

/* What is not in the time line, or how coarse it is; "" if nothing need be said. */
void timeline_add_note(const struct open_timeline *open, struct text *out);

/* Adds what a thread, as in rows.order, did at an instant: "1.234 s  worker 71/73: working 70 %, ready 30 %; 2 of 4
 * workers work; in sort". Returns the node of that; 0 if there is none. */
uint32_t timeline_add_instant(const struct open_timeline *open, size_t thread, uint64_t time, bool ascii,
                              struct text *out);

/* Adds who ended the wait that a thread is in at an instant, and what that one did then: "woken by worker 71/73 at
 * 1.250 s: main > push  queue.c:12"; nothing if it is not known. `step` as above; the text has at most `columns`. */
void timeline_add_waker(const struct open_timeline *open, size_t thread, uint64_t time, uint64_t step, size_t columns,
                        bool ascii, struct text *out);

/* The node of the record of a thread that has most of a piece of time; 0 if there is none. */
uint32_t timeline_largest_node(const struct open_timeline *open, size_t thread, uint64_t from, uint64_t to);

/* Adds the path of a node, "main > solve > dgemm  kernel.c:12"; if that is longer than `columns`, without its begin. */
void timeline_add_path(const struct open_timeline *open, uint32_t node, size_t columns, bool ascii, struct text *out);

#endif
