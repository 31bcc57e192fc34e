/* Wall time in which only one thread runs.
 *
 * Times of single samples are not recorded, but the threads' CPU clocks are, which gives two
 * bounds:
 *
 * 1. Thread X used x seconds of CPU time, all others together y. While others run, at least one of
 * them does, which lasts at most y. So X runs alone for at least x - y.
 * 2. While two or more threads run, they use at least two CPU seconds per second. If their CPU time
 * is C in W seconds, that lasts at most C / 2. So at most one thread runs for at least W - C / 2.
 * The cause may be anything: a lock, a disk, other programs. This bound is used only if nothing
 * else gives a reason.
 *
 * Clocks have no sampling error, but these are lower bounds: the gain is that of the time that is
 * known. */
#include "viewer-tui/advice/situation.h"

#include "viewer-tui/db/database.h"
#include "viewer-tui/threads/thread-values.h"

#include <math.h>
#include <stdlib.h>

/* Smaller shares of the wall clock are not reported. */
#define LEAST_SHARE_OF_WALL 0.10

/* A thread takes part in the work if it has this share of the CPU time. */
#define LEAST_SHARE_OF_CPU 0.01

/* Number of places that are tried, to find one where no other thread runs. */
#define MOST_PLACES 16

/* A place belongs to one thread if others have less than this share of that thread's time. */
#define OTHERS_SHARE 0.05

struct lone_thread {
    const struct process_thread *thread;
    double seconds; /* at least */
};

static struct lone_thread longest_alone(const struct main_process *process)
{
    struct lone_thread alone = {0};
    for (size_t i = 0; i < process->threads.n; i++) {
        const struct process_thread *thread = &process->threads.at[i];
        double seconds = thread->cpu - (process->cpu - thread->cpu);
        if (!alone.thread || seconds > alone.seconds)
            alone = (struct lone_thread){thread, seconds};
    }
    return alone;
}

static size_t threads_that_work(const struct main_process *process)
{
    size_t n = 0;
    for (size_t i = 0; i < process->threads.n; i++)
        n += process->threads.at[i].cpu >= LEAST_SHARE_OF_CPU * process->cpu;
    return n;
}

/* Whether a place belongs to the thread of that profile. */
static bool is_of_thread(const struct situation *situation, struct time_place *place,
                         uint32_t profile, double *by_profile, uint32_t n_profiles)
{
    struct value_refs refs = {0};
    double others = 0;
    for (size_t i = 0; i < place->refs.list.n; i++)
        vec_push(&refs.list, place->refs.list.at[i]);
    for (uint32_t p = 0; p < n_profiles; p++)
        by_profile[p] = 0;
    enum outcome outcome =
        thread_values(situation->view->db, &refs, situation->cpu.metric, by_profile);
    vec_free(&refs.list);
    for (uint32_t p = 1; p < n_profiles; p++)
        others += p == profile ? 0 : by_profile[p];
    return outcome == DONE && profile < n_profiles && others <= OTHERS_SHARE * by_profile[profile];
}

/* The place where a thread has most time and no other thread runs; NULL if unknown. */
static const struct time_place *place_of_thread(const struct situation *situation,
                                                const struct process_thread *thread)
{
    const struct time_places *places = &situation->cpu_places;
    uint32_t n = database_n_profiles(situation->view->db);
    double *by_profile = mem_alloc((n + 1) * sizeof *by_profile);
    const struct time_place *found = NULL;
    for (size_t i = 0; !found && i < places->list.n && i < MOST_PLACES; i++)
        if (is_of_thread(situation, &places->list.at[i], thread->profile, by_profile, n))
            found = &places->list.at[i];
    free(by_profile);
    return found;
}

/* On n CPUs that time can shrink to its n-th part. */
static struct gain gain_of(const struct main_process *process, double alone)
{
    double n = process->cpus > 1 ? process->cpus : 1;
    double rest = process->wall - alone * (1 - 1 / n);
    double factor = rest > 0 ? process->wall / rest : INFINITY;
    return (struct gain){factor, factor, factor};
}

static void add_gain(const struct situation *situation, double alone, struct finding *finding,
                     struct text *text)
{
    const struct main_process *process = &situation->process;
    struct gain gain = gain_of(process, alone);
    if (process->cpus > 1 && process->is_only_one) {
        text_printf(text, " On all %.0f CPUs that time would be shorter: at most ", process->cpus);
        gain_describe(&gain, text);
        text_add(text, ".");
        finding_set_gain(finding, gain);
    }
}

static void add_alone(const struct situation *situation, const struct lone_thread *alone,
                      struct findings *findings)
{
    const struct time_place *place = place_of_thread(situation, alone->thread);
    double wall = situation->process.wall, seconds = fmin(alone->seconds, wall);
    struct text text = {0};
    text_add(&text, "Only one thread runs for at least ");
    add_seconds(&text, seconds);
    text_add(&text, " of ");
    add_seconds(&text, wall);
    text_printf(&text, ": %s", alone->thread->is_initial ? "the main thread" : "a thread");
    if (!alone->thread->is_initial && *alone->thread->name)
        text_printf(&text, " (%s)", alone->thread->name);
    if (place) {
        text_add(&text, ", mostly in ");
        situation_add_place(situation, place, &text);
    }
    text_add(&text, ".");
    struct finding *finding = findings_add(findings, FINDING_ONE_THREAD, &text);
    if (place)
        finding_set_place(finding, place);
    add_gain(situation, seconds, finding, &text);
    finding_set_text(finding, &text);
    vec_free(&text);
}

/* Adds the finding when nothing says what the threads wait for. */
static void add_unknown(const struct situation *situation, double seconds,
                        struct findings *findings)
{
    const struct main_process *process = &situation->process;
    struct text text = {0};
    text_printf(&text, "At most one of %zu threads runs for at least ", process->threads.n);
    add_seconds(&text, seconds);
    text_add(&text, " of ");
    add_seconds(&text, process->wall);
    text_printf(&text, "; on average %.1f do.", process->cpu / process->wall);
    if (situation->blocked.metric == NO_METRIC)
        text_add(&text, " hpcrun -e REALTIME shows what the others wait for.");
    findings_add(findings, FINDING_ONE_THREAD, &text);
    vec_free(&text);
}

void find_one_thread(const struct situation *situation, double explained, struct findings *findings)
{
    const struct main_process *process = &situation->process;
    double least = LEAST_SHARE_OF_WALL * process->wall;
    if (situation->row != 0 || !(process->wall > 0) || threads_that_work(process) < 2)
        return;
    struct lone_thread alone = longest_alone(process);
    alone.seconds -= explained;
    double at_most_one = process->wall - process->cpu / 2;
    if (alone.seconds >= least)
        add_alone(situation, &alone, findings);
    else if (at_most_one >= least && !findings_have(findings, FINDING_BLOCKED) &&
             !findings_have(findings, FINDING_IMBALANCE))
        add_unknown(situation, at_most_one, findings);
}
