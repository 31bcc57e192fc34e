#include "viewer-tui/choose.h"

#include "viewer-tui/efficiency.h"
#include "viewer-tui/text.h"

#include <stdlib.h>
#include <string.h>

/* Indices into the database's metrics, each once. */
struct choice {
    size_t *at, n;
    bool *is_taken;
};

static struct choice new_choice(const struct database *db)
{
    size_t n = db->metrics.n + 1;
    return (struct choice){.at = mem_alloc(n * sizeof(size_t)), .is_taken = mem_alloc(n)};
}

static void free_choice(struct choice *choice)
{
    free(choice->at);
    free(choice->is_taken);
}

static void choose(struct choice *choice, size_t metric)
{
    if (!choice->is_taken[metric])
        choice->at[choice->n++] = metric;
    choice->is_taken[metric] = true;
}

/* Chooses a metric; those of one effort together, in the order in which people read them. */
static void choose_together(struct choice *choice, const struct metrics *metrics, size_t metric)
{
    size_t from = 0;
    struct efficiency event;
    while (metric_is_of_effort(&metrics->at[metric]) && efficiency_next(metrics, &from, &event)) {
        if (event.at[EFFORT] != metrics_whole(metrics, metric))
            continue;
        for (int part = WORK; part < EFFICIENCY_PARTS; part++)
            if (event.at[part] < metrics->n && metric_is_of_effort(&metrics->at[event.at[part]]))
                choose(choice, event.at[part]);
    }
    choose(choice, metric);
}

/* Adds the metrics that run.json has and the database has not. */
static void add_unmeasured(struct database *db, const json_t *metrics)
{
    size_t i, n_before = db->metrics.n;
    json_t *metric;
    json_array_foreach(metrics, i, metric)
    {
        if (db->metrics.n == n_before + MOST_BY_DEFAULT)
            return;
        const char *name = run_text(metric, "name"), *why = run_text(metric, "why");
        if (!*name || metrics_find(&db->metrics, name) < db->metrics.n)
            continue;
        metrics_add_unmeasured(&db->metrics, name, run_text(metric, "unit"),
                               *why ? why : "the database has no values of it");
    }
}

/* run.json knows better than the name of a metric what its unit is. */
static void set_units(struct database *db, const json_t *metrics)
{
    size_t i;
    json_t *described;
    json_array_foreach(metrics, i, described)
    {
        size_t m = metrics_find(&db->metrics, run_text(described, "name"));
        if (m < db->metrics.n)
            metric_set_unit(&db->metrics.at[m], run_text(described, "unit"));
    }
}

/* run.json's metrics in its order, then the others. */
static void choose_described(const struct database *db, const json_t *metrics,
                             struct choice *choice)
{
    size_t i;
    json_t *described;
    json_array_foreach(metrics, i, described)
    {
        size_t m = metrics_find(&db->metrics, run_text(described, "name"));
        if (m < db->metrics.n && choice->n < MOST_BY_DEFAULT)
            choose_together(choice, &db->metrics, m);
    }
    for (size_t m = 0; m < db->metrics.n && choice->n < MOST_BY_DEFAULT; m++)
        choose_together(choice, &db->metrics, m);
}

static void choose_nonzero(const struct database *db, struct choice *choice)
{
    uint64_t position = values_position(&db->values, 0, 0);
    for (size_t m = 0; m < db->metrics.n && choice->n < MOST_BY_DEFAULT; m++) {
        const struct metric *metric = &db->metrics.at[m];
        int id = metric->summary[METRIC_EXECUTION];
        if (!metric_is_measured(metric))
            continue;
        if (id == METRIC_ABSENT || position == NO_POSITION ||
            values_get(&db->values, position, id) != 0)
            choose_together(choice, &db->metrics, m);
    }
    for (size_t m = 0; m < db->metrics.n && choice->n == 0; m++)
        choose(choice, m);
}

/* The metric whose name begins the list, the longest if there are several, as names can contain
 * commas; metrics.n when there is none. */
static size_t first_in_list(const struct metrics *metrics, const char *list, size_t *length)
{
    size_t found = metrics->n;
    *length = 0;
    for (size_t m = 0; m < metrics->n; m++) {
        size_t size = strlen(metrics->at[m].name);
        bool fits = strncmp(list, metrics->at[m].name, size) == 0 &&
                    (list[size] == ',' || list[size] == '\0');
        if (fits && (found == metrics->n || size > *length)) {
            found = m;
            *length = size;
        }
    }
    return found;
}

/* Returns the first name that is no metric. */
static char *choose_listed(const struct database *db, const char *list, struct choice *choice)
{
    while (*list) {
        size_t length;
        size_t m = first_in_list(&db->metrics, list, &length);
        if (m == db->metrics.n)
            return mem_strndup(list, strcspn(list, ","));
        choose(choice, m);
        list += length + (list[length] == ',');
    }
    return choice->n ? NULL : mem_strdup("");
}

char *choose_metrics(struct database *db, const json_t *run, const char *list)
{
    const json_t *described = json_object_get(run, "metrics");
    add_unmeasured(db, described);
    if (described)
        set_units(db, described);
    efficiency_add_efforts(&db->metrics);
    struct choice choice = new_choice(db);
    char *unknown = NULL;
    if (list)
        unknown = choose_listed(db, list, &choice);
    else if (described)
        choose_described(db, described, &choice);
    else
        choose_nonzero(db, &choice);
    if (!unknown) {
        metrics_keep(&db->metrics, choice.at, choice.n);
        values_set_metrics(&db->values, &db->metrics);
    }
    free_choice(&choice);
    return unknown;
}

bool choose_sorting(const struct database *db, const char *text, struct sorting *sorting)
{
    static const char *const endings[] = {[INCLUSIVE] = ":inclusive", [EXCLUSIVE] = ":exclusive"};
    sorting->metric = metrics_find(&db->metrics, text);
    if (sorting->metric < db->metrics.n)
        return true;
    const char *colon = strrchr(text, ':');
    for (int part = INCLUSIVE; colon && part <= EXCLUSIVE; part++) {
        if (strcmp(colon, endings[part]) != 0)
            continue;
        char *name = mem_strndup(text, (size_t)(colon - text));
        sorting->metric = metrics_find(&db->metrics, name);
        sorting->part = (enum cost_part)part;
        free(name);
    }
    return sorting->metric < db->metrics.n;
}

char *choose_names(const struct database *db)
{
    struct text names = {0};
    for (size_t m = 0; m < db->metrics.n; m++)
        text_printf(&names, "%s%s", m ? ", " : "", db->metrics.at[m].name);
    text_add(&names, "");
    return names.at;
}
