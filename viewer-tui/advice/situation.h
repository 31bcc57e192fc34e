/* What finders of advice look at: a row, the facts about the run, and the places where time
 * goes. */
#ifndef VIEWER_SITUATION_H
#define VIEWER_SITUATION_H

#include "viewer-tui/advice/finding.h"
#include "viewer-tui/advice/main-process.h"
#include "viewer-tui/advice/time-places.h"
#include "viewer-tui/tree/view.h"

struct situation {
    struct view *view; /* top-down */
    uint32_t row;
    const json_t *run;
    struct main_process
        process; /* without threads and wall clock if the view is restricted to some threads */
    struct time_metric cpu;     /* by CPUTIME, else by REALTIME; NO_METRIC: neither */
    struct time_metric blocked; /* NO_METRIC: not measured */
    struct time_metric lock_blame, lock_wait; /* of the event of `cpu`; NO_METRIC: not measured */
    struct time_metric thread_waits; /* waiting of plain threads by REALTIME; NO_METRIC: none */
    size_t waiting, incomplete; /* of the event of `cpu`; NO_METRIC: not measured */
    const char *cpu_event;      /* "" or " (CPUTIME)", the end of the names of its metrics */
    double cpu_increment;       /* mean of a sample */
    double blocked_increment;
    struct time_places cpu_places, blocked_places;
};

/* For a row of a top-down view. The caller frees. */
struct situation situation_of(struct view *view, uint32_t row, const json_t *run);
void situation_free(struct situation *situation);

/* Adds "solve, solve.c:12", or "solve" if the line is unknown. */
void situation_add_place(const struct situation *situation, const struct time_place *place,
                         struct text *text);

/* Sets the place of a finding. */
void finding_set_place(struct finding *finding, const struct time_place *place);

/* Adds "1.200 s". */
void add_seconds(struct text *text, double seconds);

/* The finders, each in a file of its own, add what they find. */
void find_unknown_code(const struct situation *situation, struct findings *findings);
void find_locks(const struct situation *situation, struct findings *findings);
void find_blocked(const struct situation *situation, struct findings *findings);
/* Returns the seconds, at least, in which threads with more work than others run alone. */
double find_imbalance(const struct situation *situation, struct findings *findings);
/* `explained`: the seconds in which one thread runs alone because of imbalance. */
void find_one_thread(const struct situation *situation, double explained,
                     struct findings *findings);
void find_waiting(const struct situation *situation, struct findings *findings);
void find_parallelism(const struct situation *situation, struct findings *findings);
void find_span(const struct situation *situation, struct findings *findings);
void find_too_many_threads(const struct situation *situation, struct findings *findings);
void find_not_optimized(const struct situation *situation, struct findings *findings);
void find_system_calls(const struct situation *situation, struct findings *findings);
void find_memory_calls(const struct situation *situation, struct findings *findings);
void find_hot_place(const struct situation *situation, struct findings *findings);

#endif
