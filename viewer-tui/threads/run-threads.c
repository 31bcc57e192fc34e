#include "viewer-tui/threads/run-threads.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/base/text.h"
#include "viewer-tui/db/database.h"
#include "viewer-tui/db/run.h"
#include "viewer-tui/db/time-slice.h"
#include "viewer-tui/threads/thread-origin.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct thread_reader {
    const struct database *db;
    struct threads *threads;
    struct v4_id_names names;
    bool is_whole;
};

static const char *kind_name(const struct thread_reader *reader, uint8_t kind)
{
    uint64_t pointer;
    const struct v4_map *meta = &reader->db->meta;
    if (kind < reader->names.n_kinds &&
        v4_read(meta, reader->names.names + kind * sizeof pointer, &pointer, sizeof pointer)) {
        const char *name = v4_string(meta, pointer);
        if (name)
            return name;
    }
    return "?";
}

/* Damaged files can claim more. */
#define MOST_IDS 16

static char *id_text(const struct thread_reader *reader, uint64_t pointer)
{
    const struct v4_map *map = &reader->db->profile;
    struct v4_id_tuple tuple = {0};
    struct text text = {0};
    if (pointer && !v4_read(map, pointer, &tuple, sizeof tuple))
        problem_found(map->path, "corrupt: the identity of a thread lies outside of the file");
    for (unsigned i = 0; i < tuple.n_ids && i < MOST_IDS; i++) {
        struct v4_id id;
        if (!v4_read(map, pointer + sizeof tuple + i * sizeof id, &id, sizeof id))
            break;
        bool is_physical = id.flags & V4_ID_IS_PHYSICAL;
        text_printf(&text, "%s%s %" PRIu64, text.n ? " " : "", kind_name(reader, id.kind),
                    is_physical ? id.physical_id : id.logical_id);
    }
    text_add(&text, "");
    return text.at;
}

static void read_profile(struct thread_reader *reader, uint32_t number)
{
    struct v4_profile profile = database_profile(reader->db, number);
    bool has_records = reader->is_whole || !reader->db->slice || time_slice_has(reader->db->slice, number);
    if (profile_is_summary(&profile) || !has_records)
        return;
    struct thread thread = {.profile = number, .pid = -1, .tid = -1, .name = ""};
    thread.id = id_text(reader, profile.id_tuple);
    vec_push(&reader->threads->list, thread);
}

static int64_t integer_or_unknown(const json_t *object, const char *key)
{
    const json_t *number = json_object_get(object, key);
    return json_is_integer(number) ? json_integer_value(number) : -1;
}

static int compare_profiles(const void *left, const void *right)
{
    const struct thread *a = left, *b = right;
    return (a->profile > b->profile) - (a->profile < b->profile);
}

/* Completes a thread with what run.json says of it. */
static void identify(struct threads *threads, const json_t *run, const json_t *process,
                     const json_t *described)
{
    int64_t profile = integer_or_unknown(described, "profile");
    if (profile < 0 || profile > UINT32_MAX)
        return;
    struct thread key = {.profile = (uint32_t)profile};
    struct thread *thread = NULL;
    if (threads->list.n)
        thread = bsearch(&key, threads->list.at, threads->list.n, sizeof key, compare_profiles);
    if (!thread)
        return;
    thread->pid = integer_or_unknown(process, "pid");
    thread->tid = integer_or_unknown(described, "tid");
    thread->name = run_text(described, "name");
    thread->process = process;
    thread->described = described;
    thread->created_at = thread_origin_path(run, described);
}

void threads_read(struct threads *threads, const struct database *db, const json_t *run, bool is_whole)
{
    *threads = (struct threads){0};
    struct thread_reader reader = {.db = db,
                                   .is_whole = is_whole,
                                   .threads = threads};
    v4_read(&db->meta, db->meta.sections[V4_META_ID_NAMES].at, &reader.names, sizeof reader.names);
    uint32_t n = database_n_profiles(db);
    for (uint32_t i = 1; i < n; i++)
        read_profile(&reader, i);
    json_each (process, json_object_get(run, "processes"))
        json_each (thread, json_object_get(process, "threads"))
            identify(threads, run, process, thread);
}

void threads_free(struct threads *threads)
{
    for (size_t i = 0; i < threads->list.n; i++)
        free(threads->list.at[i].id);
    vec_free(&threads->list);
}

size_t threads_count(const struct database *db)
{
    struct threads threads;
    threads_read(&threads, db, NULL, false);
    size_t n = threads.list.n;
    threads_free(&threads);
    return n;
}

void thread_label(const struct thread *thread, bool with_host, bool ascii, struct text *out)
{
    if (thread->pid < 0) {
        text_add_clean(out, thread->id, ascii);
        return;
    }
    run_add_place(thread->process, with_host, ascii, out);
    text_add_clean(out, thread->name, ascii);
    text_printf(out, "%s%" PRId64, *thread->name ? " " : "", thread->pid);
    if (thread->tid >= 0)
        text_printf(out, "/%" PRId64, thread->tid);
}
