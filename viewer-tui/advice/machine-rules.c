/* Rules about CPUs: others had them, a quota, more threads than CPUs. */
#include "viewer-tui/advice/advice-rules.h"

#include <math.h>
#include <string.h>

/* ---- Others had the CPUs ---- */

static bool others_had_cpus(const struct facts *facts, size_t *from, struct subject *subject)
{
    (void)subject;
    return is_first(from) && facts->supply.is_disturbed && !facts->supply.is_throttled;
}

/* Adds "ready for 22 s and ran for 3.7 s". */
static void add_ready(const struct facts *facts, struct text *text)
{
    text_add(text, "ready for ");
    add_seconds(text, facts->supply.ready);
    text_add(text, " and ran for ");
    add_seconds(text, facts->supply.running);
}

/* From this share of the CPU time on, threads that spin are worth a word. */
#define MUCH_WAITED_SHARE 0.30

/* Adds "; threads spent 80 % of their CPU time waiting for each other: try OMP_WAIT_POLICY=passive": a thread that spins
 * keeps a CPU from the one that it waits for, or uses up the quota. */
static void add_spinning(const struct facts *facts, struct text *text)
{
    const char *sleeping = facts->runtime ? facts->runtime->sleeping : NULL;
    if (!sleeping || facts->waited < MUCH_WAITED_SHARE * facts->supply.running)
        return;
    text_add(text, "; threads spent ");
    add_percent(text, fmin(facts->waited / facts->supply.running, 1));
    text_printf(text, " of their CPU time waiting for each other: try %s", sleeping);
}

static void say_others(const struct facts *facts, const struct subject *subject, struct text *text)
{
    (void)subject;
    text_add(text, "Others had the CPUs: threads were ");
    add_ready(facts, text);
    add_spinning(facts, text);
    text_add(text, ".");
}

const struct rule others_rule = {
    .kind = FINDING_NO_CPU, .order = ORDER_MACHINE, .condition = others_had_cpus, .words = say_others};

/* ---- A quota ---- */

static bool is_throttled(const struct facts *facts, size_t *from, struct subject *subject)
{
    (void)subject;
    return is_first(from) && facts->supply.is_throttled;
}

static void say_quota(const struct facts *facts, const struct subject *subject, struct text *text)
{
    (void)subject;
    text_add(text, "A quota of ");
    if (facts->process.quota > 0) {
        add_number(text, facts->process.quota);
        text_add(text, " CPUs");
    } else {
        text_add(text, "CPU time");
    }
    text_add(text, " stopped the program for ");
    add_seconds(text, facts->process.throttled);
    text_add(text, " of ");
    add_seconds(text, facts->process.wall);
    add_spinning(facts, text);
    text_add(text, ".");
}

const struct rule quota_rule = {
    .kind = FINDING_QUOTA, .order = ORDER_MACHINE, .condition = is_throttled, .words = say_quota};

/* ---- More threads than CPUs ----
 *
 * With coarse work that costs little, and a worker that sleeps nothing. In a parallel runtime a thread that has got
 * work may wait for a CPU while others spin there, and all wait for it at the next barrier: nobody works meanwhile. */

/* Smaller shares of the samples, or of the threads' time, are not reported. */
#define LEAST_NOBODY_SHARE 0.10
#define LEAST_READY_SHARE  0.05

/* From this share of the threads' time without a CPU on, the finding comes first, but for a lock that limits them. */
#define MUCH_READY_SHARE 0.40

/* The share of the samples in which no worker of a runtime was working. */
static struct share nobody_share(const struct facts *facts)
{
    const json_t *process = facts->process.process;
    return share_of_samples(run_number(process, "nobody_working"), run_number(process, "samples"), 1);
}

static bool have_too_few_cpus(const struct facts *facts, size_t *from, struct subject *subject)
{
    const struct main_process *process = &facts->process;
    const struct cpu_supply *supply = &facts->supply;
    if (!is_first(from) || !(process->cpus > 0) || (double)process->most_working <= process->cpus)
        return false;
    subject->share = nobody_share(facts);
    bool nobody_works = facts->runtime && subject->share.low >= LEAST_NOBODY_SHARE;
    double ready = supply->ready / (supply->ready + supply->running);
    if (nobody_works || (ready >= MUCH_READY_SHARE && !facts->lock.is_much))
        subject->order = ORDER_MACHINE;
    return nobody_works || ready >= LEAST_READY_SHARE;
}

/* The threads of a parallel runtime: the main thread, and as many as began in the same procedure. Others belong to
 * libraries. */
static size_t threads_of_runtime(const struct main_process *process)
{
    size_t most = 0;
    for (size_t i = 0; i < process->threads.n; i++) {
        size_t n = 0;
        for (size_t k = 0; k < process->threads.n; k++)
            n += strcmp(process->threads.at[i].start_routine, process->threads.at[k].start_routine) == 0;
        most = !process->threads.at[i].is_initial && n > most ? n : most;
    }
    return most + 1;
}

static void say_too_few_cpus(const struct facts *facts, const struct subject *subject, struct text *text)
{
    const struct main_process *process = &facts->process;
    text_printf(text, "%zu threads share %.0f CPU%s: ", process->most_working, process->cpus,
                process->cpus > 1 ? "s" : "");
    if (isnan(facts->supply.ready)) {
        text_add(text, "in ");
        add_percent(text, subject->share.value);
        text_add(text, " of the samples none of them worked");
    } else {
        text_add(text, "they were ");
        add_ready(facts, text);
    }
    if (facts->runtime && (double)threads_of_runtime(process) > process->cpus)
        text_printf(text, "; try %.0f (%s)", process->cpus, facts->runtime->setting);
    text_add(text, ".");
}

const struct rule too_few_cpus_rule = {.kind = FINDING_TOO_MANY_THREADS,
                                       .order = ORDER_FACT,
                                       .is_of_run = true,
                                       .needs_quiet = true,
                                       .condition = have_too_few_cpus,
                                       .words = say_too_few_cpus};
