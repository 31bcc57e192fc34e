#include "hpcprof/database/run-json-parts.h"

#include "hpcprof/database/run-json-values.h"

#include "lib/measurement-format.h"

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
#define FIELDS_OF_CREATION_FRAME
#include "hpcprof/database/run-fields.h"
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

void run_json_write_creation_paths(struct run_json *run)
{
    json_write_array(&run->json);
    for (size_t i = 0; i < run->creations->paths.n; i++)
        write_path(run, i);
    json_write_array_end(&run->json);
}

/* ---- events of a thread ---- */

static void write_fates(struct json_writer *json, const struct event *event,
                        const struct measurement_fate *fates, size_t count)
{
    json_write_object(json);
    for (size_t i = 0; i < count; i++) {
        autofree char *unknown = mem_printf("code %u", fates[i].code);
        const char *name = fate_name(fates[i].code);
        json_write_key(json, name ? name : unknown);
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
#define FIELDS_OF_SAMPLES
#include "hpcprof/database/run-fields.h"
    json_write_object_end(json);
}

static void write_events(struct run_json *run, const struct measurement_file *file,
                         const struct measurement_thread *thread)
{
    const struct measurement_fate *fates = thread->fates.at;
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

void run_json_write_thread(struct run_json *run, const struct measurement_file *file,
                           const struct measurement_thread *thread, size_t profile)
{
    struct json_writer *json = &run->json;
    const struct thread_origin *origin = &run->creations->threads.at[profile - 1];
    json_write_object(json);
#define FIELDS_OF_THREAD
#include "hpcprof/database/run-fields.h"
    json_write_object_end(json);
}
