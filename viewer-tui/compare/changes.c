#include "viewer-tui/compare/changes.h"

#include "lib/measurement-format.h"
#include "lib/metric-kinds.h"
#include "lib/number.h"
#include "viewer-tui/advice/judgement.h"
#include "viewer-tui/db/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An event of a row that is being compared. */
struct compared_event {
    const struct merged_runs *merged;
    struct view *view;
    uint32_t row;
    const double *periods; /* of the event's samples, by side; 0 if unknown */
};

/* `costs`: by run. */
static struct costs_of_both both(const struct compared_event *compared, const double *costs)
{
    const struct merged_runs *merged = compared->merged;
    double left = merged_mean(merged, 0, costs), right = merged_mean(merged, 1, costs);
    return (struct costs_of_both){
        .sides = {left, right},
        .difference = right - left,
        .uncertainty = merged_uncertainty(merged, costs, 1, compared->periods, CONFIDENCE_95)};
}

static enum change_verdict judge_change(const struct costs_of_both *costs, double whole)
{
    double size = fabs(costs->difference);
    if (!(size > 0) || size < NOTABLE_SHARE_OF_RUN * whole)
        return CHANGE_HARDLY;
    if (size <= costs->uncertainty)
        return CHANGE_BY_CHANCE;
    return costs->difference > 0 ? CHANGE_WORSE : CHANGE_BETTER;
}

/* ---- Procedures ---- */

/* A hotspot of the runs: procedures of the same name and file name; then, of the rest, those of the same name if each
 * side has only one. */
struct hotspot_pair {
    char *name;       /* owned */
    const char *file; /* name without folders, "" if unknown */
    bool is_in[SIDES];
    struct hotspot sides[SIDES]; /* of one run of the side, whose database is: */
    const struct database *dbs[SIDES];
    double *costs;               /* by run; owned */
};

typedef VEC(struct hotspot_pair) hotspot_pair_list;

static void add_pair(hotspot_pair_list *pairs, const struct merged_runs *merged, size_t run,
                     const struct hotspot *hotspot)
{
    const struct database *db = merged->runs.at[run].db;
    size_t side = merged->runs.at[run].group;
    char buffer[NAME_SIZE];
    const char *path = database_file_path(db, hotspot->at.file);
    bool has_name = hotspot->procedure != NOTHING;
    struct hotspot_pair pair = {
        .name = mem_strdup(has_name ? database_procedure_name(db, hotspot->procedure, buffer) : ""),
        .file = path ? path_name(path) : "",
        .costs = mem_alloc(merged->runs.n * sizeof *pair.costs)};
    pair.is_in[side] = true;
    pair.sides[side] = *hotspot;
    pair.dbs[side] = db;
    pair.costs[run] = hotspot->cost;
    vec_push(pairs, pair);
}

/* By name and file; then the left side first; then by cost, the largest first. */
static int by_procedure(const void *left, const void *right)
{
    const struct hotspot_pair *a = left, *b = right;
    int result = strcmp(a->name, b->name);
    result = result ? result : strcmp(a->file, b->file);
    result = result ? result : b->is_in[0] - a->is_in[0];
    for (int side = 0; side < SIDES && result == 0; side++)
        result = (a->sides[side].cost < b->sides[side].cost) - (a->sides[side].cost > b->sides[side].cost);
    for (int side = 0; side < SIDES && result == 0; side++)
        result = (a->sides[side].at.line > b->sides[side].at.line) - (a->sides[side].at.line < b->sides[side].at.line);
    return result;
}

/* Adds the costs of one to another. */
static void take_in(struct hotspot_pair *into, struct hotspot_pair *from, size_t n_runs)
{
    for (int side = 0; side < SIDES; side++) {
        if (!into->is_in[side]) {
            into->sides[side] = from->sides[side];
            into->dbs[side] = from->dbs[side];
        }
        into->is_in[side] |= from->is_in[side];
    }
    for (size_t run = 0; run < n_runs; run++)
        into->costs[run] += from->costs[run];
    free(from->name);
    free(from->costs);
}

