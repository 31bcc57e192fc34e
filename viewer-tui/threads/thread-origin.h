/* Where threads were created, as run.json has it (doc/FORMAT-database.md, section 2). A path is an
 * array of {"name", "file", "line"}: procedures with the lines of their calls, outermost first. */
#ifndef VIEWER_THREAD_ORIGIN_H
#define VIEWER_THREAD_ORIGIN_H

#include "lib/alloc.h"
#include "lib/json.h"
#include "viewer-tui/base/text.h"

#include <jansson.h>

/* The path that created the thread that a description in run.json is about; NULL if unknown. */
const json_t *thread_origin_path(const json_t *run, const json_t *described);

/* Adds its last procedures, the innermost first: "pool_start pool.c:12 < phase_one pool.c:80". */
void thread_origin_add(const json_t *path, bool ascii, struct text *out);

/* Adds each procedure in a line of its own, outermost first. NULL adds nothing. */
void thread_origin_add_lines(const json_t *path, bool ascii, struct text *out);

/* Writes it as it is in run.json, with null for what is not known; null for NULL. */
void thread_origin_write(const json_t *path, struct json_writer *json);

/* How many threads a path has created. */
struct thread_origin {
    const json_t *path; /* NULL unknown */
    size_t threads;
};

struct thread_origins {
    VEC(struct thread_origin) list;
};

enum thread_root {
    ROOT_THREAD,  /* threads below <thread root> in the logical projection */
    ROOT_CREATOR, /* threads below a frame of their creator there */
    ROOT_ANY,     /* both: the physical projection has them below <thread root> */
};

/* Finds the paths that created the threads with this start routine and root, those of the most
 * threads first. The caller frees the list. */
void thread_origins_find(struct thread_origins *origins, const json_t *run,
                         const char *start_routine, enum thread_root root);

#endif
