/* Rules about threads and ranks with unequal work, and about one that runs alone. */
#include "viewer-tui/advice/advice-rules.h"

#include "viewer-tui/tree/labels.h"

#include <math.h>
#include <stdlib.h>

/* ---- Unequal parts of a procedure or construct ---- */

static double factor(const struct facts *facts, double excess)
{
    const struct main_process *process = &facts->process;
    double wall = facts->supply.wall, least = fmin(process->cpu / main_process_most_running(process), wall);
    double rest = fmax(wall - excess, least);
    return rest > 0 ? wall / rest : INFINITY;
}

/* What a thread had more because others were ready without a CPU: they would have taken it from a common queue. */
static double taken_over(const struct facts *facts, const struct shared_work *work)
{
    double ready = facts->supply.ready;
    return work->is_static_loop || isnan(ready) ? 0 : ready / (double)work->n;
}

/* Whether chance and the machine do not explain the difference, and equal parts would gain something. */
static bool is_unequal(const struct facts *facts, const struct shared_work *work)
{
    double over = taken_over(facts, work);
    return work->excess.low > over && factor(facts, work->excess.value - over) >= LEAST_GAIN;
}

static bool have_unequal_parts(const struct facts *facts, size_t *from, struct subject *subject)
{
    while (facts->process.is_only_one && facts->process.wall > 0 && *from < facts->balance.list.n) {
        const struct shared_work *work = &facts->balance.list.at[(*from)++];
        subject->of = work;
        subject->place = work->place;
        if (is_unequal(facts, work))
            return true;
    }
    return false;
}

static struct gain gain_of_equal_parts(const struct facts *facts, const struct subject *subject)
{
    const struct share *excess = &((const struct shared_work *)subject->of)->excess;
    return (struct gain){factor(facts, excess->value), factor(facts, excess->low), factor(facts, excess->high)};
}

/* A part is compared with another one that has at least this share of it; else with the mean. */
#define COMPARABLE 0.05

static void say_unequal_parts(const struct facts *facts, const struct subject *subject, struct text *text)
{
    const struct shared_work *work = subject->of;
    text_printf(text, "Thread %u has ", work->most_of);
    if (work->least >= COMPARABLE * work->most) {
        text_printf(text, "%.2g times the work of thread %u in ", work->most / work->least, work->least_of);
    } else {
        add_seconds(text, work->most);
        text_printf(text, " of work, the mean of %zu is ", work->n);
        add_seconds(text, work->mean);
        text_add(text, ", in ");
    }
    add_place(facts, &work->place, text);
    text_printf(text, ": %s",
                work->is_static_loop ? "schedule(dynamic)"
                : work->is_construct ? "smaller pieces"
                                     : "equal parts");
    if (subject->gain.factor > 1) {
        text_add(text, " could win ");
        add_factor(text, subject->gain.factor);
    } else {
        text_add(text, " may help");
    }
    text_add(text, ".");
}

const struct rule imbalance_rule = {.kind = FINDING_IMBALANCE,
                                    .order = ORDER_GAIN,
                                    .needs_gain = true,
                                    .claims_gain = true,
                                    .condition = have_unequal_parts,
                                    .gain = gain_of_equal_parts,
                                    .words = say_unequal_parts};

/* ---- Ranks of a parallel job ---- */

/* Less waiting is not reported, as a share of the rank's time. */
#define LEAST_RANK_WAITING 0.05

static bool have_unequal_ranks(const struct facts *facts, size_t *from, struct subject *subject)
{
    const struct rank_balance *ranks = &facts->balance.ranks;
    subject->place = ranks->place;
    return is_first(from) && ranks->n >= 2 && ranks->waits >= LEAST_RANK_WAITING && facts->row == 0;
}

static struct gain gain_of_equal_ranks(const struct facts *facts, const struct subject *subject)
{
    (void)subject;
    const struct rank_balance *ranks = &facts->balance.ranks;
    double wall = facts->supply.wall, excess = ranks->most - ranks->mean;
    double factor = excess < wall ? wall / (wall - excess) : INFINITY;
    return (struct gain){factor, factor, factor};
}

static void say_unequal_ranks(const struct facts *facts, const struct subject *subject, struct text *text)
{
    const struct rank_balance *ranks = &facts->balance.ranks;
    text_printf(text, "Rank %ld computes ", ranks->most_of);
    if (ranks->least >= COMPARABLE * ranks->most)
        text_printf(text, "%.2g times as long as rank %ld", ranks->most / ranks->least, ranks->least_of);
    else
        add_seconds(text, ranks->most);
    text_printf(text, "; rank %ld waits ", ranks->least_of);
    if (!facts->supply.is_disturbed) {
        add_percent(text, ranks->waits);
        text_add(text, " of its time ");
    }
    text_add(text, "in ");
    add_call(facts, &ranks->place, text);
    if (subject->gain.factor > 1) {
        text_add(text, "; equal parts could win ");
        add_factor(text, subject->gain.factor);
    }
    text_add(text, ".");
}

const struct rule ranks_rule = {.kind = FINDING_RANKS,
                                .order = ORDER_GAIN,
                                .is_of_run = true,
                                .needs_gain = true,
                                .claims_gain = true,
                                .condition = have_unequal_ranks,
                                .gain = gain_of_equal_ranks,
                                .words = say_unequal_ranks};

