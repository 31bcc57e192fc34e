#include "hpcprof/database/run-json.h"

#include "hpcprof/base/output-file.h"
#include "hpcprof/measurement/process-ends.h"

#include "lib/database-format.h"
#include "lib/diag.h"
#include "lib/json.h"
#include "lib/measurement-format.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- small things ---- */

static void write_number(struct json_writer *json, const char *key, uint64_t value)
{
    json_write_key(json, key);
    json_write_integer(json, (int64_t)value);
}

static void write_truth(struct json_writer *json, const char *key, bool value)
{
    json_write_key(json, key);
    json_write_bool(json, value);
}

static void write_amount(struct json_writer *json, const char *key, double value)
{
    json_write_key(json, key);
    json_write_double(json, value);
}

static double seconds(uint64_t nanoseconds)
{
    return (double)nanoseconds / 1e9;
}

/* The name of a code, or "code 42" for one that this version does not know. */
static void write_code(struct json_writer *json, const char *key, const char *name, uint64_t code)
{
    char *unknown = mem_printf("code %llu", (unsigned long long)code);
    json_write_text(json, key, name ? name : unknown);
    free(unknown);
}

/* ---- the run as a whole ---- */

static void write_metric(struct json_writer *json, const char *name, const struct event *event,
                         const char *state, const char *why)
{
    json_write_object(json);
    json_write_text(json, "name", name);
    if (event)
        json_write_text(json, "event", event->name);
    json_write_text(json, "unit", event ? event->unit : "s");
    json_write_text(json, "state", state);
    if (why)
        json_write_text(json, "why", why);
    json_write_object_end(json);
}

/* A metric that was measured, if only as a lower bound. */
static void write_measured(struct json_writer *json, const struct inputs *inputs,
                           const struct metric *metric)
{
    const char *why = inputs_lower_bound(inputs, metric);
    write_metric(json, metric->name, &inputs->events.at[metric->event],
                 why ? "lower bound" : "measured", why);
}

/* Why a metric of runtimes was not measured. */
static const char *why_not_measured(const struct inputs *inputs, const char *name)
{
    uint64_t most_workers = inputs_most_workers(inputs);
    if (strcmp(name, WAITING) == 0)
        return "no module is a runtime's whose waiting code is known";
    if (strcmp(name, OVERHEAD) == 0)
        return "no code is tagged as a runtime's, and no agent took part";
    if (most_workers == 0)
        return "no runtime with an agent took part";
    if (strcmp(name, INCOMPLETE) == 0 && most_workers == 1)
        return "only one worker could run at a time, and it always has work; measure with two or "
               "more workers, and on one CPU with hpcrun --cores N";
    return "the measurements are of an hpcrun that does not record it";
}

/* An agent that refused, of the first file that has one; NULL for none. */
static const struct measurement_refusal *first_refusal(const struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->files.n; i++) {
        const struct measurement *m = inputs->files.at[i].m;
        for (size_t k = 0; k < m->refusals.n; k++)
            if (measurement_refusal(m, m->refusals.at[k].agent))
                return &m->refusals.at[k];
    }
    return NULL;
}

static void write_not_measured(struct json_writer *json, const struct inputs *inputs,
                               const char *name)
{
    const char *why = why_not_measured(inputs, name);
    const struct measurement_refusal *refusal = first_refusal(inputs);
    bool is_for_lack_of_agents = refusal && inputs_most_workers(inputs) == 0;
    char *with_refusal = is_for_lack_of_agents
                             ? mem_printf("%s (%s refused: %s)", why, refusal->agent, refusal->why)
                             : mem_strdup(why);
    write_metric(json, name, NULL, "not measurable", with_refusal);
    free(with_refusal);
}

static void write_metrics(struct json_writer *json, const struct inputs *inputs)
{
    static const char *const of_runtimes[] = {IDLENESS, INCOMPLETE, OVERHEAD, WAITING};
    json_write_key(json, "metrics");
    json_write_array(json);
    for (size_t i = 0; i < inputs->metrics.n; i++)
        write_measured(json, inputs, &inputs->metrics.at[i]);
    for (size_t i = 0; i < sizeof of_runtimes / sizeof *of_runtimes; i++)
        if (!inputs_has_metric(inputs, of_runtimes[i]))
            write_not_measured(json, inputs, of_runtimes[i]);
    json_write_array_end(json);
}

