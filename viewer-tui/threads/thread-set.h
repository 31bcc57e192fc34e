/* A set of threads of a run: those that a regular expression matches, those of a program, or one. */
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

/* Finds the wanted threads. NULL, with the reason in *cause (which the caller frees), if there are none. The caller frees
 * the set. */
typedef struct thread_set *thread_chooser(const struct threads *threads, const json_t *run, const char *wanted,
                                          char **cause);

/* The threads whose label (thread_label) matches an extended regular expression; case matters only if it has upper case.
 * There are none if it is invalid. */
thread_chooser thread_set_matching;

/* The threads of the processes that ran a program of that name, or whose executable has that path. */
thread_chooser thread_set_of_program;

/* The thread with that index in the list of `threads`; `what` is its label. */
struct thread_set *thread_set_of_one(const struct threads *threads, size_t thread, const char *what);

void thread_set_free(struct thread_set *set); /* NULL allowed */

/* Adds "threads: worker (2 of 4)". */
void thread_set_describe(const struct thread_set *set, bool ascii, struct text *out);

/* Whether a profile is in the set; NULL is the set of all. */
static inline bool thread_set_has(const struct thread_set *set, uint32_t profile)
{
    return !set || (profile < set->n_profiles && set->has[profile]);
}

/* Removes the threads that are not in the set from the list. */
void thread_set_keep(const struct thread_set *set, struct threads *threads);

#endif
