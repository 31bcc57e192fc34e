/* Rules about threads and ranks with unequal work, and about one that runs alone. */
#include "viewer-tui/advice/advice-rules.h"

#include <math.h>

/* A part is compared with another one that has at least this share of it; else with the mean. */
#define COMPARABLE 0.05

/* ---- Unequal parts of a procedure or construct ---- */

static double factor(const struct facts *facts, double excess)
{
    const struct main_process *process = &facts->process;
    double wall = facts->supply.wall, least = fmin((process->cpu - process->waited) / process->most_running, wall);
    double rest = fmax(wall - excess, least);
    return rest > 0 ? wall / rest : INFINITY;
}

/* Whether chance and the machine do not explain the difference, and equal parts would gain something. What a thread had
 * more because others were ready without a CPU, they would have taken from a common queue. */
static bool is_unequal(const struct facts *facts, const struct shared_work *work)
{
    double ready = facts->process.ready_to_work;
    double taken_over = work->is_static_loop || isnan(ready) ? 0 : ready / (double)work->parts.n;
    return work->excess.low > taken_over && factor(facts, work->excess.value - taken_over) >= LEAST_GAIN;
}

bool has_unequal_parts(const struct facts *facts, struct subject *subject)
{
    const struct shared_work *work = &facts->balance.list.at[subject->entry];
    const struct share *excess = &work->excess;
    subject->of = work;
    subject->place = work->place;
    subject->gain =
        (struct gain){factor(facts, excess->value), factor(facts, excess->low), factor(facts, excess->high)};
    return facts->process.wall > 0 && is_unequal(facts, work);
}

void say_unequal_parts(const struct facts *facts, const struct subject *subject, struct text *text)
{
    (void)facts;
    const struct shared_work *work = subject->of;
    const struct parts *parts = &work->parts;
    const char *how = work->is_construct || work->is_of_library ? "smaller pieces" : "equal parts";
    text_printf(text, "Thread %ld has ", parts->most_of);
    if (parts->least >= COMPARABLE * parts->most)
        text_printf(text, "%.2g times the work of thread %ld in ", parts->most / parts->least, parts->least_of);
    else
        text_printf(text, "%s of work, the mean of %zu is %s, in ", as_seconds(parts->most).text, parts->n,
                    as_seconds(parts->mean).text);
    text_printf(text, "%s: %s %s", subject->where,
                work->is_static_loop ? "schedule(dynamic)" : how, subject->gain.factor > 1 ? "could win " : "may help");
    add_gain(subject, "", "", text);
    text_add(text, ".");
}

/* ---- Ranks of a parallel job ---- */

/* Less waiting is not reported, as a share of the rank's time. */
#define LEAST_RANK_WAITING 0.05

/* The wall clock is that of all threads. If only some were chosen it is unknown (0), and so is the gain. */
bool have_unequal_ranks(const struct facts *facts, struct subject *subject)
{
    const struct rank_balance *ranks = &facts->balance.ranks;
    double wall = facts->supply.wall;
    const struct share *excess = &ranks->excess;
    struct gain gain = gain_without(&(struct share){excess->value / wall, excess->low / wall, excess->high / wall});
    subject->place = ranks->place;
    if (wall > 0)
        subject->gain = gain;
    return ranks->parts.n >= 2 && ranks->waits >= LEAST_RANK_WAITING && excess->low > 0 && gain.factor >= LEAST_GAIN;
}

void say_unequal_ranks(const struct facts *facts, const struct subject *subject, struct text *text)
{
    const struct parts *parts = &facts->balance.ranks.parts;
    text_printf(text, "Rank %ld computes ", parts->most_of);
    if (parts->least >= COMPARABLE * parts->most)
        text_printf(text, "%.2g times as long as rank %ld", parts->most / parts->least, parts->least_of);
    else
        text_add(text, as_seconds(parts->most).text);
    text_printf(text, "; rank %ld waits ", parts->least_of);
    if (!facts->supply.is_disturbed)
        text_printf(text, "%s of its time ", as_percent(facts->balance.ranks.waits).text);
    text_add(text, "in ");
    add_call(facts, subject, text);
    add_gain(subject, "; equal parts could win ", "", text);
    text_add(text, ".");
}

/* ---- One thread runs alone ----
 *
 * Times of single samples are not recorded, but the threads' CPU clocks are. Thread X used x seconds of CPU time, all
 * others together y, and were ready without a CPU for r. While others have work, at least one of them does, which
 * lasts at most y + r. So X has work alone for at least x - y - r. Clocks have no sampling error, but this is a
 * lower bound: the gain is that of the time that is known. In a piece of time, x and y are those of its samples. */

