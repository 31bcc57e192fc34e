/* A set of threads of a run: those that a regular expression matches, those of a program, or picked
 * ones. */
#ifndef VIEWER_THREAD_SET_H
#define VIEWER_THREAD_SET_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/threads/run-threads.h"

struct thread_set {
    char *what;          /* for titles: the expression, the program, or a thread's label */
    bool is_program;     /* `what` is the name of a program */
    bool *has;           /* by number of the profile */
    uint32_t n_profiles; /* length of `has` */
    size_t n, of;        /* number of threads in the set, and in the run */
};

/* The threads whose label (thread_label) matches an extended regular expression; case matters
 * only if it has upper case. NULL, with the reason in *cause (which the caller frees), if none does
 * or it is invalid. The caller frees the set. */
struct thread_set *thread_set_matching(const struct threads *threads, const json_t *run,
                                       const char *expression, char **cause);

/* The threads of the processes that ran a program of that name, or whose executable has that path.
 * NULL, with the reason in *cause, if there are none. */
struct thread_set *thread_set_of_program(const struct threads *threads, const json_t *run,
                                         const char *program, char **cause);

/* The threads picked[0 .. n-1], indices in the list of `threads`. */
struct thread_set *thread_set_picked(const struct threads *threads, const size_t *picked, size_t n,
                                     const char *what);

void thread_set_free(struct thread_set *set); /* NULL allowed */

/* Adds "threads: worker (2 of 4)". */
void thread_set_describe(const struct thread_set *set, bool ascii, struct text *out);

/* Whether a profile is in the set; NULL is the set of all. */
static inline bool thread_set_has(const struct thread_set *set, uint32_t profile)
{
    return !set || (profile < set->n_profiles && set->has[profile]);
}

/* Removes the threads that are not in the set from the list, and computes its statistics again. */
void thread_set_keep(const struct thread_set *set, struct threads *threads,
                     const struct metrics *metrics);

#endif
