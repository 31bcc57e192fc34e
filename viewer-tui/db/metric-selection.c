#include "viewer-tui/db/metric-selection.h"

#include "lib/metric-kinds.h"
#include "viewer-tui/base/text.h"
#include "viewer-tui/metrics/efficiency.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The selection: indices of metrics, each once. */
struct choice {
    size_t *at, n;
    size_t n_kinds; /* kinds that were added with their overhead */
    size_t n_shown; /* the selected ones after these are internal, or only named in formulas */
    bool *is_taken;
    unsigned *parts; /* by metric: what the list asks for, a bit for each cost_part */
};

/* The user does not see an internal metric. */
static bool can_be_shown(const struct metrics *metrics, size_t metric)
{
    return metric < metrics->n && !metrics->at[metric].is_internal;
}

static void choose(struct choice *choice, size_t metric)
{
    if (!choice->is_taken[metric])
        choice->at[choice->n++] = metric;
    choice->is_taken[metric] = true;
}

/* Chooses the kinds of a metric of overhead. */
static void choose_kinds(struct choice *choice, const struct metrics *metrics, size_t overhead)
{
    for (size_t m = 0; m < metrics->n && choice->n_kinds < MOST_BY_DEFAULT; m++)
        if (metrics->at[m].kind.overhead == (int)overhead && !choice->is_taken[m]) {
            choose(choice, m);
            choice->n_kinds++;
        }
}

static bool has_room(const struct choice *choice)
{
    return choice->n - choice->n_kinds < MOST_BY_DEFAULT;
}

static void choose_with_kinds(struct choice *choice, const struct metrics *metrics, size_t metric)
{
    choose(choice, metric);
    choose_kinds(choice, metrics, metric);
}

/* Chooses a metric and its kinds; if it belongs to an effort, all parts of that in their usual
 * order. */
static void choose_together(struct choice *choice, const struct metrics *metrics, size_t metric)
{
    size_t from = 0;
    struct efficiency event;
    while (metric_is_of_effort(&metrics->at[metric]) && efficiency_next(metrics, &from, &event)) {
        if (event.at[EFFORT] != metrics_whole(metrics, metric))
            continue;
        for (int part = WORK; part < EFFICIENCY_PARTS; part++)
            if (event.at[part] < metrics->n && metric_is_of_effort(&metrics->at[event.at[part]]))
                choose_with_kinds(choice, metrics, event.at[part]);
    }
    if (!metrics->at[metric].kind.name)
        choose_with_kinds(choice, metrics, metric);
}

/* Adds the metrics of run.json that the database lacks. */
static void add_unmeasured(struct database *db, const json_t *metrics)
{
    size_t n_before = db->metrics.n;
    json_each (metric, metrics) {
        if (db->metrics.n == n_before + MOST_BY_DEFAULT)
            return;
        const char *name = run_text(metric, "name"), *why = run_text(metric, "why");
        if (!*name || metrics_find(&db->metrics, name) < db->metrics.n)
            continue;
        metrics_add_unmeasured(&db->metrics, name, run_text(metric, "unit"),
                               *why ? why : "the database has no values of it");
    }
}

/* Takes units and states from run.json. */
static void take_described(struct database *db, const json_t *metrics)
{
    json_each (described, metrics) {
        size_t m = metrics_find(&db->metrics, run_text(described, "name"));
        if (m == db->metrics.n)
            continue;
        struct metric *metric = &db->metrics.at[m];
        const char *why = run_text(described, "why");
        metric_set_unit(metric, run_text(described, "unit"));
        enum metric_state state = metric_state_of(run_text(described, "state"));
        if (metric_is_measured(metric) && state != METRIC_MEASURED)
            metric_set_state(metric, state, *why ? why : "run.json does not say why");
        metric->bounds_total = strcmp(run_text(described, "bounds"), "total") == 0;
        metric->error = run_number(described, "error");
    }
}

