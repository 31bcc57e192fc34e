#include "hpcprof/database/run-json-parts.h"

#include "hpcprof/database/run-json-values.h"

#include "lib/hash-tables.h"
#include "lib/measurement-format.h"

#include <stdlib.h>

/* A region that the program names, from one of its begins to the end of it. */
struct thread_region {
    const char *name;
    uint64_t begin, end; /* CLOCK_MONOTONIC, ns */
    bool has_end;
    size_t around; /* index + 1 of the region of the same name that was open when it began; 0: none */
};

struct thread_regions {
    VEC(struct thread_region) all; /* in the order of their begins */
    struct strtab names;
    VEC(size_t) innermost; /* by name: index + 1 of the open region; 0: none is open */
};

static void begin_region(struct thread_regions *regions, uint32_t name, uint64_t time)
{
    const struct thread_region region = {.name = strtab_string(&regions->names, name),
                                         .begin = time,
                                         .around = regions->innermost.at[name]};
    vec_push(&regions->all, region);
    regions->innermost.at[name] = regions->all.n;
}

/* An end without a begin, in another thread or before sampling began, says nothing. */
static void end_region(struct thread_regions *regions, uint32_t name, uint64_t time)
{
    size_t innermost = regions->innermost.at[name];
    if (innermost == 0)
        return;
    struct thread_region *region = &regions->all.at[innermost - 1];
    region->end = time;
    region->has_end = true;
    regions->innermost.at[name] = region->around;
}

/* Pairs begins and ends by their names: an end is that of the latest open region. */
static void find_regions(struct thread_regions *regions, const struct measurement_thread *thread)
{
    for (size_t i = 0; i < thread->marks.n; i++) {
        const struct measurement_mark *mark = &thread->marks.at[i];
        uint32_t name = strtab_id(&regions->names, mark->name);
        if (name == regions->innermost.n)
            vec_push(&regions->innermost, 0);
        if (mark->kind == MARK_BEGIN)
            begin_region(regions, name, mark->time);
        else if (mark->kind == MARK_END)
            end_region(regions, name, mark->time);
    }
}

static void write_region(struct json_writer *json, const struct thread_region *region,
                         uint64_t process_begin)
{
    json_write_object(json);
#define FIELDS_OF_REGION_OF_A_THREAD
#include "hpcprof/database/run-fields.h"
    json_write_object_end(json);
}

void json_write_regions(struct json_writer *json, const char *key, const struct measurement *m,
                        const struct measurement_thread *thread)
{
    struct thread_regions regions = {0};
    find_regions(&regions, thread);
    json_write_key(json, key);
    json_write_array(json);
    for (size_t i = 0; i < regions.all.n; i++)
        write_region(json, &regions.all.at[i], m->process.monotonic);
    json_write_array_end(json);
    vec_free(&regions.all);
    vec_free(&regions.innermost);
    strtab_free(&regions.names);
}
