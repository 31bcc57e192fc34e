/* The time line of each thread as a sequence of pieces, one after another, for the formats of other programs. */
#ifndef VIEWER_TIMELINE_PIECES_H
#define VIEWER_TIMELINE_PIECES_H

#include "viewer-tui/output/open-timeline.h"

/* What is in the window of a record. Those of one sample, which share an interval, follow each other in it. */
struct piece_of_time {
    double begin, end; /* ns */
    bool continues;    /* where the one before ended: periods vary by half, so gaps of up to a period are none */
    double amount;     /* ns, or a count */
    enum trace_state state;
    bool ran;      /* on a CPU */
    uint32_t node; /* 0: none */
};

/* Whether some of a region is in the window. */
static inline bool region_is_in_window(const struct thread_region *region, const struct time_window *window)
{
    return region->begin < window->end && region->end > window->begin;
}

/* Calls `take` for the pieces of a thread, as in rows.order, that lie in the window, in the order of time. */
void timeline_pieces(const struct open_timeline *open, size_t thread,
                     void (*take)(void *context, const struct piece_of_time *piece), void *context);

/* Numbers for a thread's process and itself: its pid and tid where these are known and distinguish them. */
int64_t timeline_pid(const struct open_timeline *open, size_t thread);
int64_t timeline_tid(const struct open_timeline *open, size_t thread);

#endif
