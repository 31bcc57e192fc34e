#include "viewer-tui/advice/situation.h"

#include "lib/metric-kinds.h"
#include "lib/number.h"
#include "viewer-tui/metrics/efficiency.h"
#include "viewer-tui/tree/labels.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The metric "PART (EVENT)" or "PART"; NO_METRIC if it was not measured. */
static size_t metric_of(const struct metrics *metrics, const char *part, const char *suffix)
{
    char *name = mem_printf("%s%s", part, suffix);
    size_t metric = metrics_find(metrics, name);
    free(name);
    bool is_there = metric < metrics->n && metric_is_measured(&metrics->at[metric]);
    return is_there ? metric : NO_METRIC;
}

static void choose_event(struct situation *situation, const struct efficiency *event)
{
    const struct metrics *metrics = situation->view->metrics;
    const char *work = metrics->at[event->at[WORK]].name;
    const char *name = run_text(run_metric(situation->run, work), "event");
    size_t blocked = metric_of(metrics, METRIC_OFF_CPU, event->event);
    bool is_cpu_time = strcmp(name, "CPUTIME") == 0;
    if (!is_cpu_time && strcmp(name, "REALTIME") != 0)
        return;
    if (is_cpu_time || (situation->cpu.metric == NO_METRIC && blocked != NO_METRIC)) {
        situation->cpu.metric = event->at[WORK];
        situation->cpu.without = is_cpu_time ? NO_METRIC : blocked;
        situation->cpu_event = event->event;
        situation->waiting = metric_of(metrics, METRIC_WAITING, event->event);
        situation->incomplete = metric_of(metrics, METRIC_INCOMPLETE, event->event);
        situation->cpu_increment = run_increment(situation->run, work);
        situation->lock_blame.metric = metric_of(metrics, METRIC_LOCK_BLAME, event->event);
        situation->lock_wait.metric = metric_of(metrics, METRIC_LOCK_WAIT, event->event);
    }
    bool has_threads = metric_of(metrics, METRIC_LOCK_BLAME, event->event) != NO_METRIC;
    if (!is_cpu_time && has_threads) {
        situation->thread_waits.metric = metric_of(metrics, METRIC_WAITING, event->event);
        if (situation->cpu.without != NO_METRIC)
            situation->waiting = NO_METRIC; /* it is no CPU time */
    }
    if (blocked != NO_METRIC) {
        situation->blocked.metric = blocked;
        situation->blocked_increment = run_increment(situation->run, work);
    }
}

static int by_seconds(const void *a, const void *b)
{
    const struct time_place *x = a, *y = b;
    return (x->seconds < y->seconds) - (x->seconds > y->seconds);
}

/* Adds the places where plain threads wait, by the wall clock, to those where they are blocked. */
static void add_thread_waits(struct situation *situation)
{
    struct time_places *blocked = &situation->blocked_places;
    struct time_places waits =
        time_places_find(situation->view, situation->row, situation->thread_waits, situation->run);
    for (size_t i = 0; i < waits.list.n; i++)
        vec_push(&blocked->list, waits.list.at[i]);
    blocked->total += waits.total;
    vec_free(&waits.list);
    if (blocked->list.n)
        qsort(blocked->list.at, blocked->list.n, sizeof *blocked->list.at, by_seconds);
}

struct situation situation_of(struct view *view, uint32_t row, const json_t *run)
{
    assert(view->class == &topdown_class);
    struct situation situation = {.view = view,
                                  .row = row,
                                  .run = run,
                                  .process = main_process_of(run),
                                  .cpu = {NO_METRIC, NO_METRIC},
                                  .blocked = {NO_METRIC, NO_METRIC},
                                  .thread_waits = {NO_METRIC, NO_METRIC},
                                  .lock_blame = {NO_METRIC, NO_METRIC},
                                  .lock_wait = {NO_METRIC, NO_METRIC},
                                  .waiting = NO_METRIC,
                                  .incomplete = NO_METRIC};
    struct efficiency event;
    size_t from = 0;
    if (view->db->is_restricted) { /* of some threads only, so the process's numbers do not apply */
        vec_free(&situation.process.threads);
        situation.process.wall = 0;
    }
    while (efficiency_next(view->metrics, &from, &event))
        if (metric_is_measured(&view->metrics->at[event.at[WORK]]))
            choose_event(&situation, &event);
    if (situation.cpu.metric != NO_METRIC)
        situation.cpu_places = time_places_find(view, row, situation.cpu, run);
    if (situation.blocked.metric != NO_METRIC)
        situation.blocked_places = time_places_find(view, row, situation.blocked, run);
    if (situation.blocked.metric != NO_METRIC && situation.thread_waits.metric != NO_METRIC)
        add_thread_waits(&situation);
    return situation;
}

void situation_free(struct situation *situation)
{
    time_places_free(&situation->cpu_places);
    time_places_free(&situation->blocked_places);
    vec_free(&situation->process.threads);
}

void situation_add_place(const struct situation *situation, const struct time_place *place,
                         struct text *text)
{
    const struct database *db = situation->view->db;
    if (place->procedure == NOTHING)
        text_add(text, "unknown code");
    else
        label_in_sentence(db, place->procedure, text);
    uint32_t file = place->file, line = place->line;
    if ((file == NOTHING || line == 0) && place->procedure != NOTHING) {
        struct procedure procedure = database_procedure(db, place->procedure);
        file = procedure.file;
        line = procedure.line;
    }
    if (file == NOTHING || line == 0)
        return;
    text_add(text, ", ");
    label_file_line(db, file, line, text);
}

void finding_set_place(struct finding *finding, const struct time_place *place)
{
    finding->procedure = place->procedure;
    finding->file = place->file;
    finding->line = place->line;
}

void add_seconds(struct text *text, double seconds)
{
    char value[NUMBER_WITH_UNIT_SIZE];
    number_with_unit(seconds, "s", value);
    text_add(text, value);
}
