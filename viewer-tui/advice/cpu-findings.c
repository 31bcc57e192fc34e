/* Findings on CPU time: the hottest loop or line, system calls, waiting in a runtime. */
#include "viewer-tui/advice/situation.h"

#include "viewer-tui/tree/labels.h"

/* Programs without such a place have many small procedures. */
#define LEAST_SHARE 0.05

/* A loop, or a line outside of loops. */
struct hot_place {
    uint32_t procedure, file, line;
    bool is_loop;
    double seconds;
    const struct time_place *most;
};

static struct hot_place hot_of(const struct time_place *place)
{
    bool is_loop = place->loop_file != NOTHING;
    return (struct hot_place){.procedure = place->procedure,
                              .file = is_loop ? place->loop_file : place->file,
                              .line = is_loop ? place->loop_line : place->line,
                              .is_loop = is_loop,
                              .most = place};
}

static bool is_same(const struct hot_place *a, const struct hot_place *b)
{
    return a->procedure == b->procedure && a->file == b->file && a->line == b->line;
}

/* Whether the time may be from elsewhere. By REALTIME the CPU time since the last sample is charged
 * to the place where the thread waits next. */
static bool is_elsewhere(const struct situation *situation, const struct time_place *place)
{
    return situation->cpu.without != NO_METRIC && place->wait != WAIT_NONE;
}

/* Places after this many are small. */
#define MOST_PLACES 1000

static struct hot_place hottest(const struct situation *situation)
{
    const struct time_places *places = &situation->cpu_places;
    VEC(struct hot_place) list = {0};
    struct hot_place hottest = {.procedure = NOTHING};
    for (size_t i = 0; i < places->list.n && i < MOST_PLACES; i++) {
        struct hot_place hot = hot_of(&places->list.at[i]);
        size_t h = 0;
        if (hot.procedure == NOTHING || is_elsewhere(situation, hot.most))
            continue;
        while (h < list.n && !is_same(&list.at[h], &hot))
            h++;
        if (h == list.n)
            vec_push(&list, hot);
        list.at[h].seconds += places->list.at[i].seconds;
        if (list.at[h].seconds > hottest.seconds)
            hottest = list.at[h];
    }
    vec_free(&list);
    return hottest;
}

static void add_callee(const struct situation *situation, const struct time_place *place,
                       struct text *text)
{
    if (place->callee == NOTHING)
        return;
    text_add(text, ", most of it in ");
    label_in_sentence(situation->view->db, place->leaf, text);
}

/* No gain is claimed, since nobody knows what a change would bring; but no other change can gain
 * more than the rest of the time. */
void find_hot_place(const struct situation *situation, struct findings *findings)
{
    struct hot_place hot = hottest(situation);
    struct share share =
        share_of_samples(hot.seconds, situation->cpu_places.total, situation->cpu_increment);
    struct text text = {0};
    if (hot.procedure == NOTHING || share.low < LEAST_SHARE)
        return;
    text_add(&text, "Most CPU time in one place: ");
    share_describe(&share, "", &text);
    if (hot.is_loop) {
        text_add(&text, " in the loop at ");
        label_file_line(situation->view->db, hot.file, hot.line, &text);
        text_add(&text, " of ");
        label_in_sentence(situation->view->db, hot.procedure, &text);
    } else {
        text_add(&text, " in ");
        situation_add_place(situation, hot.most, &text);
    }
    add_callee(situation, hot.most, &text);
    text_add(&text, ".");
    struct finding *finding = findings_add(findings, FINDING_HOT_PLACE, &text);
    finding->procedure = hot.procedure;
    finding->file = hot.file;
    finding->line = hot.line;
    vec_free(&text);
}

/* ---- System calls ----
 *
 * CPU time in libc's procedures that do nothing else is a lower bound of the kernel's time: page
 * faults and a program's own system calls are not in it. By REALTIME alone it is unknown, since CPU
 * time is then charged to the place where a thread waits next. */

/* Smaller shares are not reported; what judgement.h calls high. */
#define LEAST_SYSTEM_SHARE 0.10

void find_system_calls(const struct situation *situation, struct findings *findings)
{
    const struct time_places *places = &situation->cpu_places;
    const struct time_place *most = NULL;
    double seconds = 0, in_run = situation->process.cpu_of_run;
    for (size_t i = 0; i < places->list.n; i++)
        if (places->list.at[i].is_system_call) {
            seconds += places->list.at[i].seconds;
            most = most ? most : &places->list.at[i];
        }
    struct share share = share_of_samples(seconds, places->total, situation->cpu_increment);
    struct share of_run = share_of_samples(seconds, in_run > places->total ? in_run : places->total,
                                           situation->cpu_increment);
    struct text text = {0};
    bool is_by_cputime = situation->cpu.without == NO_METRIC;
    if (!most || !is_by_cputime || share.low < LEAST_SYSTEM_SHARE)
        return;
    struct gain gain = gain_without(&of_run);
    text_add(&text, "System calls: at least ");
    share_describe(&share, "", &text);
    text_add(&text, " of the CPU time, most of it in ");
    label_in_sentence(situation->view->db, most->leaf, &text);
    if (most->is_user_code) {
        text_add(&text, " called from ");
        situation_add_place(situation, most, &text);
    }
    text_add(&text, ". Without them at most ");
    gain_describe(&gain, &text);
    text_add(&text, ".");
    struct finding *finding = findings_add(findings, FINDING_SYSTEM_CALLS, &text);
    finding_set_place(finding, most);
    finding_set_gain(finding, gain);
    vec_free(&text);
}

/* ---- Threads that spin in a runtime, because they have no work ---- */

/* Smaller shares are not reported. */
#define LEAST_WAITING_SHARE 0.10

void find_waiting(const struct situation *situation, struct findings *findings)
{
    struct view *view = situation->view;
    if (situation->waiting == NO_METRIC || situation->cpu.metric == NO_METRIC)
        return;
    double waiting = view_cost(view, situation->row, situation->waiting, INCLUSIVE);
    double cpu = view_cost(view, situation->row, situation->cpu.metric, INCLUSIVE) + waiting;
    struct share share = share_of_samples(waiting, cpu, situation->cpu_increment);
    struct text text = {0};
    if (share.low < LEAST_WAITING_SHARE)
        return;
    struct time_places places = time_places_find(
        view, situation->row, (struct time_metric){situation->waiting, NO_METRIC}, situation->run);
    const struct time_place *most = places.list.n ? &places.list.at[0] : NULL;
    text_add(&text, "Threads wait inside of the parallel runtime for ");
    share_describe(&share, "", &text);
    text_add(&text, " of the time that was sampled");
    if (most && most->is_user_code) {
        text_add(&text, ", mostly in calls from ");
        situation_add_place(situation, most, &text);
    }
    text_add(&text, ": they have less work than others, or there is none in parallel.");
    struct finding *finding = findings_add(findings, FINDING_WAITING, &text);
    if (most)
        finding_set_place(finding, most);
    vec_free(&text);
    time_places_free(&places);
}