static void write_events(struct json_writer *json, const struct inputs *inputs)
{
    json_write_key(json, "events");
    json_write_array(json);
    for (size_t i = 0; i < inputs->events.n; i++) {
        const struct event *event = &inputs->events.at[i];
        bool is_time = strcmp(event->unit, "s") == 0;
        json_write_object(json);
        json_write_text(json, "name", event->name);
        json_write_text(json, "unit", event->unit);
        bool by_rate = event->flags & EVENT_BY_RATE;
        json_write_key(json, "period");
        if (by_rate)
            json_write_null(json);
        else
            json_write_double(json, is_time ? seconds(event->period) : (double)event->period);
        if (by_rate)
            write_amount(json, "rate", 1 / seconds(event->period));
        write_truth(json, "by_default", event->flags & EVENT_BY_DEFAULT);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

/* Each refusal of an agent once, in the order of the files. */
static void write_refusals(struct json_writer *json, const struct inputs *inputs)
{
    struct strtab known = {0};
    json_write_key(json, "refused_agents");
    json_write_array(json);
    for (size_t i = 0; i < inputs->files.n; i++) {
        const struct measurement *m = inputs->files.at[i].m;
        for (size_t k = 0; k < m->refusals.n; k++) {
            const struct measurement_refusal *refusal = &m->refusals.at[k];
            char *key = mem_printf("%s\n%s", refusal->agent, refusal->why);
            bool is_new = strtab_find(&known, key) == UINT32_MAX;
            strtab_id(&known, key);
            free(key);
            if (!is_new || measurement_refusal(m, refusal->agent) != refusal->why)
                continue;
            json_write_object(json);
            json_write_text(json, "name", refusal->agent);
            json_write_text(json, "why", refusal->why);
            json_write_object_end(json);
        }
    }
    json_write_array_end(json);
    strtab_free(&known);
}

/* Each agent that took part once, in the order of the files. */
static void write_agents(struct json_writer *json, const struct inputs *inputs)
{
    struct strtab known = {0};
    json_write_key(json, "agents");
    json_write_array(json);
    for (size_t i = 0; i < inputs->files.n; i++) {
        const struct measurement *m = inputs->files.at[i].m;
        for (size_t k = 0; k < m->agents.n; k++) {
            const struct measurement_agent *agent = &m->agents.at[k];
            if (measurement_refusal(m, agent->name))
                continue;
            char *key = mem_printf("%s\n%s\n%s\n%s", agent->name, agent->version, agent->rules,
                                   agent->rules_version);
            bool new = strtab_find(&known, key) == UINT32_MAX;
            strtab_id(&known, key);
            free(key);
            if (!new)
                continue;
            json_write_object(json);
            json_write_text(json, "name", agent->name);
            json_write_text(json, "version", agent->version);
            json_write_text(json, "rules", agent->rules);
            json_write_text(json, "rules_version", agent->rules_version);
            json_write_object_end(json);
        }
    }
    json_write_array_end(json);
    strtab_free(&known);
}

static int by_path(const void *a, const void *b)
{
    const struct module *x = *(struct module *const *)a, *y = *(struct module *const *)b;
    int order = strcmp(x->path, y->path);
    return order ? order : strcmp(x->build_id, y->build_id);
}

/* Where some of its code was compiled without optimization. */
static void write_optimization(struct json_writer *json, const struct structure *structure)
{
    if (!structure || structure->n_unoptimized == 0)
        return;
    json_write_key(json, "units");
    json_write_integer(json, structure->n_units);
    json_write_key(json, "unoptimized_units");
    json_write_integer(json, structure->n_unoptimized);
}

static void write_modules(struct json_writer *json, const struct modules *modules)
{
    static const char *const qualities[] = {
        [STRUCTURE_MISSING] = "none",
        [STRUCTURE_SYMBOLS] = "symbols",
        [STRUCTURE_FULL] = "full",
    };
    VEC(const struct module *) used = {0};
    for (size_t i = 0; i < modules->all.n; i++)
        if (modules->all.at[i].used)
            vec_push(&used, &modules->all.at[i]);
    if (used.n)
        qsort(used.at, used.n, sizeof *used.at, by_path);
    json_write_key(json, "modules");
    json_write_array(json);
    for (size_t i = 0; i < used.n; i++) {
        json_write_object(json);
        json_write_text(json, "path", used.at[i]->path);
        json_write_text(json, "build_id", used.at[i]->build_id);
        json_write_text(json, "structure", qualities[used.at[i]->quality]);
        json_write_text(json, "why", used.at[i]->why);
        write_optimization(json, used.at[i]->structure);
        json_write_object_end(json);
    }
    json_write_array_end(json);
    vec_free(&used);
}

/* ---- threads ---- */

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
        write_number(json, "count", fates[i].count);
        write_amount(json, "amount", event_amount(event, fates[i].amount));
        json_write_object_end(json);
    }
    json_write_object_end(json);
}

