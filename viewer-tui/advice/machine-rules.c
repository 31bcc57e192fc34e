/* Rules about the run: what is not measured; many processes; others had the CPUs, a quota, more threads than CPUs. */
#include "viewer-tui/advice/advice-rules.h"

#include "lib/measurement-format.h"
#include "viewer-tui/db/run.h"
#include "viewer-tui/db/time-slice.h"

#include <math.h>
#include <string.h>

/* ---- A command that becomes a program that is not measured, as env LD_PRELOAD=... does ---- */

/* Whether the launched process ended by an exec: no image of it follows. */
static bool ends_by_exec(const json_t *run)
{
    const json_t *last = NULL;
    json_each (image, json_object_get(run, "processes"))
        if (strcmp(run_text(image, "origin"), "launched") == 0 ||
            (last && run_number(image, "pid") == run_number(last, "pid") &&
             run_number(image, "exec_sequence") > run_number(last, "exec_sequence")))
            last = image;
    return last && strcmp(run_text(last, "state"), "exec") == 0;
}

static bool is_reason(const json_t *entry, enum unmeasured why)
{
    return strcmp(run_text(entry, "reason"), unmeasured_reason(why)) == 0;
}

/* If several programs were not measured, the command may have become any of them. */
bool is_lost(const struct facts *facts, struct subject *subject)
{
    const json_t *list = json_object_get(facts->run, "unmeasured"), *entry = json_array_get(list, 0);
    subject->of = entry;
    bool is_measured_outside = is_reason(entry, UNMEASURED_ENVIRONMENT) || is_reason(entry, UNMEASURED_OUT_OF_REACH) ||
                               is_reason(entry, UNMEASURED_STATIC) || is_reason(entry, UNMEASURED_OTHER_LIBC);
    return json_array_size(list) == 1 && run_number(entry, "count") == 1 && is_measured_outside &&
           ends_by_exec(facts->run);
}

/* "perl was not measured (started without hpcrun's LD_PRELOAD): set LD_PRELOAD before hpcrun, or use hpcrun --outside." */
void say_lost(const struct facts *facts, const struct subject *subject, struct text *text)
{
    (void)facts;
    const char *program = json_string_value(json_array_get(json_object_get(subject->of, "programs"), 0));
    bool sets_preload = is_reason(subject->of, UNMEASURED_ENVIRONMENT);
    text_printf(text, "%s was not measured (%s): %suse hpcrun --outside.", program ? program : "The program",
                run_text(subject->of, "reason"), sets_preload ? "set LD_PRELOAD before hpcrun, or " : "");
}

/* ---- Many short processes ---- */

/* Less CPU time, or a smaller share of the run's, is not worth a word. */
#define LEAST_STARTUP       0.1
#define LEAST_STARTUP_SHARE 0.25

bool starts_many(const struct facts *facts, struct subject *subject)
{
    struct run_times times = run_times_of(facts->run);
    (void)subject;
    return times.startup >= LEAST_STARTUP && times.startup >= LEAST_STARTUP_SHARE * (times.cpu + times.startup);
}

void say_starts(const struct facts *facts, const struct subject *subject, struct text *text)
{
    struct run_times times = run_times_of(facts->run);
    (void)subject;
    text_printf(text, "The start of %zu process%s took %s of CPU time, a part of it hpcrun's own, which has no samples.",
                times.started, times.started == 1 ? "" : "es", as_seconds(times.startup).text);
}

/* ---- Others had the CPUs ---- */

bool others_had_cpus(const struct facts *facts, struct subject *subject)
{
    (void)subject;
    return facts->supply.is_disturbed && !facts->supply.is_throttled && !run_is_of_system(facts->run);
}

/* From this share of the CPU time on, threads that spin are worth a word. */
#define MUCH_WAITED_SHARE 0.30

/* Adds "; threads spent 80 % of their CPU time waiting for each other: try OMP_WAIT_POLICY=passive.": a thread that
 * spins keeps a CPU from the one that it waits for, or uses up the quota. */