/* ---- One thread runs alone ----
 *
 * Times of single samples are not recorded, but the threads' CPU clocks are. Thread X used x seconds of CPU time, all
 * others together y, and were ready without a CPU for r. While others have work, at least one of them does, which
 * lasts at most y + r. So X has work alone for at least x - y - r. Clocks have no sampling error, but this is a
 * lower bound: the gain is that of the time that is known. */

/* Smaller shares of the wall clock are not reported. */
#define LEAST_SHARE_OF_WALL 0.10

/* A thread takes part in the work if it has this share of the CPU time. */
#define LEAST_SHARE_OF_CPU 0.05

static size_t threads_that_work(const struct main_process *process)
{
    size_t n = 0;
    for (size_t i = 0; i < process->threads.n; i++)
        n += process->threads.at[i].work >= LEAST_SHARE_OF_CPU * process->cpu;
    return n;
}

/* The seconds for which threads with more work than others, which other findings name, run alone. */
static double explained_seconds(const struct facts *facts)
{
    double seconds = 0;
    for (size_t i = 0; i < facts->balance.list.n; i++) {
        const struct shared_work *work = &facts->balance.list.at[i];
        seconds += is_unequal(facts, work) ? work->alone : 0;
    }
    return seconds;
}

static const struct process_thread *busiest_thread(const struct main_process *process)
{
    const struct process_thread *busiest = NULL;
    for (size_t i = 0; i < process->threads.n; i++)
        if (!busiest || process->threads.at[i].cpu > busiest->cpu)
            busiest = &process->threads.at[i];
    return busiest;
}

/* Adds a place's seconds in a thread, less those in all others, to a row. */
static void add_alone(const struct facts *facts, struct time_place *place, uint32_t profile, double *seconds)
{
    uint32_t n = database_n_profiles(facts->view->db);
    double *by_profile = time_by_profile(facts->view, &place->refs, facts->cpu);
    for (uint32_t p = 1; by_profile && p < n; p++)
        *seconds += p == profile ? by_profile[p] : -by_profile[p];
    free(by_profile);
}

/* Places after these are small. */
#define MOST_PLACES 64

/* The row that has most of the time for which the thread runs alone; false if none has half of it. */
static bool find_lone_row(const struct facts *facts, uint32_t profile, double alone, struct hotspot *row)
{
    for (size_t h = 0; h < facts->hotspots.n && h < MOST_HOTSPOTS; h++) {
        double seconds = 0;
        for (size_t i = 0; i < facts->cpu_places.list.n && i < MOST_PLACES; i++)
            if (hotspot_has(&facts->hotspots.at[h], &facts->cpu_places.list.at[i]))
                add_alone(facts, &facts->cpu_places.list.at[i], profile, &seconds);
        if (seconds >= alone / 2) {
            *row = facts->hotspots.at[h];
            return true;
        }
    }
    return false;
}

/* Runs with fewer samples say little; what workers of a parallel runtime do is judged by its idleness. */
#define LEAST_SAMPLES_ALONE 20

static bool can_compare(const struct facts *facts)
{
    const struct main_process *process = &facts->process;
    return process->wall > 0 && !facts->runtime && threads_that_work(process) >= 2 &&
           facts->cpu_total >= LEAST_SAMPLES_ALONE * facts->cpu_increment;
}

static bool runs_alone(const struct facts *facts, size_t *from, struct subject *subject)
{
    const struct main_process *process = &facts->process;
    const struct process_thread *busiest = busiest_thread(process);
    if (!is_first(from) || !can_compare(facts))
        return false;
    double ready = isnan(process->ready) ? 0 : process->ready - busiest->ready;
    double alone = 2 * busiest->cpu - process->cpu - ready;
    subject->of = busiest;
    subject->seconds = fmin(alone - explained_seconds(facts), process->wall);
    if (subject->seconds < LEAST_SHARE_OF_WALL * facts->supply.wall)
        return false;
    find_lone_row(facts, busiest->profile, subject->seconds, &subject->place);
    return true;
}

/* On n CPUs that time can shrink to its n-th part. */
static struct gain gain_of_all_cpus(const struct facts *facts, const struct subject *subject)
{
    const struct main_process *process = &facts->process;
    double n = process->is_only_one && process->cpus > 1 ? process->cpus : 1;
    double rest = process->wall - subject->seconds * (1 - 1 / n);
    double factor = rest > 0 ? process->wall / rest : INFINITY;
    return (struct gain){factor, factor, factor};
}

static void say_alone(const struct facts *facts, const struct subject *subject, struct text *text)
{
    const struct process_thread *thread = subject->of;
    text_printf(text, "Only %s", thread->is_initial ? "the main thread" : "one thread");
    if (!thread->is_initial && *thread->name)
        text_printf(text, " (%s)", thread->name);
    text_add(text, " runs for at least ");
    add_seconds(text, subject->seconds);
    text_add(text, " of ");
    add_seconds(text, facts->process.wall);
    if (subject->place.procedure != NOTHING) {
        text_add(text, ", mostly in ");
        add_place(facts, &subject->place, text);
    }
    if (subject->gain.factor > 1) {
        text_add(text, ": could win ");
        add_factor(text, subject->gain.factor);
        text_printf(text, " on %.0f CPUs", facts->process.cpus);
    }
    text_add(text, ".");
}

const struct rule alone_rule = {.kind = FINDING_ONE_THREAD,
                                .order = ORDER_GAIN,
                                .is_of_run = true,
                                .claims_gain = true,
                                .condition = runs_alone,
                                .gain = gain_of_all_cpus,
                                .words = say_alone};
