/* What findings are made from: a row, what is known of the run, and where its time went. */
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
    struct main_process process; /* without threads and wall clock where the view has only some
                                    threads' values */
    struct time_metric cpu;      /* CPU time, by CPUTIME or else by REALTIME; NO_METRIC: neither */
    struct time_metric blocked;  /* NO_METRIC where it was not measured */
    size_t waiting, incomplete;  /* metrics of the event of CPU time; NO_METRIC */
    const char *cpu_event;       /* "" or " (CPUTIME)", the end of its metrics' names */
    double cpu_increment;        /* of a sample */
    double blocked_increment;
    struct time_places cpu_places, blocked_places;
};

/* Looks at a row of a top-down view. The caller frees. */
struct situation situation_of(struct view *view, uint32_t row, const json_t *run);
void situation_free(struct situation *situation);

/* Adds "solve, solve.c:12", or "solve" where no line is known. */
void situation_add_place(const struct situation *situation, const struct time_place *place,
                         struct text *text);

/* The finding is there. */
void finding_set_place(struct finding *finding, const struct time_place *place);

/* Adds "1.200 s". */
void add_seconds(struct text *text, double seconds);

/* The finders, each in a file of its own; they add what they find. */
void find_unknown_code(const struct situation *situation, struct findings *findings);
void find_blocked(const struct situation *situation, struct findings *findings);
/* Returns the seconds for which threads with larger parts than others run alone, at least. */
double find_imbalance(const struct situation *situation, struct findings *findings);
/* `explained`: so many seconds in which one thread runs alone are known to be of imbalance. */
void find_one_thread(const struct situation *situation, double explained,
                     struct findings *findings);
void find_waiting(const struct situation *situation, struct findings *findings);
void find_span(const struct situation *situation, struct findings *findings);
void find_not_optimized(const struct situation *situation, struct findings *findings);
void find_system_calls(const struct situation *situation, struct findings *findings);
void find_hot_place(const struct situation *situation, struct findings *findings);

#endif