/* run.json's metrics in its order, then the others. */
static void choose_described(const struct database *db, const json_t *metrics,
                             struct choice *choice)
{
    json_each (described, metrics) {
        size_t m = metrics_find(&db->metrics, run_text(described, "name"));
        if (can_be_shown(&db->metrics, m) && has_room(choice))
            choose_together(choice, &db->metrics, m);
    }
    for (size_t m = 0; m < db->metrics.n && has_room(choice); m++)
        if (can_be_shown(&db->metrics, m))
            choose_together(choice, &db->metrics, m);
}

/* The total of a metric; NAN: unknown. */
static double total_of(const struct database *db, const struct metric *metric)
{
    uint64_t position = values_position(&db->values, 0, 0);
    int id = metric_ids(metric)->summary[METRIC_EXECUTION];
    bool is_known = id != METRIC_ABSENT && position != NO_POSITION;
    return is_known ? values_get(&db->values, position, id) : NAN;
}

/* False if its total is known to be zero. */
static bool may_have_values(const struct database *db, const struct metric *metric)
{
    return total_of(db, metric) != 0;
}

static void choose_nonzero(const struct database *db, struct choice *choice)
{
    for (size_t m = 0; m < db->metrics.n && has_room(choice); m++) {
        const struct metric *metric = &db->metrics.at[m];
        if (can_be_shown(&db->metrics, m) && metric_is_measured(metric) && may_have_values(db, metric))
            choose_together(choice, &db->metrics, m);
    }
    for (size_t m = 0; m < db->metrics.n && choice->n == 0; m++)
        choose(choice, m);
}

const char *const choose_part_endings[EXCLUSIVE + 1] = {[INCLUSIVE] = ":inclusive", [EXCLUSIVE] = ":exclusive"};

/* The length of the rest of an item of the list after a name, "" or ":inclusive", and the parts that it asks for, as
 * bits; NO_END if the item goes on otherwise. */
#define NO_END SIZE_MAX
static size_t item_end(const char *text, unsigned *parts)
{
    static const struct {
        const char *text;
        unsigned parts;
    } ends[] = {{"", 1u << INCLUSIVE | 1u << EXCLUSIVE},
                {":inclusive", 1u << INCLUSIVE},
                {":exclusive", 1u << EXCLUSIVE}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t length = strlen(ends[i].text);
        *parts = ends[i].parts;
        if (strncmp(text, ends[i].text, length) == 0 && (text[length] == ',' || text[length] == '\0'))
            return length;
    }
    return NO_END;
}

/* The metric whose name begins the list, or metrics->n. Names may contain commas, so the longest
 * match counts. */
static size_t first_in_list(const struct metrics *metrics, const char *list, size_t *length)
{
    size_t found = metrics->n;
    unsigned parts;
    *length = 0;
    for (size_t m = 0; m < metrics->n; m++) {
        size_t size = strlen(metrics->at[m].name);
        bool fits = can_be_shown(metrics, m) && strncmp(list, metrics->at[m].name, size) == 0 &&
                    item_end(list + size, &parts) != NO_END;
        if (fits && (found == metrics->n || size > *length)) {
            found = m;
            *length = size;
        }
    }
    return found;
}

static void choose_parts(struct choice *choice, size_t metric, unsigned parts)
{
    choose(choice, metric);
    choice->parts[metric] |= parts;
}

/* Whether a metric has an event and is of the quantity `name` (of `length` bytes). */
static bool is_of_event(const struct metric *metric, const char *name, size_t length)
{
    return metric->of.event && (size_t)metric->of.quantity == length && strncmp(metric->name, name, length) == 0;
}

/* Chooses "NAME (EVENT)" of all events; false if there are none. */
static bool choose_of_events(struct choice *choice, const struct metrics *metrics, const char *name,
                             size_t length, unsigned parts)
{
    bool is_there = false;
    for (size_t m = 0; m < metrics->n; m++)
        if (can_be_shown(metrics, m) && is_of_event(&metrics->at[m], name, length)) {
            choose_parts(choice, m, parts);
            is_there = true;
        }
    return is_there;
}

