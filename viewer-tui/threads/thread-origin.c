#include "viewer-tui/threads/thread-origin.h"

#include "lib/source-names.h"
#include "viewer-tui/db/run.h"

#include <string.h>

/* More would not fit beside a thread's name. */
#define SHORT_FRAMES 2

const json_t *thread_origin_path(const json_t *run, const json_t *described)
{
    const json_t *index = json_object_get(described, "created_at");
    const json_t *paths = json_object_get(run, "creation_paths");
    if (!json_is_integer(index) || json_integer_value(index) < 0)
        return NULL;
    const json_t *path = json_array_get(paths, (size_t)json_integer_value(index));
    return json_is_array(path) && json_array_size(path) ? path : NULL;
}

static void add_frame(const json_t *frame, bool ascii, struct text *out)
{
    const char *file = run_text(frame, "file"), *slash = strrchr(file, '/');
    double line = run_number(frame, "line");
    text_add_clean(out, run_text(frame, "name"), ascii);
    if (!*file)
        return;
    text_say(out, ascii, " %s", slash ? slash + 1 : file);
    if (line > 0)
        text_printf(out, ":%.0f", line);
}

/* Whether the user may have written a frame's source. */
static bool is_users(const json_t *frame)
{
    const char *file = run_text(frame, "file");
    return *file == '/' && !path_is_installed(file);
}

void thread_origin_add(const json_t *path, bool ascii, struct text *out)
{
    size_t n = json_array_size(path);
    /* The C++ library creates threads on behalf of its caller. */
    while (n > 1 && cxx_name_is_std(run_text(json_array_get(path, n - 1), "name")))
        n--;
    for (size_t i = 0; i < SHORT_FRAMES && i < n; i++) {
        text_add(out, i ? " < " : "");
        add_frame(json_array_get(path, n - 1 - i), ascii, out);
    }
    size_t users = 0;
    while (users < n && !is_users(json_array_get(path, n - 1 - users)))
        users++;
    if (users >= SHORT_FRAMES && users < n) {
        text_add(out, users > SHORT_FRAMES ? " < ... < " : " < ");
        add_frame(json_array_get(path, n - 1 - users), ascii, out);
    }
}

void thread_origin_add_lines(const json_t *path, bool ascii, struct text *out)
{
    for (size_t i = 0; i < json_array_size(path); i++) {
        text_add(out, "  ");
        add_frame(json_array_get(path, i), ascii, out);
        text_add(out, "\n");
    }
}

static void write_frame(const json_t *frame, struct json_writer *json)
{
    const char *file = run_text(frame, "file");
    double line = run_number(frame, "line");
    json_print(json, "{name:%s file:%s line:%jd}", run_text(frame, "name"), *file ? file : NULL,
               line > 0 ? (intmax_t)line : -1);
}

void thread_origin_write(const json_t *path, struct json_writer *json)
{
    if (!path) {
        json_write_null(json);
        return;
    }
    json_print(json, "[");
    for (size_t i = 0; i < json_array_size(path); i++)
        write_frame(json_array_get(path, i), json);
    json_print(json, "]");
}

static int by_threads(const void *a, const void *b)
{
    const struct thread_origin *x = a, *y = b;
    return (x->threads < y->threads) - (x->threads > y->threads);
}

void thread_origins_find(struct thread_origins *origins, const json_t *run,
                         const char *start_routine, enum thread_root root)
{
    *origins = (struct thread_origins){0};
    json_each (process, json_object_get(run, "processes")) {
        json_each (thread, json_object_get(process, "threads")) {
            const char *below = run_text(thread, "root");
            bool is_there = strcmp(below, "creator") == 0 ? root != ROOT_THREAD
                                                          : strcmp(below, "thread root") == 0 && root != ROOT_CREATOR;
            if (!is_there || strcmp(run_text(thread, "start_routine"), start_routine) != 0)
                continue;
            const json_t *path = thread_origin_path(run, thread);
            size_t of = 0;
            while (of < origins->list.n && origins->list.at[of].path != path)
                of++;
            if (of == origins->list.n)
                vec_push(&origins->list, (struct thread_origin){.path = path});
            origins->list.at[of].threads++;
        }
    }
    vec_sort(&origins->list, by_threads);
}