static void add_spinning(const struct facts *facts, struct text *text)
{
    const char *sleeping = facts->runtime ? facts->runtime->sleeping : NULL;
    struct share waited = share_of_samples(facts->process.waited, facts->process.cpu, facts->cpu_increment);
    if (sleeping && waited.low >= MUCH_WAITED_SHARE)
        text_printf(text, "; threads spent %s of their CPU time waiting for each other: try %s",
                    as_percent(waited.value).text, sleeping);
    text_add(text, ".");
}

/* Processes with a smaller share of the run's CPU time are not worth a word. */
#define NOTABLE_SHARE 0.05

void say_others(const struct facts *facts, const struct subject *subject, struct text *text)
{
    (void)subject;
    const struct main_process *process = &facts->process;
    bool is_of_all = process->cpu_of_run - process->cpu >= NOTABLE_SHARE * process->cpu_of_run;
    text_add(text, "Others had the CPUs: threads ");
    size_t n = run_times_of(facts->run).processes;
    if (is_of_all && n > 1)
        text_printf(text, "of %zu processes ", n);
    text_printf(text, "waited for a CPU for at least %s and ran for %s",
                as_seconds(process->ready_to_work + (is_of_all ? process->ready_of_others : 0)).text,
                as_seconds(is_of_all ? process->cpu_of_run : process->cpu).text);
    add_spinning(facts, text);
}

/* ---- A quota ---- */

bool is_throttled(const struct facts *facts, struct subject *subject)
{
    (void)subject;
    return facts->supply.is_throttled;
}

void say_quota(const struct facts *facts, const struct subject *subject, struct text *text)
{
    (void)subject;
    const struct main_process *process = &facts->process;
    text_printf(text, "A quota of %s%s stopped the program for %s of %s",
                process->quota > 0 ? as_number(process->quota).text : "CPU time", process->quota > 0 ? " CPUs" : "",
                as_seconds(process->throttled).text, as_seconds(process->wall).text);
    add_spinning(facts, text);
}

/* ---- More threads than CPUs ----
 *
 * With coarse work that costs little, and a worker that sleeps nothing. In a parallel runtime a thread that has got
 * work may wait for a CPU while others spin there, and all wait for it at the next barrier: nobody works meanwhile. */

/* Smaller shares of the samples, or of the threads' time, are not reported. */
#define LEAST_NOBODY_SHARE 0.10
#define LEAST_READY_SHARE  0.05

/* From this share of the threads' time without a CPU on, the finding comes first, but for a lock that limits them. */
#define MUCH_READY_SHARE 0.40

bool have_too_few_cpus(const struct facts *facts, struct subject *subject)
{
    const struct main_process *process = &facts->process;
    if (!(process->cpus > 0) || (double)process->most_runnable <= process->cpus || run_is_of_system(facts->run))
        return false;
    subject->share = share_of_samples(run_number(process->process, "nobody_working"),
                                      run_number(process->process, "samples"), 1);
    /* By the wall clock, workers also sleep while none of them works. */
    bool is_by_cpu = facts->off_cpu.metric == NO_METRIC;
    bool nobody_works = facts->runtime && is_by_cpu && subject->share.low >= LEAST_NOBODY_SHARE;
    double ready = process->ready_to_work / (process->ready_to_work + process->cpu);
    if (nobody_works || (ready >= MUCH_READY_SHARE && !facts->lock.is_much))
        subject->order = ORDER_MACHINE;
    return isnan(ready) ? nobody_works : ready >= LEAST_READY_SHARE;
}

/* The threads of a parallel runtime: the main thread, and as many as began in the same procedure. Others belong to
 * libraries. */
static size_t threads_of_runtime(const struct main_process *process)
{
    size_t most = 0;
    struct strtab routines = {0};
    autofree size_t *n = mem_alloc((process->threads.n + 1) * sizeof *n); /* by routine */
    for (size_t i = 0; i < process->threads.n; i++)
        n[strtab_id(&routines, process->threads.at[i].start_routine)]++;
    for (size_t i = 0; i < process->threads.n; i++) {
        size_t same = n[strtab_id(&routines, process->threads.at[i].start_routine)];
        most = !process->threads.at[i].is_initial && same > most ? same : most;
    }
    strtab_free(&routines);
    return most + 1;
}