/* Joins hotspots of the same name that have the same file, then the two that remain if each side has one. */
static void join(hotspot_pair_list *pairs, size_t n_runs)
{
    size_t kept = 0;
    for (size_t i = 0; i < pairs->n;) {
        const size_t first = kept;
        size_t only[SIDES] = {0}, n_only[SIDES] = {0}; /* in that side alone */
        do {
            if (kept > first && strcmp(pairs->at[kept - 1].file, pairs->at[i].file) == 0)
                take_in(&pairs->at[kept - 1], &pairs->at[i], n_runs);
            else
                pairs->at[kept++] = pairs->at[i];
        } while (++i < pairs->n && strcmp(pairs->at[i].name, pairs->at[first].name) == 0);
        for (size_t k = first; k < kept; k++)
            for (int side = 0; side < SIDES; side++)
                if (pairs->at[k].is_in[side] && !pairs->at[k].is_in[1 - side]) {
                    only[side] = k;
                    n_only[side]++;
                }
        if (n_only[0] == 1 && n_only[1] == 1) {
            struct hotspot_pair *right = &pairs->at[only[1]];
            take_in(&pairs->at[only[0]], right, n_runs);
            memmove(right, right + 1, (--kept - only[1]) * sizeof *right);
        }
    }
    pairs->n = kept;
}

/* Inserts in order of size; drops the smallest if the list is full. */
static void insert(struct changed_hotspots *hotspots, const struct changed_hotspot *new)
{
    size_t at = hotspots->n < MOST_HOTSPOTS ? hotspots->n++ : MOST_HOTSPOTS;
    for (; at > 0 && fabs(hotspots->at[at - 1].costs.difference) < fabs(new->costs.difference); at--)
        if (at < MOST_HOTSPOTS)
            hotspots->at[at] = hotspots->at[at - 1];
    if (at < MOST_HOTSPOTS)
        hotspots->at[at] = *new;
}

/* Finds the procedures with the largest changes, in order of size. */
static void find_hotspots(const struct compared_event *compared, struct change *change, double whole)
{
    const struct merged_runs *merged = compared->merged;
    const uint32_t *rows = merged_rows(compared->view, compared->row);
    size_t n_runs = merged->runs.n, quantity = merged->metrics.at[change->metric].compared.quantity;
    autofree hotspot_pair_list pairs = {0};
    for (size_t run = 0; run < n_runs; run++) {
        size_t metric = merged_source(merged, quantity, run);
        if (rows[run] == NOTHING || metric == SIZE_MAX)
            continue;
        autofree hotspot_list all = hotspots_all(merged_view_of(compared->view, run), rows[run], metric, false);
        for (size_t i = 0; i < all.n; i++)
            add_pair(&pairs, merged, run, &all.at[i]);
    }
    vec_sort(&pairs, by_procedure);
    join(&pairs, n_runs);
    for (size_t i = 0; i < pairs.n; i++) {
        const struct hotspot_pair *pair = &pairs.at[i];
        int side = pair->is_in[1] ? 1 : 0;
        struct changed_hotspot new = {pair->dbs[side], pair->sides[side], both(compared, pair->costs)};
        enum change_verdict verdict = judge_change(&new.costs, whole);
        if (verdict == CHANGE_WORSE || verdict == CHANGE_BETTER)
            insert(&change->hotspots[verdict == CHANGE_WORSE ? MORE : LESS], &new);
        free(pair->name);
        free(pair->costs);
    }
}

/* ---- Parts of effort ---- */

/* The first column of a part of effort; metrics.n if the runs do not have it in common. */
static size_t column_of(const struct merged_runs *merged, const struct efficiency *event, enum efficiency_part part)
{
    size_t first[SIDES] = {0, merged_group_first(merged, 1)};
    for (size_t m = 0; m < merged->metrics.n_stored; m++) {
        const struct metric_comparison *compared = &merged->metrics.at[m].compared;
        size_t left = merged_source(merged, compared->quantity, first[0]);
        bool is_effort = false, is_of_part = left == event->at[part] || (part == EFFORT && left == event->at[WORK]);
        for (int side = 0; side < SIDES; side++) {
            const struct metrics *metrics = &merged->runs.at[first[side]].db->metrics;
            is_effort |= metric_is_sum(&metrics->at[merged_source(merged, compared->quantity, first[side])]);
        }
        if (compared->column == MERGED_LEFT && is_effort == (part == EFFORT) && is_of_part)
            return m;
    }
    return merged->metrics.n;
}