/* Smaller shares of the wall clock are not reported. */
#define LEAST_SHARE_OF_WALL 0.10

/* A thread takes part in the work if it has this share of the CPU time. */
#define LEAST_SHARE_OF_CPU 0.05

/* Places after these are small. */
#define MOST_PLACES 64

/* Finds the row that has most of the time for which the thread runs alone, if one has half of it: seconds in the
 * thread, less those in all others. */
static void find_lone_row(const struct facts *facts, uint32_t profile, double alone, struct hotspot *row)
{
    uint32_t n = database_n_profiles(facts->view->db);
    for (size_t h = 0; h < facts->hotspots.n && h < MOST_HOTSPOTS; h++) {
        double seconds = 0;
        for (size_t i = 0; i < facts->cpu_places.list.n && i < MOST_PLACES; i++) {
            struct time_place *place = &facts->cpu_places.list.at[i];
            if (!hotspot_has(&facts->hotspots.at[h], place))
                continue;
            autofree double *by_profile = time_by_profile(facts->view, &place->refs, facts->cpu);
            for (uint32_t p = 1; p < n; p++)
                seconds += p == profile ? by_profile[p] : -by_profile[p];
        }
        if (seconds >= alone / 2) {
            *row = facts->hotspots.at[h];
            return;
        }
    }
}

/* Runs with fewer samples say little; what workers of a parallel runtime do is judged by its idleness. */
#define LEAST_SAMPLES_ALONE 20

bool runs_alone(const struct facts *facts, struct subject *subject)
{
    const struct main_process *process = &facts->process;
    const struct process_thread *busiest = process->busiest;
    size_t n_working = 0;
    double explained = 0; /* for which threads with more work than others, which other findings name, run alone */
    for (size_t i = 0; i < process->threads.n; i++)
        n_working += process->threads.at[i].work >= LEAST_SHARE_OF_CPU * process->cpu;
    if (!(process->wall > 0) || facts->runtime || n_working < 2 ||
        facts->cpu_total < LEAST_SAMPLES_ALONE * facts->cpu_increment)
        return false;
    for (size_t w = 0; w < facts->balance.list.n; w++)
        if (is_unequal(facts, &facts->balance.list.at[w]))
            explained += facts->balance.list.at[w].alone;
    double ready = isnan(process->ready) ? 0 : process->ready - busiest->ready;
    double alone = 2 * busiest->cpu - process->cpu - ready;
    subject->of = busiest;
    subject->seconds = fmin(alone - explained, process->wall);
    if (subject->seconds < LEAST_SHARE_OF_WALL * facts->supply.wall)
        return false;
    find_lone_row(facts, busiest->profile, subject->seconds, &subject->place);
    for (size_t i = 0; i < facts->parallelizations.list.n; i++) {
        const struct parallelization *of = &facts->parallelizations.list.at[i];
        if (of->helper != NOTHING && of->helper == subject->place.procedure)
            subject->place = of->hotspots[WASTED_IDLE].at[0];
    }
    /* On n CPUs that time can shrink to its n-th part. */
    double n = process->is_only_one && process->cpus > 1 ? process->cpus : 1;
    double error = facts->view->db->slice ? share_error(process->cpu, facts->cpu_increment) : 0;
    double low = fmax(subject->seconds - error, 0), high = fmin(subject->seconds + error, process->wall);
    double saved = (1 - 1 / n) / process->wall;
    subject->gain = gain_without(&(struct share){subject->seconds * saved, low * saved, high * saved});
    return true;
}

void say_alone(const struct facts *facts, const struct subject *subject, struct text *text)
{
    const struct process_thread *thread = subject->of;
    text_printf(text, "Only %s", thread->is_initial ? "the main thread" : "one thread");
    if (!thread->is_initial && *thread->name)
        text_printf(text, " (%s)", thread->name);
    text_printf(text, " runs for at least %s of %s", as_seconds(subject->seconds).text,
                as_seconds(facts->process.wall).text);
    if (subject->place.procedure != NOTHING)
        text_printf(text, ", mostly in %s", subject->where);
    add_gain(subject, ": could win ", "", text);
    if (subject->gain.factor > 1)
        text_printf(text, " on %.0f CPUs", facts->process.cpus);
    text_add(text, ".");
}
