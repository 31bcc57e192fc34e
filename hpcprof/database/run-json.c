#include "hpcprof/database/run-json-parts.h"

#include "hpcprof/base/output-file.h"
#include "hpcprof/database/database-files.h"
#include "hpcprof/database/run-json-values.h"

#include "lib/database-format.h"

#include <stdlib.h>
#include <string.h>

/* ---- events ---- */

static void write_event(struct json_writer *json, const struct event *event)
{
    bool by_rate = event->flags & EVENT_BY_RATE;
    json_write_object(json);
#define FIELDS_OF_EVENT
#include "hpcprof/database/run-fields.h"
    json_write_object_end(json);
}

static void write_events(struct json_writer *json, const struct measurements *measurements)
{
    json_write_array(json);
    for (size_t i = 0; i < measurements->events.n; i++)
        if (!(measurements->events.at[i].flags & EVENT_EXACT))
            write_event(json, &measurements->events.at[i]);
    json_write_array_end(json);
}

/* ---- agents ---- */

/* Whether the text was not in the set before; adds it and frees it. */
static bool is_new(struct strtab *set, char *text)
{
    bool is_new = strtab_find(set, text) == UINT32_MAX;
    strtab_id(set, text);
    free(text);
    return is_new;
}

static void write_agent(struct json_writer *json, struct strtab *written,
                        const struct measurement_agent *agent)
{
    if (!is_new(written, mem_printf("%s\n%s\n%s\n%s", agent->name, agent->version, agent->rules,
                                    agent->rules_version)))
        return;
    json_write_object(json);
#define FIELDS_OF_AGENT
#include "hpcprof/database/run-fields.h"
    json_write_object_end(json);
}

/* Writes each agent that took part once, in the order of the files. */
static void write_agents(struct json_writer *json, const struct measurements *measurements)
{
    struct strtab written = {0};
    json_write_array(json);
    for (size_t i = 0; i < measurements->files.n; i++) {
        const struct measurement *m = measurements->files.at[i].m;
        for (size_t k = 0; k < m->agents.n; k++)
            if (!measurement_refusal(m, m->agents.at[k].name))
                write_agent(json, &written, &m->agents.at[k]);
    }
    json_write_array_end(json);
    strtab_free(&written);
}

/* Writes each refusal of an agent once, in the order of the files. */
static void write_refusals(struct json_writer *json, const struct measurements *measurements)
{
    struct strtab written = {0};
    json_write_array(json);
    for (size_t i = 0; i < measurements->files.n; i++) {
        const struct measurement *m = measurements->files.at[i].m;
        for (size_t k = 0; k < m->refusals.n; k++) {
            const struct measurement_refusal *refusal = &m->refusals.at[k];
            if (!is_new(&written, mem_printf("%s\n%s", refusal->agent, refusal->why)) ||
                measurement_refusal(m, refusal->agent) != refusal->why)
                continue;
            json_write_object(json);
#define FIELDS_OF_REFUSED_AGENT
#include "hpcprof/database/run-fields.h"
            json_write_object_end(json);
        }
    }
    json_write_array_end(json);
    strtab_free(&written);
}

/* ---- modules ---- */

static int by_path(const void *a, const void *b, void *argument)
{
    const struct load_modules *modules = argument;
    const struct load_module *x = &modules->all.at[*(const uint32_t *)a],
                             *y = &modules->all.at[*(const uint32_t *)b];
    int order = strcmp(x->path, y->path);
    return order ? order : strcmp(x->build_id, y->build_id);
}

static void write_module(struct json_writer *json, const struct analysis *analysis, uint32_t index)
{
    static const char *const qualities[] = {
        [STRUCTURE_MISSING] = "none",
        [STRUCTURE_SYMBOLS] = "symbols",
        [STRUCTURE_FULL] = "full",
    };
    const struct load_module *module = &analysis->measurements->modules.all.at[index];
    const struct module_structure *structure = &analysis->structures->of_module[index];
    const char *why_separate = clones_why_separate(analysis->clones, index);
    const char *why = why_separate ? why_separate : structure->why;
    bool has_options = structure->structure && structure->structure->n_unoptimized;
    json_write_object(json);
#define FIELDS_OF_MODULE
#include "hpcprof/database/run-fields.h"
    json_write_object_end(json);
}