static struct change change_of(const struct compared_event *compared,
                               const struct efficiency *event, enum efficiency_part part)
{
    struct view *view = compared->view;
    const struct metrics *metrics = view->metrics;
    struct change change = {.metric = column_of(compared->merged, event, part)};
    size_t difference = change.metric + MERGED_DIFFERENCE;
    if (change.metric == metrics->n || !metric_is_measured(&metrics->at[difference]))
        return change;
    enum cost_part of = compared->row == 0 ? INCLUSIVE : hotspots_part(view);
    double whole = view_whole(view, difference);
    double *costs = merged_costs(view, compared->row, metrics->at[change.metric].compared.quantity, of);
    change.costs = both(compared, costs);
    free(costs);
    change.verdict = judge_change(&change.costs, whole);
    if (part != EFFORT)
        find_hotspots(compared, &change, whole);
    return change;
}

changes_list changes_of(struct view *view, uint32_t row)
{
    const struct merged_runs *merged = merged_runs_of(view);
    const struct metrics *left = &merged->runs.at[0].db->metrics;
    changes_list list = {0};
    struct efficiency event;
    size_t from = 0;
    while (efficiency_next(left, &from, &event)) {
        size_t work = column_of(merged, &event, WORK);
        if (work == merged->metrics.n)
            continue;
        size_t quantity = merged->metrics.at[work].compared.quantity;
        struct compared_event compared = {merged, view, row, merged_periods(merged, quantity)};
        struct changes changes = {.event = event.event};
        for (int part = WORK; part < EFFICIENCY_PARTS; part++)
            changes.parts[part] = change_of(&compared, &event, (enum efficiency_part)part);
        vec_push(&list, changes);
    }
    return list;
}

/* ---- In words ---- */

struct changes_printer {
    const struct view *view;
    struct advice_lines *lines;
    struct text names[SIDES]; /* printable */
    const char *is_in; /* "in", or in a bottom-up view of one procedure "there in calls from" */
};

const char *change_verdict_name(enum change_verdict verdict)
{
    static const char *const names[] = {[CHANGE_HARDLY] = "hardly changed",
                                        [CHANGE_BY_CHANCE] = "may be chance",
                                        [CHANGE_WORSE] = "worse",
                                        [CHANGE_BETTER] = "better"};
    return verdict == CHANGE_NOT_MEASURED ? NULL : names[verdict];
}

/* Adds "75.97 ms (14.1%)", without a sign, in percent of `whole`; of repeated runs with what it is uncertain by:
 * "75.97 ms (14.1% +- 2.0%)". */
static void add_size(const struct changes_printer *printer, const char *unit, double whole,
                     const struct costs_of_both *costs, struct text *text)
{
    struct number_text percent = number_percent(fabs(costs->difference), whole);
    struct number_text uncertainty = number_percent(costs->uncertainty, whole);
    text_add(text, number_with_unit(fabs(costs->difference), unit).text);
    if (*percent.text && merged_is_of_repeats(merged_runs_of(printer->view)) && *uncertainty.text)
        text_printf(text, " (%s%% %s %s%%)", percent.text, printer->lines->ascii ? "+-" : "±", uncertainty.text);
    else if (*percent.text)
        text_printf(text, " (%s%%)", percent.text);
}

static void add_size_of(const struct changes_printer *printer, const struct change *change,
                        const struct costs_of_both *costs, struct text *text)
{
    const struct view *view = printer->view;
    add_size(printer, view->metrics->at[change->metric].unit, view_whole(view, change->metric + MERGED_DIFFERENCE),
             costs, text);
}

/* Adds the text as a paragraph unless it is empty, and frees it. */
static void take_text(const struct changes_printer *printer, struct text *text)
{
    if (text->n)
        advice_add_paragraph(printer->lines, 2, 0, text_string(text));
    vec_free(text);
}

