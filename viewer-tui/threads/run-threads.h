/* The threads of a run: the profiles of profile.db, identified by run.json. */
#ifndef VIEWER_THREADS_H
#define VIEWER_THREADS_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/db/database.h"
#include "viewer-tui/db/run.h"

struct thread {
    uint32_t profile;         /* number in profile.db */
    char *id;                 /* identifiers in profile.db, "NODE 71 RANK 0 THREAD 2" */
    int64_t pid, tid;         /* -1 if unknown */
    const char *name;         /* "" if unknown */
    const json_t *process;    /* in run.json; NULL if unknown */
    const json_t *described;  /* the thread in run.json; NULL if unknown */
    const json_t *created_at; /* the path that created it (thread-origin.h); NULL if unknown */
};

struct threads {
    VEC(struct thread) list; /* in order of profiles */
};

/* Reads the threads. `run` may be NULL and must outlive the
 * result, which the caller frees. `is_whole`: also those that have no records in the piece of time to which the database
 * is restricted. */
void threads_read(struct threads *threads, const struct database *db, const json_t *run, bool is_whole);

/* The number of threads of a database. */
size_t threads_count(const struct database *db);

void threads_free(struct threads *threads);

/* Adds the label of a thread, which regular expressions for threads match, too:
 *
 *     solver 71/73                      name, process and thread id
 *     rank 3 on node2: solver 71/73     of a parallel job, with the host if there are several
 *     NODE 7 RANK 3 THREAD 2            identity in the database, if run.json does not know the
 * thread
 *
 * `with_host`: run_hosts_differ(run). The text is safe for terminals (text_add_clean). */
void thread_label(const struct thread *thread, bool with_host, bool ascii, struct text *out);

#endif
