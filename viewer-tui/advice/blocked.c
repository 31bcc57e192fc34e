/* Threads that are blocked, by REALTIME: in locks, barriers, input and output, sleeps; and threads
 * that could run but had no CPU.
 *
 * Bound of the gain. Of a run of W seconds with C seconds of CPU time on n CPUs, of which all
 * threads together wait B seconds at a line, at least max(W - B, C / n) remain without that
 * waiting. Waiting for another thread, a child or an event is no cause: what they do meanwhile is.
 */
#include "viewer-tui/advice/situation.h"

#include "viewer-tui/tree/labels.h"

#include <math.h>

/* Less waiting, as a share of the wall clock, is not reported. */
#define LEAST_SHARE_OF_WALL 0.05

/* Smaller gains are not reported; close to what judgement.h calls fine. */
#define LEAST_GAIN 1.05

/* Whether the waiting can be shortened where it happens. */
static bool is_cause(enum wait wait)
{
    return wait >= WAIT_LOCK && wait <= WAIT_CONDITION;
}

/* The interval of the waiting, from its share of all samples of the metric. */
static struct share seconds_of(const struct situation *situation, double seconds)
{
    double total = situation->blocked_places.total;
    struct share share = share_of_samples(seconds, total, situation->blocked_increment);
    return (struct share){seconds, share.low * total, share.high * total};
}

static double factor(const struct main_process *process, double blocked)
{
    double least = process->cpu / main_process_most_running(process);
    double rest = fmax(process->wall - blocked, fmin(least, process->wall));
    return rest > 0 ? process->wall / rest : INFINITY;
}

static struct gain gain_of(const struct situation *situation, const struct share *seconds)
{
    const struct main_process *process = &situation->process;
    return (struct gain){.factor = factor(process, seconds->value),
                         .low = factor(process, seconds->low),
                         .high = factor(process, seconds->high)};
}

static void add_callee(const struct situation *situation, const struct time_place *place,
                       struct text *text)
{
    if (place->callee == NOTHING)
        return;
    text_add(text, ", in ");
    label_in_sentence(situation->view->db, place->callee, text);
}

/* Adds "Threads wait for a lock: worker, convoy.c:7, in pthread_mutex_lock; on average 30.9 of
 * 33." */
static void add_blocked(const struct situation *situation, const struct time_place *place,
                        struct findings *findings)
{
    const struct main_process *process = &situation->process;
    struct share seconds = seconds_of(situation, place->seconds);
    struct gain gain = gain_of(situation, &seconds);
    bool may_gain = place->wait != WAIT_CONDITION && process->is_only_one;
    struct text text = {0};
    if (seconds.low < LEAST_SHARE_OF_WALL * process->wall || (may_gain && gain.low < LEAST_GAIN))
        return;
    text_printf(&text, "Threads wait %s: ", wait_name(place->wait));
    situation_add_place(situation, place, &text);
    add_callee(situation, place, &text);
    text_printf(&text, "; on average %.1f of %zu threads (%.1f to %.1f).",
                seconds.value / process->wall, process->threads.n, seconds.low / process->wall,
                seconds.high / process->wall);
    if (may_gain) {
        text_add(&text, " Without that at most ");
        gain_describe(&gain, &text);
        text_add(&text, ".");
    }
    struct finding *finding = findings_add(findings, FINDING_BLOCKED, &text);
    finding_set_place(finding, place);
    if (may_gain)
        finding_set_gain(finding, gain);
    vec_free(&text);
}

/* Whether the thread is blocked in code that does not wait: it lost its CPU, or waits for a
 * page. */
static bool has_no_cpu(const struct time_place *place)
{
    return place->wait == WAIT_NONE && place->callee == NOTHING && place->is_user_code &&
           !place->is_system_call;
}

static void add_no_cpu(const struct situation *situation, double no_cpu, struct findings *findings)
{
    const struct main_process *process = &situation->process;
    struct share seconds = seconds_of(situation, no_cpu);
    struct text text = {0};
    if (seconds.low < LEAST_SHARE_OF_WALL * process->wall)
        return;
    text_printf(&text,
                "No CPU: on average %.1f threads (%.1f to %.1f) were in code that does not "
                "wait, but did not run. ",
                seconds.value / process->wall, seconds.low / process->wall,
                seconds.high / process->wall);
    if (process->cpus > 0 && (double)process->threads.n > process->cpus)
        text_printf(&text, "There are %zu threads for %.0f CPUs, or ", process->threads.n,
                    process->cpus);
    else
        text_add(&text, "Perhaps ");
    text_add(&text, "other programs took the CPUs, or pages were read.");
    findings_add(findings, FINDING_NO_CPU, &text);
    vec_free(&text);
}

void find_blocked(const struct situation *situation, struct findings *findings)
{
    const struct time_places *places = &situation->blocked_places;
    double no_cpu = 0;
    if (!(situation->process.wall > 0))
        return;
    for (size_t i = 0; i < places->list.n; i++) {
        const struct time_place *place = &places->list.at[i];
        if (has_no_cpu(place))
            no_cpu += place->seconds;
        else if (is_cause(place->wait))
            add_blocked(situation, place, findings);
    }
    add_no_cpu(situation, no_cpu, findings);
}