/* Writes the modules that call paths go through. */
static void write_modules(struct json_writer *json, const struct analysis *analysis)
{
    const struct load_modules *modules = &analysis->measurements->modules;
    autofree VEC(uint32_t) used = {0};
    for (uint32_t i = 0; i < modules->all.n; i++)
        if (modules->all.at[i].is_used)
            vec_push(&used, i);
    if (used.n)
        qsort_r(used.at, used.n, sizeof *used.at, by_path, (void *)modules);
    json_write_array(json);
    for (size_t i = 0; i < used.n; i++)
        write_module(json, analysis, used.at[i]);
    json_write_array_end(json);
}

/* ---- lists ---- */

static void write_directories(struct json_writer *json, const struct measurements *measurements)
{
    json_write_array(json);
    for (size_t i = 0; i < measurements->directories.n; i++)
        json_write_string(json, measurements->directories.at[i]);
    json_write_array_end(json);
}

/* Writes the statistics over threads that the user wanted. */
static void json_write_statistics(struct json_writer *json, const char *key, statistic_set set)
{
    json_write_key(json, key);
    json_write_array(json);
    for (int s = 0; s < STATISTICS; s++)
        if (statistics_have(set, (enum statistic)s))
            json_write_string(json, statistic_names[s]);
    json_write_array_end(json);
}

static void json_write_ids(struct json_writer *json, const char *key, const struct context_ids *ids)
{
    json_write_key(json, key);
    json_write_array(json);
    for (size_t i = 0; i < ids->n; i++)
        json_write_integer(json, ids->at[i]);
    json_write_array_end(json);
}

static void write_lost_end(struct run_json *run, const struct measurement *m)
{
    const struct lost_end end = process_ends_find(run->ends, m);
    if (!end.state && !end.error)
        return;
    char *text = lost_end_text(&end), *line = mem_printf("%s: %s", m->name, text);
    json_write_string(&run->json, line);
    free(line);
    free(text);
}

static void write_problems(struct run_json *run)
{
    const struct measurements *measurements = run->analysis->measurements;
    json_write_array(&run->json);
    for (size_t i = 0; i < measurements->problems.n; i++)
        json_write_string(&run->json, measurements->problems.at[i]);
    for (size_t i = 0; i < measurements->files.n; i++)
        write_lost_end(run, measurements->files.at[i].m);
    json_write_array_end(&run->json);
}

/* ---- regions ---- */

static double span_time(uint64_t time)
{
    return (double)time / (1u << TIME_SHIFT) * 1e-9;
}

static void write_region(struct json_writer *json, uint64_t pid,
                         const struct measurement_region *region)
{
    json_write_object(json);
#define FIELDS_OF_REGION
#include "hpcprof/database/run-fields.h"
    json_write_object_end(json);
}

/* The regions of all processes, in the order of the files. */
static void write_regions(struct json_writer *json, const struct measurements *measurements)
{
    json_write_array(json);
    for (size_t i = 0; i < measurements->files.n; i++) {
        const struct measurement *m = measurements->files.at[i].m;
        for (size_t k = 0; k < m->regions.n; k++)
            write_region(json, m->process.pid, &m->regions.at[k]);
    }
    json_write_array_end(json);
}

/* ---- the file ---- */

static void write_run(struct run_json *run, const char *title, const struct context_ids *calls)
{
    struct json_writer *json = &run->json;
    const struct measurements *measurements = run->analysis->measurements;
    json_write_object(json);
#define FIELDS_OF_RUN
#include "hpcprof/database/run-fields.h"
    json_write_object_end(json);
}

void run_json_write(const char *path, const char *title, const struct analysis *analysis,
                    const struct thread_creations *creations,
                    const struct traced_threads *traced,
                    const struct context_ids *unknown_site_calls)
{
    FILE *out = output_stream(path);
    struct run_json run = {
        .analysis = analysis, .creations = creations, .ends = analysis->ends, .traced = traced};
    json_write_start(&run.json, out, 2);
    write_run(&run, title, unknown_site_calls);
    output_stream_close(out, path, json_write_finish(&run.json));
}