/* "Up to" precedes the largest number of threads if their mean number is lower by more than this: a judgement. */
#define ABOUT_AS_MANY 0.5

void add_threads(const struct main_process *process, struct text *text)
{
    bool varies = process->mean_working < (double)process->most_working - ABOUT_AS_MANY;
    text_printf(text, "%s%zu threads", varies ? "Up to " : "", process->most_working);
}

void say_too_few_cpus(const struct facts *facts, const struct subject *subject, struct text *text)
{
    const struct main_process *process = &facts->process;
    if (process->most_runnable < process->most_working)
        text_printf(text, "Up to %zu threads", process->most_runnable);
    else
        add_threads(process, text);
    text_printf(text, " share %.0f CPU%s: ", process->cpus, process->cpus > 1 ? "s" : "");
    if (isnan(process->ready_to_work))
        text_printf(text, "in %s of the samples none of them worked", as_percent(subject->share.value).text);
    else
        text_printf(text, "they waited for one for at least %s and ran for %s", as_seconds(process->ready_to_work).text,
                    as_seconds(process->cpu).text);
    if (facts->runtime && (double)threads_of_runtime(process) > process->cpus)
        text_printf(text, "; try %.0f (%s)", process->cpus, facts->runtime->setting);
    text_add(text, ".");
}

/* ---- The programs of a system ---- */

#define MOST_PROGRAMS 3u

struct measured_program {
    const char *name;
    double cpu; /* seconds */
    unsigned processes;
};

typedef VEC(struct measured_program) program_list;

static int by_cpu(const void *left, const void *right)
{
    const struct measured_program *a = left, *b = right;
    return a->cpu != b->cpu ? (a->cpu < b->cpu) - (a->cpu > b->cpu) : strcmp(a->name, b->name);
}

static double find_programs(const json_t *run, program_list *programs)
{
    double cpu = 0;
    struct strtab names = {0};
    json_each (process, json_object_get(run, "processes")) {
        const char *name = path_name(run_text(process, "executable"));
        uint32_t i = strtab_id(&names, name);
        if (i == programs->n)
            vec_push(programs, (struct measured_program){.name = name});
        programs->at[i].cpu += run_number(process, "cpu");
        programs->at[i].processes++;
        cpu += run_number(process, "cpu");
    }
    strtab_free(&names);
    vec_sort(programs, by_cpu);
    return cpu;
}

/* A piece of the run's time has no clocks of its own. */
bool is_of_system(const struct facts *facts, struct subject *subject)
{
    (void)subject;
    return run_is_of_system(facts->run) && facts->process.cpu_of_run > 0 && !facts->view->db->slice;
}

/* "Most CPU time: cc1 22 % (41 processes), python3.11 13 %, bc 8 %; 27 other programs 57 %." */
void say_programs(const struct facts *facts, const struct subject *subject, struct text *text)
{
    (void)subject;
    autofree program_list programs = {0};
    double cpu = find_programs(facts->run, &programs), told = 0;
    size_t i = 0;
    for (; i < programs.n && i < MOST_PROGRAMS && (i == 0 || programs.at[i].cpu >= NOTABLE_SHARE * cpu); i++) {
        const struct measured_program *program = &programs.at[i];
        text_add(text, i == 0 ? "Most CPU time: " : ", ");
        text_add_clean(text, program->name, false);
        text_printf(text, " %s", as_percent(program->cpu / cpu).text);
        if (program->processes > 1)
            text_printf(text, " (%u processes)", program->processes);
        told += program->cpu;
    }
    if (i < programs.n)
        text_printf(text, "; %zu other program%s %s", programs.n - i, programs.n - i == 1 ? "" : "s",
                    as_percent(fmax(1 - told / cpu, 0)).text);
    text_add(text, ".");
}
