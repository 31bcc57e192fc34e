/* The loop, or else the line, with the most CPU time. No gain is claimed, since nobody knows what a
 * change would bring; but no other change can gain more than the rest of the time. */
#include "viewer-tui/advice/situation.h"

#include "viewer-tui/tree/labels.h"

/* Programs without such a place have many small procedures. */
#define LEAST_SHARE 0.05

/* A loop, or a line outside of loops. */
struct hot {
    uint32_t procedure, file, line;
    bool is_loop;
    double seconds;
    const struct time_place *most;
};

static struct hot hot_of(const struct time_place *place)
{
    bool is_loop = place->loop_file != NOTHING;
    return (struct hot){.procedure = place->procedure,
                        .file = is_loop ? place->loop_file : place->file,
                        .line = is_loop ? place->loop_line : place->line,
                        .is_loop = is_loop,
                        .most = place};
}

static bool is_same(const struct hot *a, const struct hot *b)
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

static struct hot hottest(const struct situation *situation)
{
    const struct time_places *places = &situation->cpu_places;
    VEC(struct hot) list = {0};
    struct hot hottest = {.procedure = NOTHING};
    for (size_t i = 0; i < places->list.n && i < MOST_PLACES; i++) {
        struct hot hot = hot_of(&places->list.at[i]);
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
    char buffer[NAME_SIZE];
    if (place->callee == NOTHING)
        return;
    text_printf(text, ", most of it in %s",
                database_procedure_name(situation->view->db, place->leaf, buffer));
}

void find_hot_place(const struct situation *situation, struct findings *findings)
{
    struct hot hot = hottest(situation);
    struct share share =
        share_of_samples(hot.seconds, situation->cpu_places.total, situation->cpu_increment);
    struct text text = {0};
    char buffer[NAME_SIZE];
    if (hot.procedure == NOTHING || share.low < LEAST_SHARE)
        return;
    text_add(&text, "Most CPU time in one place: ");
    share_describe(&share, "", &text);
    if (hot.is_loop) {
        text_add(&text, " in the loop at ");
        label_file_line(situation->view->db, hot.file, hot.line, &text);
        text_add(&text, " of ");
        text_add(&text, database_procedure_name(situation->view->db, hot.procedure, buffer));
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
