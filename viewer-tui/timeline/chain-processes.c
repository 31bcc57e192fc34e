#include "viewer-tui/timeline/chain-processes.h"

#include "lib/hash-tables.h"
#include "viewer-tui/base/scope.h"

#include <stdlib.h>

/* Nanoseconds have 64 bits. */
#define MOST_SECONDS 9e9

double process_end(const json_t *process)
{
    const json_t *begin = json_object_get(process, "time_line_begin");
    double end = json_is_number(begin) ? json_number_value(begin) + run_number(process, "wall") : -1;
    return run_number(process, "time_line_begin") >= 0 && end < MOST_SECONDS ? end : -1;
}

/* Adds the process whose first thread it is. Returns its index; 0: it has no times. */
static uint32_t add(struct chain_processes *processes, const struct thread *thread, uint32_t first, uint32_t host)
{
    double begin = run_number(thread->process, "time_line_begin"), end = process_end(thread->process);
    if (end < 0 || thread->pid <= 0)
        return 0;
    vec_push(&processes->list, ((struct chain_process){.pid = (uint32_t)thread->pid,
                                                       .host = host,
                                                       .first = first,
                                                       .begin = (uint64_t)(begin * 1e9),
                                                       .end = (uint64_t)(end * 1e9),
                                                       .waiter = NOTHING}));
    return (uint32_t)processes->list.n - 1;
}

/* When a thread ended; UINT64_MAX: it is not known. */
static uint64_t thread_end(const struct thread *thread)
{
    double process = run_number(thread->process, "time_line_begin"), begin = run_number(thread->described, "begin"),
           wall = run_number(thread->described, "wall"), end = process + begin + wall;
    return process >= 0 && begin >= 0 && wall > 0 && end < MOST_SECONDS ? (uint64_t)(end * 1e9) : UINT64_MAX;
}

struct chain_processes chain_processes_of(const struct timeline *timeline, const struct threads *threads)
{
    struct chain_processes processes = {.of = mem_alloc((timeline->header.n_threads + 1) * sizeof *processes.of)};
    processes.ends = mem_alloc((timeline->header.n_threads + 1) * sizeof *processes.ends);
    for (uint32_t i = 0; i < timeline->header.n_threads; i++)
        processes.ends[i] = UINT64_MAX;
    struct strtab hosts = {0};
    struct idmap indices = {0};
    vec_push(&processes.list, ((struct chain_process){.first = NOTHING, .waiter = NOTHING})); /* of all others */
    for (size_t i = 0; i < threads->list.n; i++) {
        const struct thread *thread = &threads->list.at[i];
        const struct timeline_thread *of = timeline_thread(timeline, thread->profile);
        if (!of || !thread->process)
            continue;
        uint32_t at = (uint32_t)(of - timeline->threads), index = idmap_get(&indices, (uintptr_t)thread->process, 0);
        if (index == IDMAP_NONE) {
            index = add(&processes, thread, at, strtab_id(&hosts, run_text(thread->process, "host")));
            idmap_put(&indices, (uintptr_t)thread->process, 0, index);
        }
        processes.of[at] = index;
        processes.ends[at] = thread_end(thread);
    }
    idmap_free(&indices);
    strtab_free(&hosts);
    return processes;
}

void chain_processes_free(struct chain_processes *processes)
{
    vec_free(&processes->list);
    free(processes->of);
    free(processes->ends);
}
