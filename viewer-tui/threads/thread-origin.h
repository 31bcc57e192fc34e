/* The calls that created threads, from run.json (doc/FORMAT-database.md, section 2). A path is an
 * array of {"name", "file", "line"}: procedures with the lines of their calls, outermost first. */
#ifndef VIEWER_THREAD_ORIGIN_H
#define VIEWER_THREAD_ORIGIN_H

#include "lib/alloc.h"
#include "lib/json.h"
#include "viewer-tui/base/text.h"

#include <jansson.h>

/* The path that created a thread described in run.json; NULL if unknown. */
const json_t *thread_origin_path(const json_t *run, const json_t *described);

/* Adds the last procedures of a path, innermost first, and the last one in a source file of the user's
 * (path_is_installed in lib/source-names.h):
 * "blas_thread_init < gotoblas_init < ... < <module> train.py:3". */
void thread_origin_add(const json_t *path, bool ascii, struct text *out);

/* Adds a line per procedure, outermost first; nothing for NULL. */
void thread_origin_add_lines(const json_t *path, bool ascii, struct text *out);

/* Writes the array; unknown files and lines are null. null for NULL. */
void thread_origin_write(const json_t *path, struct json_writer *json);

/* A path and the number of threads that it created. */
struct thread_origin {
    const json_t *path; /* NULL: unknown */
    size_t threads;
};

struct thread_origins {
    VEC(struct thread_origin) list;
};

enum thread_root {
    ROOT_THREAD,  /* threads that are below <thread root> in the logical projection */
    ROOT_CREATOR, /* threads that are below a frame of their creator there */
    ROOT_ANY,     /* both: in the physical projection all are below <thread root> */
};

/* Finds the paths that created the threads with this start routine and root, those with the most
 * threads first. The caller frees the list. */
void thread_origins_find(struct thread_origins *origins, const json_t *run,
                         const char *start_routine, enum thread_root root);

#endif