/* Returns the first name that is no metric, unless such names are ignored. */
static char *choose_listed(const struct database *db, const char *list, bool leniently,
                           struct choice *choice)
{
    while (*list) {
        unsigned parts;
        size_t length, end, m = first_in_list(&db->metrics, list, &length); /* length is 0 if there is none */
        while ((end = item_end(list + length, &parts)) == NO_END)
            length++;
        if (m < db->metrics.n)
            choose_parts(choice, m, parts);
        else if (!choose_of_events(choice, &db->metrics, list, length, parts) && !leniently)
            return mem_strndup(list, length + end);
        list += length + end;
        list += *list == ',';
    }
    return choice->n ? NULL : mem_strdup("");
}

/* Puts into SET_KINDS: overhead, its kinds that may have values, and effort. */
static void find_kinds_set(struct database *db, const struct choice *choice)
{
    struct metrics *metrics = &db->metrics;
    struct efficiency event;
    size_t from = 0;
    while (efficiency_next(metrics, &from, &event)) {
        if (event.at[OVERHEAD] < metrics->n)
            metrics->at[event.at[OVERHEAD]].is_in[SET_KINDS] = true;
        if (event.at[EFFORT] < metrics->n && event.at[OVERHEAD] < metrics->n)
            metrics->at[event.at[EFFORT]].is_in[SET_KINDS] = true;
    }
    for (size_t i = 0; i < choice->n_shown; i++) {
        struct metric *metric = &metrics->at[choice->at[i]];
        if (metric_derivation(metric))
            metric->is_in[SET_KINDS] = metric->is_in[SET_CHOSEN];
        if (!metric->kind.name)
            continue;
        metrics->at[metric->kind.overhead].is_in[SET_KINDS] = true;
        metric->is_in[SET_KINDS] = may_have_values(db, metric);
    }
}

/* Whether the metric is the share of the clock of a program whose threads never work at the same time: it
 * is at most the work everywhere. */
static bool is_serial_wall(const struct database *db, const struct metric *wall)
{
    size_t m = metric_is(wall, METRIC_WALL) ? metrics_find_event(&db->metrics, METRIC_WORK, metric_event(wall))
                                            : db->metrics.n;
    return m < db->metrics.n && total_of(db, wall) == total_of(db, &db->metrics.at[m]);
}

/* Whether the metric is an effort of which only work has values, or such a share of the clock. */
static bool repeats_work(const struct database *db, size_t effort)
{
    for (size_t m = 0; m < db->metrics.n; m++) {
        const struct metric *part = &db->metrics.at[m];
        bool is_other = part->sum == (int)effort && metric_is_added(part) &&
                        !metric_is(part, METRIC_WORK);
        if (is_other && may_have_values(db, part))
            return false;
    }
    return metric_is_sum(&db->metrics.at[effort]) || is_serial_wall(db, &db->metrics.at[effort]);
}

/* Sets what is shown: what is listed; without a list all but the kinds of overhead. */
static void find_sets(struct database *db, const struct choice *choice, size_t n_listed)
{
    for (size_t i = 0; i < choice->n_shown; i++) {
        struct metric *metric = &db->metrics.at[choice->at[i]];
        metric->is_in[SET_CHOSEN] = n_listed ? i < n_listed : !metric->kind.name;
        metric->is_asked_for = i < n_listed;
        for (int part = INCLUSIVE; part <= EXCLUSIVE && i < n_listed; part++)
            metric->is_part_hidden[part] = !(choice->parts[choice->at[i]] >> part & 1);
        metric->repeats_work = repeats_work(db, choice->at[i]);
        metric->is_zero = !metric_is_sum(metric) && metric->state == METRIC_MEASURED &&
                          !may_have_values(db, metric);
    }
    find_kinds_set(db, choice);
}

/* Returns the first name in the list that is no metric. */
static char *choose_all(struct database *db, const json_t *described, const char *list,
                        bool leniently, struct choice *choice)
{
    char *unknown = list ? choose_listed(db, list, leniently, choice) : NULL;
    size_t n_listed = choice->n;
    if (unknown && !leniently)
        return unknown;
    free(unknown);
    if (n_listed) {
        for (size_t i = 0; i < n_listed; i++)
            choose_kinds(choice, &db->metrics, choice->at[i]);
    } else if (described) {
        choose_described(db, described, choice);
    } else {
        choose_nonzero(db, choice);
    }
    choice->n_shown = choice->n;
    const struct metrics *metrics = &db->metrics;
    for (size_t m = 0; m < metrics->n; m++)
        if (metrics->at[m].is_internal)
            choose(choice, m);
    for (size_t d = metrics->n_stored; d < metrics->n; d++) /* what their formulas name */
        for (size_t m = 0; m < metrics->n; m++)
            if (formula_names(metrics->at[d].derived->text, metrics->at[m].name))
                choose(choice, m);
    find_sets(db, choice, n_listed);
    return NULL;
}