/* Adds "Effort is 615.5 ms in p4 and 539.5 ms in p2: 75.97 ms (14.1%) more." */
static void add_both(const struct changes_printer *printer, const char *what, const char *unit, double whole,
                     const struct costs_of_both *costs, struct text *text)
{
    enum change_verdict verdict = judge_change(costs, whole);
    text_printf(text, "%s is %s in %s and %s in %s: ", what, number_with_unit(costs->sides[1], unit).text,
                text_string(&printer->names[1]), number_with_unit(costs->sides[0], unit).text,
                text_string(&printer->names[0]));
    if (verdict == CHANGE_HARDLY) {
        text_add(text, "hardly changed.");
        return;
    }
    add_size(printer, unit, whole, costs, text);
    text_printf(text, " %s%s.", costs->difference > 0 ? "more" : "less",
                verdict == CHANGE_BY_CHANCE ? ", which may be chance" : "");
}

/* The CPU seconds of a run in which threads waited for work or for others: no code pays them, or only in `waiting`.
 * *period: set to what one sample of the former stands for, if there are any. */
static double waited_cpu(const struct view *view, const json_t *run, double *period)
{
    double seconds = 0, count = 0, paid = 0;
    struct efficiency event_of;
    for (size_t from = 0; efficiency_next(view->metrics, &from, &event_of);) {
        size_t waiting = metrics_find_event(view->metrics, METRIC_WAITING, event_of.event);
        const char *name = run_text(run_metric(run, view->metrics->at[event_of.at[WORK]].name), "event");
        bool is_measured = waiting < view->metrics->n && metric_is_measured(&view->metrics->at[waiting]);
        paid = is_measured && strcmp(name, "CPUTIME") == 0 ? view_total(view, waiting) : paid;
    }
    json_each (process, json_object_get(run, "processes"))
        json_each (thread, json_object_get(process, "threads"))
            json_each (event, json_object_get(thread, "events"))
                for (int fate = FATE_IDLE; fate <= FATE_NOBODY_WORKING; fate++) {
                    const json_t *of = json_object_get(json_object_get(event, "fates"), fate_name(fate));
                    bool is_cpu_time = strcmp(run_text(event, "event"), "CPUTIME") == 0;
                    seconds += is_cpu_time ? run_number(of, "amount") : 0;
                    count += is_cpu_time ? run_number(of, "count") : 0;
                }
    *period = count > 0 ? seconds / count : *period;
    return seconds + paid;
}

/* Wall clock and CPU time of the whole runs. Effort is less: it leaves out time that no code pays. */
static void describe_times(const struct changes_printer *printer)
{
    enum { WALL, CPU, WAITED, TIMES };
    static const char *const words[TIMES] = {"Wall clock", " CPU time", " Of that, waiting"};
    const struct merged_runs *merged = merged_runs_of(printer->view);
    autofree double *seconds = mem_alloc(TIMES * merged->runs.n * sizeof *seconds);
    double periods[SIDES] = {0};
    struct costs_of_both costs[TIMES];
    struct text text = {0};
    for (size_t i = 0; i < merged->runs.n; i++) {
        const json_t *run = merged->runs.at[i].run;
        struct run_times times = run_times_of(run);
        if (!(times.wall > 0))
            return;
        seconds[i] = times.wall;
        seconds[CPU * merged->runs.n + i] = times.cpu;
        seconds[WAITED * merged->runs.n + i] =
            waited_cpu(merged_view_of(printer->view, i), run, &periods[merged->runs.at[i].group]);
    }
    for (int t = 0; t < TIMES; t++) {
        struct compared_event compared = {.merged = merged, .periods = t == WAITED ? periods : NULL};
        costs[t] = both(&compared, seconds + (size_t)t * merged->runs.n);
        double whole = costs[t < CPU ? t : CPU].sides[0];
        if (t != WAITED || judge_change(&costs[t], whole) > CHANGE_BY_CHANCE)
            add_both(printer, words[t], "s", whole, &costs[t], &text);
    }
    take_text(printer, &text);
}

