/* CPU time in system calls: in libc's procedures that do nothing else. That is a lower bound of the
 * kernel's time: page faults and a program's own system calls are not in it. By REALTIME alone it
 * is unknown, since CPU time is then charged to the place where a thread waits next. */
#include "viewer-tui/advice/situation.h"

/* Smaller shares are not reported; what judgement.h calls high. */
#define LEAST_SHARE 0.10

void find_system_calls(const struct situation *situation, struct findings *findings)
{
    const struct time_places *places = &situation->cpu_places;
    const struct time_place *most = NULL;
    double seconds = 0, in_run = situation->process.cpu_of_run;
    char buffer[NAME_SIZE];
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
    if (!most || !is_by_cputime || share.low < LEAST_SHARE)
        return;
    struct gain gain = gain_without(&of_run);
    text_add(&text, "System calls: at least ");
    share_describe(&share, "", &text);
    text_printf(&text, " of the CPU time, most of it in %s",
                database_procedure_name(situation->view->db, most->leaf, buffer));
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
