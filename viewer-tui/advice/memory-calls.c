/* CPU time in which the allocator takes memory from the system and gives it back: glibc's free
 * shrinks the heap, the next malloc grows it again, and each new page costs a page fault. No gain
 * is claimed, since the time of page faults is where the program touches the memory. */
#include "viewer-tui/advice/situation.h"

#include "viewer-tui/tree/labels.h"

/* Smaller shares of the CPU time are not reported. */
#define LEAST_SHARE 0.05

static bool is_memory_call(const struct situation *situation, const struct time_place *place)
{
    char leaf[NAME_SIZE], callee[NAME_SIZE];
    const struct database *db = situation->view->db;
    return place->is_system_call && place->is_user_code && place->callee != NOTHING &&
           is_call_of_allocator(database_procedure_name(db, place->leaf, leaf),
                                database_procedure_name(db, place->callee, callee));
}

void find_memory_calls(const struct situation *situation, struct findings *findings)
{
    const struct time_places *places = &situation->cpu_places;
    const struct time_place *most = NULL;
    double seconds = 0;
    for (size_t i = 0; i < places->list.n; i++)
        if (is_memory_call(situation, &places->list.at[i])) {
            seconds += places->list.at[i].seconds;
            most = most ? most : &places->list.at[i];
        }
    struct share share = share_of_samples(seconds, places->total, situation->cpu_increment);
    bool is_by_cputime = situation->cpu.without == NO_METRIC;
    struct text text = {0};
    if (!most || !is_by_cputime || share.low < LEAST_SHARE)
        return;
    text_add(&text, "Memory is given back to the system and taken again: ");
    share_describe(&share, "", &text);
    text_add(&text, " of the CPU time is in system calls of the allocator, most of it in ");
    label_in_sentence(situation->view->db, most->leaf, &text);
    text_add(&text, " called from ");
    situation_add_place(situation, most, &text);
    text_add(&text, "; page faults come on top. Allocate once, or let glibc keep as many bytes: "
                    "MALLOC_TRIM_THRESHOLD_=BYTES MALLOC_TOP_PAD_=BYTES MALLOC_MMAP_MAX_=0 in the "
                    "environment.");
    finding_set_place(findings_add(findings, FINDING_MEMORY_CALLS, &text), most);
    vec_free(&text);
}