/* `fates` are those of one event and source. */
static void write_thread_event(struct json_writer *json, const struct inputs *inputs,
                               const struct input *input, const struct measurement_thread *thread,
                               const struct measurement_fate *fates, size_t count)
{
    const struct measurement_event *recorded = &input->m->events.at[fates[0].event];
    uint64_t fired = 0;
    for (size_t i = 0; i < count; i++)
        if (fates[i].code == FATE_FIRED)
            fired = fates[i].count;
    bool wall = recorded->flags & EVENT_WALL_CLOCK;
    double clock = wall ? seconds(thread->last_monotonic - thread->first_monotonic)
                        : seconds(thread->last_cpu - thread->first_cpu);
    json_write_object(json);
    json_write_text(json, "event", recorded->name);
    write_code(json, "source", source_name(fates[0].source), fates[0].source);
    json_write_text(json, "note", recorded->why_other_source);
    write_number(json, "samples", fired);
    json_write_key(json, "rate");
    if (clock > 0)
        json_write_double(json, (double)fired / clock);
    else
        json_write_null(json);
    write_fates(json, &inputs->events.at[input->event_of[fates[0].event]], fates, count);
    json_write_object_end(json);
}

static void write_path(struct json_writer *json, const struct run_facts *facts, size_t path)
{
    const struct creations *creations = facts->creations;
    size_t first = path ? creations->paths.at[path - 1] : 0;
    json_write_array(json);
    for (size_t i = first; i < creations->paths.at[path]; i++) {
        const struct creation_frame *frame = &creations->frames.at[i];
        bool has_line = frame->file != PROGRAM_NONE && frame->line != 0;
        json_write_object(json);
        json_write_text(json, "name", facts->program->functions.at[frame->function].name);
        json_write_text(json, "file",
                        has_line ? strtab_string(&facts->program->files, frame->file) : NULL);
        json_write_key(json, "line");
        if (has_line)
            json_write_integer(json, frame->line);
        else
            json_write_null(json);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void write_creation_paths(struct json_writer *json, const struct run_facts *facts)
{
    json_write_key(json, "creation_paths");
    json_write_array(json);
    for (size_t i = 0; i < facts->creations->paths.n; i++)
        write_path(json, facts, i);
    json_write_array_end(json);
}

static void write_origin(struct json_writer *json, const struct run_facts *facts,
                         const struct measurement_thread *thread,
                         const struct thread_origin *origin)
{
    bool is_main = thread->kind == THREAD_INITIAL && thread->creator == 0;
    json_write_key(json, "start_routine");
    if (origin->start_routine != PROGRAM_NONE)
        json_write_string(json, facts->program->functions.at[origin->start_routine].name);
    else
        json_write_null(json);
    json_write_text(json, "root",
                    is_main                  ? "main thread"
                    : origin->has_live_frame ? "creator"
                                             : "thread root");
    json_write_key(json, "created_at");
    if (origin->path != PROGRAM_NONE)
        json_write_integer(json, origin->path);
    else
        json_write_null(json);
}

static void write_thread(struct json_writer *json, const struct run_facts *facts,
                         const struct input *input, const struct measurement_thread *thread,
                         size_t profile)
{
    const struct inputs *inputs = facts->inputs;
    json_write_object(json);
    write_number(json, "index", thread->index);
    write_number(json, "tid", thread->tid);
    json_write_text(json, "name", thread->name);
    write_code(json, "kind", thread_kind_name(thread->kind), thread->kind);
    write_number(json, "profile", profile);
    write_amount(json, "wall", seconds(thread->last_monotonic - thread->first_monotonic));
    write_amount(json, "cpu", seconds(thread->last_cpu - thread->first_cpu));
    write_truth(json, "ended", thread->ended);
    write_origin(json, facts, thread, &facts->creations->threads.at[profile - 1]);
    json_write_key(json, "events");
    json_write_array(json);
    const struct measurement_fate *fates = thread->fates.at;
    for (size_t i = 0, end; i < thread->fates.n; i = end) {
        for (end = i + 1; end < thread->fates.n && fates[end].event == fates[i].event &&
                          fates[end].source == fates[i].source;
             end++)
            ;
        if (fates[i].event != MEASUREMENT_UNKNOWN)
            write_thread_event(json, inputs, input, thread, fates + i, end - i);
    }
    json_write_array_end(json);
    json_write_object_end(json);
}

/* ---- processes ---- */

/* Counts of samples by fate code, over all threads and events. */
struct fate_counts {
    uint64_t of_code[UINT8_MAX + 1];
};

static struct fate_counts count_fates(const struct measurement *m)
{
    struct fate_counts counts = {0};
    for (size_t i = 0; i < m->threads.n; i++)
        for (size_t k = 0; k < m->threads.at[i].fates.n; k++) {
            const struct measurement_fate *fate = &m->threads.at[i].fates.at[k];
            counts.of_code[fate->code] += fate->count;
        }
    return counts;
}

/* The counts whose fates have a reason of some sort. */
static void write_reasons(struct json_writer *json, const char *key,
                          const struct fate_counts *counts, const char *(*reason_of)(uint64_t code))
{
    json_write_key(json, key);
    json_write_object(json);
    for (unsigned code = 0; code <= UINT8_MAX; code++)
        if (counts->of_code[code] && reason_of(code))
            write_number(json, reason_of(code), counts->of_code[code]);
    json_write_object_end(json);
}

static void write_samples(struct json_writer *json, const struct measurement *m)
{
    const struct fate_counts counts = count_fates(m);
    write_number(json, "samples", counts.of_code[FATE_FIRED]);
    write_number(json, "recorded", counts.of_code[FATE_RECORDED]);
    write_number(json, "idle", counts.of_code[FATE_IDLE]);
    write_number(json, "nobody_working", counts.of_code[FATE_NOBODY_WORKING]);
    write_reasons(json, "dropped", &counts, fate_drop_reason);
    write_reasons(json, "partial", &counts, fate_partial_reason);
}

static void write_command(struct json_writer *json, const struct measurement_process *process)
{
    json_write_key(json, "command");
    if (process->arguments.n == 0) {
        json_write_string(json, process->executable);
        return;
    }
    VEC(char) command = {0};
    for (size_t i = 0; i < process->arguments.n; i++)
        for (const char *p = process->arguments.at[i];; p++) {
            bool last = *p == '\0' && i + 1 == process->arguments.n;
            vec_push(&command, *p || last ? *p : ' ');
            if (*p == '\0')
                break;
        }
    json_write_string(json, command.at);
    vec_free(&command);
}

static void write_identity(struct json_writer *json, const struct measurement *m,
                           const struct run_ends *ends)
{
    const struct measurement_process *process = &m->process;
    json_write_text(json, "host", process->host);
    write_number(json, "pid", process->pid);
    write_number(json, "parent_pid", process->parent_pid);
    write_number(json, "exec_sequence", process->exec_sequence);
    json_write_key(json, "rank");
    if (process->rank < 0)
        json_write_null(json);
    else
        json_write_integer(json, process->rank);
    write_code(json, "origin", origin_name(process->origin), process->origin);
    write_command(json, process);
    json_write_text(json, "executable", process->executable);
    json_write_text(json, "file", m->name);
    run_ends_write_process(json, ends, m);
    write_truth(json, "complete", m->complete);
}

/* The largest n that any of its runtimes had. */
static void write_workers(struct json_writer *json, const struct measurement *m)
{
    uint64_t n = 0;
    for (size_t i = 0; i < m->workers.n; i++)
        if (m->workers.at[i].n > n)
            n = m->workers.at[i].n;
    json_write_key(json, "workers");
    if (m->workers.n)
        json_write_integer(json, (int64_t)n);
    else
        json_write_null(json);
}

static double difference(uint64_t from, uint64_t to)
{
    return to > from ? seconds(to - from) : 0;
}

/* What the process's CPU clock has and those of its threads lack: threads that hpcrun does not
 * know, and what threads do before it knows them and after. */
static double unsampled_cpu(const struct measurement *m)
{
    uint64_t of_threads = m->process.cpu;
    for (size_t i = 0; i < m->threads.n; i++)
        of_threads += m->threads.at[i].last_cpu - m->threads.at[i].first_cpu;
    return difference(of_threads, m->clock.cpu);
}

/* From its initialisation to the last that was heard of it. */
static void write_life(struct json_writer *json, const struct measurement *m)
{
    uint64_t last_monotonic = m->clock.monotonic;
    for (size_t i = 0; i < m->threads.n; i++)
        if (m->threads.at[i].last_monotonic > last_monotonic)
            last_monotonic = m->threads.at[i].last_monotonic;
    json_write_key(json, "cpus");
    json_write_integer(json, (int64_t)m->process.cpus);
    write_amount(json, "wall", difference(m->process.monotonic, last_monotonic));
    write_amount(json, "cpu", difference(m->process.cpu, m->clock.cpu));
    write_amount(json, "startup_cpu", seconds(m->process.cpu));
    write_amount(json, "unsampled_cpu", unsampled_cpu(m));
}

static void write_processes(struct json_writer *json, const struct run_facts *facts,
                            const struct run_ends *ends)
{
    const struct inputs *inputs = facts->inputs;
    size_t profile = 1; /* 0 is the summary */
    json_write_key(json, "processes");
    json_write_array(json);
    for (size_t i = 0; i < inputs->files.n; i++) {
        const struct measurement *m = inputs->files.at[i].m;
        json_write_object(json);
        write_number(json, "index", i);
        write_identity(json, m, ends);
        json_write_text(json, "program", inputs->executables.at[inputs->files.at[i].executable]);
        write_workers(json, m);
        write_life(json, m);
        write_samples(json, m);
        json_write_key(json, "threads");
        json_write_array(json);
        for (size_t k = 0; k < m->threads.n; k++)
            write_thread(json, facts, &inputs->files.at[i], &m->threads.at[k], profile++);
        json_write_array_end(json);
        json_write_object_end(json);
    }
    json_write_array_end(json);
}

static void write_strings(struct json_writer *json, const char *key, char *const *strings,
                          size_t count)
{
    json_write_key(json, key);
    json_write_array(json);
    for (size_t i = 0; i < count; i++)
        json_write_string(json, strings[i]);
    json_write_array_end(json);
}

static void write_ids(struct json_writer *json, const char *key, const struct context_ids *ids)
{
    json_write_key(json, key);
    json_write_array(json);
    for (size_t i = 0; i < ids->n; i++)
        json_write_integer(json, ids->at[i]);
    json_write_array_end(json);
}

static void write_problems(struct json_writer *json, const struct inputs *inputs,
                           const struct run_ends *ends)
{
    json_write_key(json, "problems");
    json_write_array(json);
    for (size_t i = 0; i < inputs->problems.n; i++)
        json_write_string(json, inputs->problems.at[i]);
    run_ends_write_problems(json, ends, inputs);
    json_write_array_end(json);
}

void run_json_write(const char *path, const char *title, const struct run_facts *facts)
{
    const struct inputs *inputs = facts->inputs;
    FILE *out = output_stream(path);
    if (!out)
        diag_fatal(path, "%s", strerror(errno));
    struct json_writer json;
    struct run_ends *ends = run_ends_read(inputs);
    json_write_start(&json, out, 2);
    json_write_object(&json);
    json_write_text(&json, "format", DATABASE_RUN_FORMAT);
    write_number(&json, "version", 1);
    json_write_text(&json, "title", title);
    write_strings(&json, "measurements", inputs->directories.at, inputs->directories.n);
    write_metrics(&json, inputs);
    write_events(&json, inputs);
    write_agents(&json, inputs);
    write_refusals(&json, inputs);
    write_processes(&json, facts, ends);
    run_ends_write_unmeasured(&json, ends);
    write_creation_paths(&json, facts);
    write_modules(&json, &inputs->modules);
    if (facts->no_call_site->n)
        write_ids(&json, "unknown_call_sites", facts->no_call_site);
    write_problems(&json, inputs, ends);
    run_ends_free(ends);
    json_write_object_end(&json);
    bool whole = json_write_finish(&json);
    if (fclose(out) != 0 || !whole)
        diag_fatal(path, "%s", strerror(errno));
}