void choose_complete(struct database *db, const json_t *run)
{
    const json_t *described = json_object_get(run, "metrics");
    add_unmeasured(db, described);
    for (size_t m = 0; m < db->metrics.n; m++) {
        const struct metric_kind *kind = metric_kind_of(db->metrics.at[m].name);
        db->metrics.at[m].is_internal = kind && kind->is_internal;
    }
    if (described)
        take_described(db, described);
    efficiency_add_efforts(&db->metrics);
    efficiency_find_kinds(&db->metrics);
}

char *choose_metrics(struct database *db, const json_t *run, const char *list, bool leniently)
{
    size_t n = db->metrics.n + 1;
    struct choice choice = {.at = mem_alloc(n * sizeof(size_t)),
                            .is_taken = mem_alloc(n),
                            .parts = mem_alloc(n * sizeof(unsigned))};
    char *unknown = choose_all(db, json_object_get(run, "metrics"), list, leniently, &choice);
    if (!unknown)
        metrics_keep(&db->metrics, choice.at, choice.n);
    free(choice.at);
    free(choice.is_taken);
    free(choice.parts);
    return unknown;
}

/* Whether it is the column of a comparison for which the name of the metric stands. */
static bool is_difference(const struct metric *metric)
{
    return metric_is_compared(metric) && metric->compared.column == MERGED_DIFFERENCE;
}

/* The metric of that name; in a comparison, the difference or loss of the metrics of that name; else the
 * only metric with that name and an event, or its difference. */
static size_t find_to_sort(const struct metrics *metrics, const char *name)
{
    size_t length = strlen(name), found = metrics_find(metrics, name), n[2] = {0}, of_event[2];
    for (size_t m = 0; m < metrics->n && !can_be_shown(metrics, found); m++) {
        const struct metric *metric = &metrics->at[m];
        size_t whole = (size_t)(metric->of.quantity + metric->of.event);
        if (can_be_shown(metrics, m) && is_difference(metric) && whole == length &&
            strncmp(metric->name, name, whole) == 0)
            found = m;
    }
    for (size_t m = 0; m < metrics->n && !can_be_shown(metrics, found); m++) {
        const struct metric *metric = &metrics->at[m];
        bool is_plain = !metric_is_compared(metric);
        if (can_be_shown(metrics, m) && (is_plain || is_difference(metric)) && is_of_event(metric, name, length)) {
            of_event[!is_plain] = m;
            n[!is_plain]++;
        }
    }
    if (can_be_shown(metrics, found))
        return found;
    return n[0] == 1 ? of_event[0] : n[1] == 1 ? of_event[1] : metrics->n;
}

bool choose_sorting(const struct metrics *metrics, const char *text, struct sorting *sorting)
{
    sorting->metric = find_to_sort(metrics, text);
    if (sorting->metric < metrics->n)
        return true;
    const char *colon = strrchr(text, ':');
    for (int part = INCLUSIVE; colon && part <= EXCLUSIVE; part++) {
        if (strcmp(colon, choose_part_endings[part]) != 0)
            continue;
        autofree char *name = mem_strndup(text, (size_t)(colon - text));
        sorting->metric = find_to_sort(metrics, name);
        sorting->part = (enum cost_part)part;
    }
    return sorting->metric < metrics->n;
}

char *choose_names(const struct metrics *metrics)
{
    struct text names = {0};
    for (size_t m = 0; m < metrics->n; m++)
        if (can_be_shown(metrics, m))
            text_printf(&names, "%s%s", names.n ? ", " : "", metrics->at[m].name);
    text_add(&names, "");
    return names.at;
}
