#include "hpcprof/database/run-json-parts.h"

#include "hpcprof/database/run-json-values.h"

#include "lib/measurement-format.h"

#include <stdlib.h>

/* ---- samples ---- */

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

/* Writes the counts of those fates that `reason_of` knows a reason for. */
static void write_reasons(struct json_writer *json, const char *key,
                          const struct fate_counts *counts, const char *(*reason_of)(uint64_t code))
{
    json_write_key(json, key);
    json_write_object(json);
    for (unsigned code = 0; code <= UINT8_MAX; code++)
        if (counts->of_code[code] && reason_of(code))
            json_write_number(json, reason_of(code), counts->of_code[code]);
    json_write_object_end(json);
}

static void write_samples(struct json_writer *json, const struct measurement *m)
{
    const struct fate_counts counts = count_fates(m);
    json_write_number(json, "samples", counts.of_code[FATE_FIRED]);
    json_write_number(json, "recorded", counts.of_code[FATE_RECORDED]);
    json_write_number(json, "idle", counts.of_code[FATE_IDLE]);
    json_write_number(json, "nobody_working", counts.of_code[FATE_NOBODY_WORKING]);
    write_reasons(json, "dropped", &counts, fate_drop_reason);
    write_reasons(json, "partial", &counts, fate_partial_reason);
}

/* ---- identity ---- */

/* Writes the arguments, with spaces between them. */
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
            bool is_last = *p == '\0' && i + 1 == process->arguments.n;
            vec_push(&command, *p || is_last ? *p : ' ');
            if (*p == '\0')
                break;
        }
    json_write_string(json, command.at);
    vec_free(&command);
}

static void write_end(struct json_writer *json, const struct process_ends *ends,
                      const struct measurement *m)
{
    const struct lost_end lost = process_ends_find(ends, m);
    int64_t signal = m->clock.state == PROCESS_SIGNAL ? (int64_t)m->clock.detail : lost.signal;
    const char *state = lost.state ? lost.state : process_state_name(m->clock.state);
    json_write_code(json, "state", state, m->clock.state);
    json_write_known_number(json, "signal", signal != 0, signal);
    json_write_known_amount(json, "data_until", lost.state, lost.data_until);
    json_write_known_amount(json, "missing_at_most", lost.state, lost.missing_at_most);
    json_write_number(json, "recovered", m->recovered);
    json_write_key(json, "write_error");
    if (lost.error)
        json_write_string(json, lost.error);
    else
        json_write_null(json);
}

static void write_identity(struct run_json *run, const struct measurement *m)
{
    struct json_writer *json = &run->json;
    const struct measurement_process *process = &m->process;
    json_write_text(json, "host", process->host);
    json_write_number(json, "pid", process->pid);
    json_write_number(json, "parent_pid", process->parent_pid);
    json_write_number(json, "exec_sequence", process->exec_sequence);
    json_write_known_number(json, "rank", process->rank >= 0, process->rank);
    json_write_code(json, "origin", origin_name(process->origin), process->origin);
    write_command(json, process);
    json_write_text(json, "executable", process->executable);
    json_write_text(json, "file", m->name);
    write_end(json, run->ends, m);
    json_write_truth(json, "complete", m->complete);
}

/* ---- clocks ---- */

/* Writes the largest n that any of the process's runtimes had. */
static void write_workers(struct json_writer *json, const struct measurement *m)
{
    uint64_t n = 0;
    for (size_t i = 0; i < m->workers.n; i++)
        if (m->workers.at[i].n > n)
            n = m->workers.at[i].n;
    json_write_known_number(json, "workers", m->workers.n > 0, (int64_t)n);
}

/* CPU time of the process that its threads' clocks lack: threads that hpcrun does not know, and
 * what threads do before it knows them and after. */
