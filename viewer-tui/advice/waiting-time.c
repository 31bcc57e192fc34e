/* CPU time in a runtime's waiting procedures: threads that spin because they have no work. */
#include "viewer-tui/advice/situation.h"

/* Smaller shares are not reported. */
#define LEAST_SHARE 0.10

void find_waiting(const struct situation *situation, struct findings *findings)
{
    struct view *view = situation->view;
    if (situation->waiting == NO_METRIC || situation->cpu.metric == NO_METRIC)
        return;
    double waiting = view_cost(view, situation->row, situation->waiting, INCLUSIVE);
    double cpu = view_cost(view, situation->row, situation->cpu.metric, INCLUSIVE) + waiting;
    struct share share = share_of_samples(waiting, cpu, situation->cpu_increment);
    struct text text = {0};
    if (share.low < LEAST_SHARE)
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