/* "Worse in p4: work by 46.05 ms (8.5%), idleness by 121.9 ms (22.6%)." */
static void describe_verdict(const struct changes_printer *printer, const struct changes *changes,
                             enum change_verdict verdict)
{
    static const char *const heads[] = {[CHANGE_NOT_MEASURED] = "Not measured in both",
                                        [CHANGE_HARDLY] = "Hardly changed",
                                        [CHANGE_BY_CHANCE] = "What may be chance",
                                        [CHANGE_WORSE] = "Worse in ",
                                        [CHANGE_BETTER] = "Better in "};
    bool is_clear = verdict == CHANGE_WORSE || verdict == CHANGE_BETTER;
    struct text text = {0};
    for (int part = WORK; part < EFFORT; part++) {
        const struct change *change = &changes->parts[part];
        if (change->verdict != verdict)
            continue;
        if (text.n)
            text_add(&text, ", ");
        else
            text_printf(&text, "%s%s: ", heads[verdict], is_clear ? text_string(&printer->names[1]) : "");
        text_add(&text, efficiency_part_name((enum efficiency_part)part));
        if (is_clear || verdict == CHANGE_BY_CHANCE) {
            text_add(&text, is_clear ? " by " : " ");
            add_size_of(printer, change, &change->costs, &text);
        }
        if (verdict == CHANGE_BY_CHANCE)
            text_add(&text, change->costs.difference > 0 ? " more" : " less");
    }
    if (text.n)
        text_add(&text, ".");
    take_text(printer, &text);
}

/* "    +40.93 ms (7.6%) block, cholesky.c:63, called from multiply", with a heading before the first one. */
static void describe_hotspots(const struct changes_printer *printer, const struct change *change,
                              enum efficiency_part part, enum direction direction)
{
    const struct changed_hotspots *hotspots = &change->hotspots[direction];
    autofree struct text text = {0};
    if (hotspots->n)
        text_printf(&text, "%s %s in %s is %s:", direction == MORE ? "More" : "Less", efficiency_part_name(part),
                    text_string(&printer->names[1]), printer->is_in);
    take_text(printer, &text);
    for (size_t i = 0; i < hotspots->n; i++) {
        const struct changed_hotspot *hotspot = &hotspots->at[i];
        text_add(&text, hotspot->costs.difference > 0 ? "+" : "-");
        add_size_of(printer, change, &hotspot->costs, &text);
        text_add(&text, " ");
        hotspot_describe(hotspot->db, &hotspot->hotspot, printer->lines->ascii, &text);
        advice_add_paragraph(printer->lines, 4, 4, text_string(&text));
        text_clear(&text);
    }
}

static void describe_event(const struct changes_printer *printer, const struct changes *changes)
{
    static const enum change_verdict verdicts[] = {CHANGE_WORSE, CHANGE_BETTER, CHANGE_BY_CHANCE,
                                                   CHANGE_HARDLY, CHANGE_NOT_MEASURED};
    const struct change *effort = &changes->parts[EFFORT];
    struct text text = {0};
    if (effort->verdict != CHANGE_NOT_MEASURED)
        add_both(printer, "Effort", printer->view->metrics->at[effort->metric].unit,
                 view_whole(printer->view, effort->metric + MERGED_DIFFERENCE), &effort->costs, &text);
    take_text(printer, &text);
    for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++)
        describe_verdict(printer, changes, verdicts[i]);
    for (int part = WORK; part < EFFORT; part++) {
        const struct change *change = &changes->parts[part];
        for (int direction = MORE; direction < DIRECTIONS; direction++)
            describe_hotspots(printer, change, (enum efficiency_part)part, (enum direction)direction);
    }
}

void changes_describe(const changes_list *list, const struct view *view, uint32_t row,
                      struct advice_lines *lines)
{
    const struct merged_runs *merged = merged_runs_of(view);
    bool is_about_callers = row != 0 && view->class->shows_callers;
    struct changes_printer printer = {.view = view,
                                      .lines = lines,
                                      .is_in = is_about_callers ? "there in calls from" : "in"};
    for (int side = 0; side < SIDES; side++)
        text_add_clean(&printer.names[side], comparison_name(merged, side), lines->ascii);
    if (row == 0)
        describe_times(&printer);
    for (size_t i = 0; i < list->n; i++) {
        if (list->n > 1)
            advice_add_event(lines, list->at[i].event);
        describe_event(&printer, &list->at[i]);
    }
    if (list->n == 0)
        advice_add_paragraph(lines, 2, 0, "None: the runs have not measured work by the same event.");
    for (int side = 0; side < SIDES; side++)
        vec_free(&printer.names[side]);
}