static double unsampled_cpu(const struct measurement *m)
{
    uint64_t of_threads = m->process.cpu;
    for (size_t i = 0; i < m->threads.n; i++)
        of_threads += m->threads.at[i].last_cpu - m->threads.at[i].first_cpu;
    return seconds_between(of_threads, m->clock.cpu);
}

/* Writes how long the process's threads had no CPU that they wanted, if that is known for all of them,
 * and the quota that may be the reason. */
static void write_supply(struct json_writer *json, const struct measurement *m)
{
    bool is_known = m->threads.n > 0;
    double ready = 0;
    for (size_t i = 0; i < m->threads.n; i++) {
        is_known = is_known && m->threads.at[i].has_ready;
        ready += seconds(m->threads.at[i].ready);
    }
    json_write_known_amount(json, "ready", is_known, ready);
    json_write_known_amount(json, "quota", m->clock.quota > 0, (double)m->clock.quota / 1000);
    json_write_known_amount(json, "throttled", m->clock.has_throttled, seconds(m->clock.throttled));
}

/* Writes the times from the initialization of the process to its last sign of life. */
static void write_life(struct json_writer *json, const struct measurement *m)
{
    uint64_t last_monotonic = m->clock.monotonic;
    for (size_t i = 0; i < m->threads.n; i++)
        if (m->threads.at[i].last_monotonic > last_monotonic)
            last_monotonic = m->threads.at[i].last_monotonic;
    json_write_number(json, "cpus", m->process.cpus);
    json_write_amount(json, "wall", seconds_between(m->process.monotonic, last_monotonic));
    json_write_amount(json, "cpu", seconds_between(m->process.cpu, m->clock.cpu));
    json_write_amount(json, "startup_cpu", seconds(m->process.cpu));
    json_write_amount(json, "unsampled_cpu", unsampled_cpu(m));
    write_supply(json, m);
}

/* ---- processes ---- */

static void write_process(struct run_json *run, size_t index, size_t first_profile)
{
    struct json_writer *json = &run->json;
    const struct measurement_file *file = &run->analysis->measurements->files.at[index];
    const struct executables *executables = run->analysis->executables;
    json_write_object(json);
    json_write_number(json, "index", index);
    write_identity(run, file->m);
    json_write_text(json, "program", executables->names.at[executables->of_file[index]]);
    write_workers(json, file->m);
    write_life(json, file->m);
    write_samples(json, file->m);
    json_write_key(json, "threads");
    json_write_array(json);
    for (size_t k = 0; k < file->m->threads.n; k++)
        run_json_write_thread(run, file, &file->m->threads.at[k], first_profile + k);
    json_write_array_end(json);
    json_write_object_end(json);
}

void run_json_write_processes(struct run_json *run)
{
    const struct measurements *measurements = run->analysis->measurements;
    size_t profile = 1; /* 0 is the summary */
    json_write_key(&run->json, "processes");
    json_write_array(&run->json);
    for (size_t i = 0; i < measurements->files.n; i++) {
        write_process(run, i, profile);
        profile += measurements->files.at[i].m->threads.n;
    }
    json_write_array_end(&run->json);
}

void run_json_write_unmeasured(struct run_json *run)
{
    struct json_writer *json = &run->json;
    struct unmeasured_list list = process_ends_unmeasured(run->ends);
    json_write_key(json, "unmeasured");
    json_write_array(json);
    for (size_t i = 0; i < list.all.n; i++) {
        const struct unmeasured_programs *unmeasured = &list.all.at[i];
        json_write_object(json);
        json_write_text(json, "reason", unmeasured->reason);
        json_write_number(json, "count", unmeasured->count);
        json_write_amount(json, "cpu", unmeasured->cpu);
        json_write_key(json, "programs");
        json_write_array(json);
        for (size_t k = 0; k < unmeasured->programs.n; k++)
            json_write_string(json, unmeasured->programs.at[k]);
        json_write_array_end(json);
        json_write_object_end(json);
    }
    json_write_array_end(json);
    unmeasured_list_free(&list);
}
