#include "hpcprof/database/run-json-parts.h"

#include "hpcprof/database/run-json-values.h"

#include "lib/measurement-format.h"

#include <stdlib.h>

/* ---- creation paths ---- */

static void write_path(struct run_json *run, size_t path)
{
    struct json_writer *json = &run->json;
    const struct thread_creations *creations = run->creations;
    const struct symbol_table *symbols = run->analysis->symbols;
    json_write_array(json);
    for (size_t i = path ? creations->paths.at[path - 1] : 0; i < creations->paths.at[path]; i++) {
        const struct creation_frame *frame = &creations->frames.at[i];
        bool has_line = frame->file != NO_SYMBOL && frame->line != 0;
        json_write_object(json);
        json_write_text(json, "name", symbols->functions.at[frame->function].name);
        json_write_text(json, "file",
                        has_line ? strtab_string(&symbols->files, frame->file) : NULL);
        json_write_known_number(json, "line", has_line, frame->line);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

void run_json_write_creation_paths(struct run_json *run)
{
    json_write_key(&run->json, "creation_paths");
    json_write_array(&run->json);
    for (size_t i = 0; i < run->creations->paths.n; i++)
        write_path(run, i);
    json_write_array_end(&run->json);
}

/* ---- events of a thread ---- */

static void write_fates(struct json_writer *json, const struct event *event,
                        const struct measurement_fate *fates, size_t count)
{
    json_write_key(json, "fates");
    json_write_object(json);
    for (size_t i = 0; i < count; i++) {
        char *unknown = mem_printf("code %u", fates[i].code);
        const char *name = fate_name(fates[i].code);
        json_write_key(json, name ? name : unknown);
        free(unknown);
        json_write_object(json);
        json_write_number(json, "count", fates[i].count);
        json_write_amount(json, "amount", event_amount(event, fates[i].amount));
        json_write_object_end(json);
    }
    json_write_object_end(json);
}

/* `fates` are those of one event and source. */
static void write_event(struct run_json *run, const struct measurement_file *file,
                        const struct measurement_thread *thread,
                        const struct measurement_fate *fates, size_t count)
{
    struct json_writer *json = &run->json;
    const struct measurement_event *event = &file->m->events.at[fates[0].event];
    uint64_t fired = 0;
    for (size_t i = 0; i < count; i++)
        if (fates[i].code == FATE_FIRED)
            fired = fates[i].count;
    bool is_wall = event->flags & EVENT_WALL_CLOCK;
    double clock = is_wall ? seconds(thread->last_monotonic - thread->first_monotonic)
                           : seconds(thread->last_cpu - thread->first_cpu);
    json_write_object(json);
    json_write_text(json, "event", event->name);
    json_write_code(json, "source", source_name(fates[0].source), fates[0].source);
    json_write_text(json, "note", event->why_other_source);
    json_write_number(json, "samples", fired);
    json_write_known_amount(json, "rate", clock > 0, (double)fired / clock);
    write_fates(json, &run->analysis->measurements->events.at[file->event_of[fates[0].event]],
                fates, count);
    json_write_object_end(json);
}

static void write_events(struct run_json *run, const struct measurement_file *file,
                         const struct measurement_thread *thread)
{
    const struct measurement_fate *fates = thread->fates.at;
    json_write_key(&run->json, "events");
    json_write_array(&run->json);
    for (size_t i = 0, end; i < thread->fates.n; i = end) {
        for (end = i + 1; end < thread->fates.n && fates[end].event == fates[i].event &&
                          fates[end].source == fates[i].source;
             end++)
            ;
        if (fates[i].event != MEASUREMENT_UNKNOWN)
            write_event(run, file, thread, fates + i, end - i);
    }
    json_write_array_end(&run->json);
}

/* ---- threads ---- */

static const char *root_name(const struct measurement_thread *thread,
                             const struct thread_origin *origin)
{
    if (thread->kind == THREAD_INITIAL && thread->creator == 0)
        return "main thread";
    return origin->is_in_creator ? "creator" : "thread root";
}

static void write_origin(struct run_json *run, const struct measurement_thread *thread,
                         const struct thread_origin *origin)
{
    bool has_start = origin->start_routine != NO_SYMBOL;
    json_write_text(&run->json, "start_routine",
                    has_start ? run->analysis->symbols->functions.at[origin->start_routine].name
                              : NULL);
    json_write_text(&run->json, "root", root_name(thread, origin));
    json_write_known_number(&run->json, "created_at", origin->path != NO_SYMBOL, origin->path);
}

void run_json_write_thread(struct run_json *run, const struct measurement_file *file,
                           const struct measurement_thread *thread, size_t profile)
{
    struct json_writer *json = &run->json;
    json_write_object(json);
    json_write_number(json, "index", thread->index);
    json_write_number(json, "tid", thread->tid);
    json_write_text(json, "name", thread->name);
    json_write_code(json, "kind", thread_kind_name(thread->kind), thread->kind);
    json_write_number(json, "profile", profile);
    json_write_amount(json, "begin", 
                      seconds_between(file->m->process.monotonic, thread->first_monotonic));
    json_write_amount(json, "wall", seconds(thread->last_monotonic - thread->first_monotonic));
    json_write_amount(json, "cpu", seconds(thread->last_cpu - thread->first_cpu));
    json_write_known_amount(json, "ready", thread->has_ready, seconds(thread->ready));
    json_write_known_number(json, "timeslices", thread->has_ready, (int64_t)thread->timeslices);
    json_write_truth(json, "ended", thread->ended);
    write_origin(run, thread, &run->creations->threads.at[profile - 1]);
    write_events(run, file, thread);
    json_write_object_end(json);
}
