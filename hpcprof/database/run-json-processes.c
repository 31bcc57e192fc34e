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
static void write_reasons(struct json_writer *json, const struct fate_counts *counts,
                          const char *(*reason_of)(uint64_t code))
{
    json_write_object(json);
    for (unsigned code = 0; code <= UINT8_MAX; code++)
        if (counts->of_code[code] && reason_of(code))
            json_write_number(json, reason_of(code), counts->of_code[code]);
    json_write_object_end(json);
}

/* Writes the arguments, with spaces between them. */
/* Without blanks at the end: a program that gives itself a title fills the rest of its arguments with blanks or NULs. */
static void write_command(struct json_writer *json, const struct measurement_process *process)
{
    if (process->arguments.n == 0) {
        json_write_string(json, process->executable);
        return;
    }
    autofree VEC(char) command = {0};
    for (size_t i = 0; i < process->arguments.n; i++)
        for (const char *p = process->arguments.at[i];; p++) {
            bool is_last = *p == '\0' && i + 1 == process->arguments.n;
            vec_push(&command, *p || is_last ? *p : ' ');
            if (*p == '\0')
                break;
        }
    while (command.n > 1 && command.at[command.n - 2] == ' ')
        command.at[--command.n - 1] = '\0';
    json_write_string(json, command.at);
}

/* ---- clocks ---- */

/* The largest n that any of the process's runtimes had. */
static int64_t most_workers(const struct measurement *m)
{
    uint64_t n = 0;
    for (size_t i = 0; i < m->workers.n; i++)
        if (m->workers.at[i].n > n)
            n = m->workers.at[i].n;
    return (int64_t)n;
}

/* CPU time of the process that its threads' clocks lack: threads that hpcrun does not know, and
 * what threads do before it knows them and after. */
static double unsampled_cpu(const struct measurement *m)
{
    uint64_t of_threads = m->process.cpu;
    for (size_t i = 0; i < m->threads.n; i++)
        of_threads += m->threads.at[i].last_cpu - m->threads.at[i].first_cpu;
    return seconds_between(of_threads, measurement_last_in_file(m).cpu);
}

/* How long the process's threads had no CPU that they wanted. */
struct supply {
    bool is_known; /* of all of them */
    double ready;
};

static struct supply supply_of(const struct measurement *m)
{
    struct supply supply = {.is_known = m->threads.n > 0};
    for (size_t i = 0; i < m->threads.n; i++) {
        supply.is_known = supply.is_known && m->threads.at[i].has_ready;
        supply.ready += seconds(m->threads.at[i].ready);
    }
    return supply;
}

/* ---- processes ---- */

static bool has_time_line(const struct run_json *run, size_t file)
{
    return run->traced && run->analysis->measurements->files.at[file].m->process.known &&
           run->traced->to_epoch[file] != NO_CLOCK;
}

/* When the process begins, in seconds since the begin of the time line, if it is in it. */
static double time_line_begin(const struct run_json *run, size_t file)
{
    if (!has_time_line(run, file))
        return 0;
    return seconds(traced_time(run->traced, run->traced->to_epoch[file],
                               run->analysis->measurements->files.at[file].m->process.monotonic));
}

static void write_threads(struct run_json *run, const struct measurement_file *file,
                          size_t first_profile)
{
    json_write_array(&run->json);
    for (size_t k = 0; k < file->m->threads.n; k++)
        run_json_write_thread(run, file, &file->m->threads.at[k], first_profile + k);
    json_write_array_end(&run->json);
}

static void write_process(struct run_json *run, size_t index, size_t first_profile)
{
    struct json_writer *json = &run->json;
    const struct measurement_file *file = &run->analysis->measurements->files.at[index];
    const struct executables *executables = run->analysis->executables;
    const struct measurement *m = file->m;
    const struct measurement_process *process = &m->process;
    const struct lost_end lost = process_ends_find(run->ends, m);
    int64_t signal = m->clock.state == PROCESS_SIGNAL ? (int64_t)m->clock.detail : lost.signal;
    const struct supply supply = supply_of(m);
    const struct fate_counts counts = count_fates(m);
    json_write_object(json);
#define FIELDS_OF_PROCESS
#include "hpcprof/database/run-fields.h"
    json_write_object_end(json);
}

void run_json_write_processes(struct run_json *run)
{
    const struct measurements *measurements = run->analysis->measurements;
    size_t profile = 1; /* 0 is the summary */
    json_write_array(&run->json);
    for (size_t i = 0; i < measurements->files.n; i++) {
        write_process(run, i, profile);
        profile += measurements->files.at[i].m->threads.n;
    }
    json_write_array_end(&run->json);
}

static void write_programs(struct json_writer *json, const struct unmeasured_programs *unmeasured)
{
    json_write_array(json);
    for (size_t i = 0; i < unmeasured->programs.n; i++)
        json_write_string(json, unmeasured->programs.at[i]);
    json_write_array_end(json);
}

void run_json_write_unmeasured(struct run_json *run)
{
    struct json_writer *json = &run->json;
    struct unmeasured_list list = process_ends_unmeasured(run->ends, run->analysis->measurements);
    json_write_array(json);
    for (size_t i = 0; i < list.all.n; i++) {
        const struct unmeasured_programs *unmeasured = &list.all.at[i];
        json_write_object(json);
#define FIELDS_OF_UNMEASURED
#include "hpcprof/database/run-fields.h"
        json_write_object_end(json);
    }
    json_write_array_end(json);
    unmeasured_list_free(&list);
}
