/* The threads of a run and what each of them cost: the profiles of profile.db, with the identities
 * that run.json knows. */
#ifndef VIEWER_THREADS_H
#define VIEWER_THREADS_H

#include "viewer-tui/db/database.h"
#include "viewer-tui/db/run.h"

struct thread {
    uint32_t profile;         /* its number in profile.db */
    char *id;                 /* its identifiers there: "NODE 71 RANK 0 THREAD 2" */
    int64_t pid, tid;         /* -1 unknown */
    const char *name;         /* "" unknown */
    const json_t *process;    /* its description in run.json; NULL unknown */
    const json_t *described;  /* the thread's own there; NULL unknown */
    const json_t *created_at; /* the path that created it (thread-origin.h); NULL unknown */
    uint64_t samples, dropped,
        partial;    /* of all events: fired, without a path, with a part of it */
    double *totals; /* of each metric of the database; NAN where it is not defined */
};

enum statistic { SUM, LEAST, MEAN, LARGEST, STATISTICS };

struct threads {
    VEC(struct thread) list;        /* in the order of the database */
    double *statistics[STATISTICS]; /* of each metric over the threads; NAN where not defined */
};

/* What percentages of a metric refer to: its sum, or that of the one that it is a part of. */
static inline double threads_whole(const struct threads *threads, const struct metrics *metrics,
                                   size_t metric)
{
    return threads->statistics[SUM][metrics_whole(metrics, metric)];
}

/* Reads the threads; damaged profiles read as zero, with the problem noted. `run` may be NULL and
 * must outlive the result, which the caller frees. */
void threads_read(struct threads *threads, const struct database *db, const json_t *run);
/* How many there are. */
size_t threads_count(const struct database *db);

/* Makes the statistics anew, after the list has changed. */
void threads_add_up(struct threads *threads, const struct metrics *metrics);

/* "sum", "min", "mean", "max". */
const char *statistic_name(enum statistic statistic);

/* Puts the threads with the largest totals of a metric first. */
void threads_sort(struct threads *threads, size_t metric);

void threads_free(struct threads *threads);

#endif
