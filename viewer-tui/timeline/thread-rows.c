#include "viewer-tui/timeline/thread-rows.h"

#include "lib/alloc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool is_worker(const struct timeline *timeline, uint32_t profile)
{
    const struct timeline_thread *thread = timeline_thread(timeline, profile);
    const struct timeline_record *records = thread ? timeline_records(timeline, thread) : NULL;
    for (uint64_t i = 0; records && i < thread->n_records; i++)
        if (records[i].amount & TRACE_WORKER || trace_state(records[i].amount) == TRACE_IDLE)
            return true;
    return false;
}

/* The name of a thread, its numbers as "#"; NULL: that of the process's first thread, which threads inherit. */
static char *name_of_kind(const struct thread *thread)
{
    const json_t *first = json_array_get(json_object_get(thread->process, "threads"), 0);
    if (!*thread->name || !first || strcmp(thread->name, run_text(first, "name")) == 0)
        return NULL;
    struct text kind = {0};
    for (const char *at = thread->name; *at; at++)
        if (!isdigit((unsigned char)*at))
            text_printf(&kind, "%c", *at);
        else if (!isdigit((unsigned char)at[1]))
            text_add(&kind, "#");
    return kind.at;
}

char *thread_routine(const struct timeline *timeline, const struct thread *thread)
{
    const char *routine = run_text(thread->described, "start_routine");
    const char *offset = *routine == '<' ? strstr(routine, "+0x") : NULL;
    char *kind = offset ? name_of_kind(thread) : NULL;
    if (kind)
        return kind;
    if (offset && is_worker(timeline, thread->profile))
        return mem_printf("worker of %.*s", (int)(offset - routine - 1), routine + 1);
    return mem_strdup(*routine ? routine : thread->name);
}

/* NULL: it has none. */
static const struct timeline_thread *records_of(const struct thread_rows *rows, const struct timeline *timeline,
                                                size_t index)
{
    const struct timeline_thread *thread = timeline_thread(timeline, rows->threads.list.at[index].profile);
    return thread && thread->n_records ? thread : NULL;
}

static void list_rows(struct thread_rows *rows)
{
    rows->rows.n = 0;
    for (size_t g = 0; g < rows->groups.n; g++) {
        const struct thread_group *group = &rows->groups.at[g];
        bool is_group = rows->grouping != BY_THREAD;
        vec_push(&rows->rows, ((struct thread_row){g, group->first, group->n, is_group}));
        for (size_t i = 0; i < group->n && group->is_open; i++)
            vec_push(&rows->rows, ((struct thread_row){g, group->first + i, 1, false}));
    }
}

/* The number of a thread's group, in the order of first threads. */
static uint32_t group_of(const struct thread_rows *rows, size_t index, struct idmap *processes)
{
    const struct thread *thread = &rows->threads.list.at[index];
    if (rows->grouping == BY_THREAD)
        return (uint32_t)index;
    if (rows->grouping == BY_ROUTINE)
        return rows->routine[index];
    uint64_t process = thread->process ? (uintptr_t)thread->process : (uint64_t)thread->pid;
    uint32_t group = idmap_get(processes, process, 0);
    if (group == IDMAP_NONE)
        idmap_put(processes, process, 0, group = (uint32_t)processes->count);
    return group;
}

/* The groups of all threads of the run, by index; returns their number. */
static size_t find_groups(const struct thread_rows *rows, uint32_t *groups)
{
    struct idmap processes = {0};
    size_t n = 0;
    for (size_t i = 0; i < rows->threads.list.n; i++) {
        groups[i] = group_of(rows, i, &processes);
        n = groups[i] >= n ? groups[i] + 1 : n;
    }
    idmap_free(&processes);
    return n;
}

void thread_rows_group(struct thread_rows *rows, const struct timeline *timeline, enum thread_grouping grouping)
{
    size_t n = rows->threads.list.n;
    autofree uint32_t *groups = mem_alloc((n + 1) * sizeof *groups);
    rows->grouping = grouping;
    rows->groups.n = 0;
    size_t n_groups = find_groups(rows, groups), *first = mem_alloc((n_groups + 2) * sizeof *first);
    for (size_t i = 0; i < n; i++)
        first[groups[i] + 1] += records_of(rows, timeline, i) != NULL;
    for (size_t g = 0; g < n_groups; g++) {
        if (first[g + 1])
            vec_push(&rows->groups, ((struct thread_group){.first = first[g], .n = first[g + 1]}));
        first[g + 1] += first[g];
    }
    for (size_t i = 0; i < n; i++) {
        const struct timeline_thread *thread = records_of(rows, timeline, i);
        if (!thread)
            continue;
        size_t at = first[groups[i]]++;
        rows->order[at] = i;
        rows->records[at] = thread;
    }
    free(first);
    list_rows(rows);
}

struct thread_rows thread_rows_of(const struct timeline *timeline, struct threads threads)
{
    struct thread_rows rows = {.threads = threads};
    rows.order = mem_alloc((threads.list.n + 1) * sizeof *rows.order);
    rows.records = mem_alloc((threads.list.n + 1) * sizeof(struct timeline_thread *));
    rows.routine = mem_alloc((threads.list.n + 1) * sizeof *rows.routine);
    for (size_t i = 0; i < threads.list.n; i++) {
        autofree char *routine = thread_routine(timeline, &threads.list.at[i]);
        rows.routine[i] = strtab_id(&rows.routines, routine);
    }
    thread_rows_group(&rows, timeline, BY_THREAD);
    rows.n = rows.groups.n;
    return rows;
}

void thread_rows_free(struct thread_rows *rows)
{
    threads_free(&rows->threads);
    free(rows->order);
    free(rows->records);
    free(rows->routine);
    strtab_free(&rows->routines);
    vec_free(&rows->groups);
    vec_free(&rows->rows);
}

enum thread_grouping thread_rows_usual(const struct thread_rows *rows, size_t lines)
{
    struct thread_rows by = *rows;
    autofree uint32_t *groups = mem_alloc((rows->threads.list.n + 1) * sizeof *groups);
    by.grouping = BY_PROCESS;
    size_t n_processes = find_groups(&by, groups);
    return rows->n <= lines ? BY_THREAD : n_processes > 1 ? BY_PROCESS : BY_ROUTINE;
}

void thread_rows_toggle(struct thread_rows *rows, size_t row)
{
    const struct thread_row *toggled = &rows->rows.at[row];
    if (!toggled->is_group)
        return;
    struct thread_group *group = &rows->groups.at[toggled->group];
    group->is_open = !group->is_open;
    list_rows(rows);
}
