#include "viewer-tui/metrics/metric.h"

#include "lib/alloc.h"
#include "viewer-tui/base/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The scope that the {PS} structure at `at` describes, METRIC_SCOPES for one of no interest.
 * Transitive scopes may be many; the one that we know is that of HPCToolkit's name for it. */
static enum metric_scope scope_at(const struct v4_map *meta, uint64_t at)
{
    struct v4_scope scope;
    if (!v4_read(meta, at, &scope, sizeof scope))
        return METRIC_SCOPES;
    if (scope.type == V4_POINT)
        return METRIC_POINT;
    if (scope.type == V4_EXECUTION)
        return METRIC_EXECUTION;
    const char *name = v4_string(meta, scope.name);
    if (name && scope.type == V4_TRANSITIVE && strcmp(name, "function") == 0)
        return METRIC_FUNCTION;
    if (name && scope.type == V4_CUSTOM && strcmp(name, "lex_aware") == 0)
        return METRIC_LEX_AWARE;
    return METRIC_SCOPES;
}

static bool is_plain_sum(const struct v4_map *meta, const struct v4_summary *summary)
{
    const char *formula = v4_string(meta, summary->formula);
    return summary->combine == V4_SUM && formula && strcmp(formula, "$$") == 0;
}

/* The unit that HPCToolkit puts into names: "CPUTIME (sec)", "GXCOPY:D2H (B)". */
static void set_unit_from_name(struct metric *metric)
{
    const char *open = strrchr(metric->name, '(');
    const char *close = open ? strchr(open, ')') : NULL;
    if (!close || close[1])
        strcpy(metric->unit, "count");
    else if (strncmp(open, "(sec)", 5) == 0)
        strcpy(metric->unit, "s");
    else
        snprintf(metric->unit, sizeof metric->unit, "%.*s", (int)(close - open - 1), open + 1);
}

struct metric metric_new(const char *name)
{
    struct metric metric = {.name = name};
    for (int scope = 0; scope < METRIC_SCOPES; scope++)
        metric.summary[scope] = metric.in_file[scope] = metric.thread[scope] = METRIC_ABSENT;
    metric.sum = metric.kind_of = metric.whole = METRIC_ABSENT;
    for (int side = 0; side < SIDES; side++)
        metric.sides[side] = METRIC_ABSENT;
    return metric;
}

/* Ids have 16 bits, so there can be no more instances and summaries than that: a limit to what a
 * damaged file can make us read. */
#define MOST_IDS 65536

/* Reading the section. */
struct reading {
    const struct v4_map *meta;
    struct v4_metrics header;
    unsigned instances, summaries; /* seen so far */
};

static bool read_thread_ids(struct metric *metric, struct reading *reading,
                            const struct v4_metric *from)
{
    uint64_t stride = reading->header.scope_instance_size;
    reading->instances += from->n_scope_instances;
    if (reading->instances > MOST_IDS)
        return false;
    for (uint64_t i = 0; i < from->n_scope_instances; i++) {
        struct v4_scope_instance instance;
        uint64_t at = from->scope_instances + i * stride;
        if (!v4_read(reading->meta, at, &instance, sizeof instance))
            return false;
        enum metric_scope scope = scope_at(reading->meta, instance.scope);
        if (scope < METRIC_SCOPES && metric->thread[scope] == METRIC_ABSENT)
            metric->thread[scope] = instance.metric_id;
    }
    return true;
}

static bool read_summary_ids(struct metric *metric, struct reading *reading,
                             const struct v4_metric *from)
{
    uint64_t stride = reading->header.summary_size;
    reading->summaries += from->n_summaries;
    if (reading->summaries > MOST_IDS)
        return false;
    for (uint64_t i = 0; i < from->n_summaries; i++) {
        struct v4_summary summary;
        uint64_t at = from->summaries + i * stride;
        if (!v4_read(reading->meta, at, &summary, sizeof summary))
            return false;
        enum metric_scope scope = scope_at(reading->meta, summary.scope);
        if (scope < METRIC_SCOPES && metric->summary[scope] == METRIC_ABSENT &&
            is_plain_sum(reading->meta, &summary))
            metric->summary[scope] = metric->in_file[scope] = summary.metric_id;
    }
    return true;
}

static bool read_metric(struct metric *metric, struct reading *reading, uint64_t at)
{
    struct v4_metric from;
    if (!v4_read(reading->meta, at, &from, sizeof from))
        return false;
    const char *name = v4_string(reading->meta, from.name);
    if (!name)
        return false;
    *metric = metric_new(name);
    set_unit_from_name(metric);
    if (!read_thread_ids(metric, reading, &from) || !read_summary_ids(metric, reading, &from))
        return false;
    if (metric->summary[METRIC_EXECUTION] == METRIC_ABSENT &&
        metric->summary[METRIC_FUNCTION] == METRIC_ABSENT &&
        metric->summary[METRIC_POINT] == METRIC_ABSENT)
        metric_set_state(metric, METRIC_NOT_MEASURED, "the database has no sums of it");
    return true;
}

static bool header_is_sound(const struct reading *reading)
{
    const struct v4_metrics *header = &reading->header;
    return header->metric_size >= sizeof(struct v4_metric) &&
           header->scope_instance_size >= sizeof(struct v4_scope_instance) &&
           header->summary_size >= sizeof(struct v4_summary) && header->n_metrics <= MOST_IDS &&
           v4_array(reading->meta, header->metrics, header->n_metrics, header->metric_size, 8);
}

bool metrics_read(struct metrics *metrics, const struct v4_map *meta)
{
    *metrics = (struct metrics){0};
    struct reading reading = {.meta = meta};
    uint64_t section = meta->sections[V4_META_METRICS].at;
    bool sound =
        v4_read(meta, section, &reading.header, sizeof reading.header) && header_is_sound(&reading);
    if (sound)
        metrics->at = mem_alloc((reading.header.n_metrics + 1) * sizeof *metrics->at);
    while (sound && metrics->n < reading.header.n_metrics) {
        uint64_t at = reading.header.metrics + metrics->n * reading.header.metric_size;
        sound = read_metric(&metrics->at[metrics->n], &reading, at);
        metrics->n_stored = ++metrics->n;
    }
    if (!sound) {
        problem_found(meta->path, "corrupt: the descriptions of metrics");
        metrics_free(metrics);
    }
    return sound;
}

/* Puts a metric at an index; those from there on move by one. */
static void insert(struct metrics *metrics, size_t at, struct metric metric)
{
    size_t n = metrics->n + metrics->n_hidden;
    metrics->at = mem_resize(metrics->at, n + 1, sizeof *metrics->at);
    memmove(metrics->at + at + 1, metrics->at + at, (n - at) * sizeof *metrics->at);
    metrics->at[at] = metric;
    metrics->n++;
}

void metrics_add_unmeasured(struct metrics *metrics, const char *name, const char *unit,
                            const char *why)
{
    struct metric metric = metric_new(name);
    metric_set_unit(&metric, unit); /* which may be that of another metric there */
    metric_set_state(&metric, METRIC_NOT_MEASURED, why);
    insert(metrics, metrics->n_stored++, metric);
}

void metrics_add_derived(struct metrics *metrics, struct derivation *derivation)
{
    struct metric metric = metric_new(derivation->name);
    metric.derivation = derivation;
    insert(metrics, metrics->n, metric);
}

static void free_metric(struct metric *metric)
{
    free(metric->sum_name);
    if (metric->derivation) {
        formula_free(&metric->derivation->formula);
        free(metric->derivation->name);
        free(metric->derivation->text);
        free(metric->derivation->why);
        free(metric->derivation);
    }
}

void metrics_drop_last(struct metrics *metrics)
{
    size_t last = --metrics->n;
    free_metric(&metrics->at[last]);
    memmove(metrics->at + last, metrics->at + last + 1, metrics->n_hidden * sizeof *metrics->at);
}

size_t metrics_add_sum(struct metrics *metrics, char *name, const char *unit)
{
    metrics_add_unmeasured(metrics, name, unit, NULL);
    metric_set_state(&metrics->at[metrics->n_stored - 1], METRIC_MEASURED, NULL);
    metrics->at[metrics->n_stored - 1].sum_name = name;
    return metrics->n_stored - 1;
}

void metric_set_unit(struct metric *metric, const char *unit)
{
    if (*unit)
        snprintf(metric->unit, sizeof metric->unit, "%s", unit);
}

static const char *const state_names[] = {[METRIC_MEASURED] = "measured",
                                          [METRIC_LOWER_BOUND] = "lower bound",
                                          [METRIC_NOT_MEASURED] = "not measurable"};

const char *metric_state_name(enum metric_state state)
{
    return state_names[state];
}

enum metric_state metric_state_of(const char *name)
{
    for (int state = METRIC_MEASURED; state <= METRIC_NOT_MEASURED; state++)
        if (strcmp(name, state_names[state]) == 0)
            return (enum metric_state)state;
    return METRIC_MEASURED;
}

bool metric_is_complete(const struct metric *metric)
{
    return metric_is_sum(metric) || metric->derivation ||
           (metric->summary[METRIC_EXECUTION] != METRIC_ABSENT &&
            metric->summary[METRIC_FUNCTION] != METRIC_ABSENT &&
            metric->summary[METRIC_LEX_AWARE] != METRIC_ABSENT);
}

size_t metrics_find(const struct metrics *metrics, const char *name)
{
    size_t i = 0;
    while (i < metrics->n && strcmp(metrics->at[i].name, name) != 0)
        i++;
    return i;
}

static size_t first_measured(const struct metrics *metrics, bool is_additive)
{
    size_t first = metrics->n;
    for (size_t m = metrics->n; m-- > 0;) {
        const struct metric *metric = &metrics->at[m];
        if (!metric_is_measured(metric) || (is_additive && !metric_is_additive(metric)))
            continue;
        bool first_is_shown = first < metrics->n && metrics->at[first].is_in[metrics->set];
        if (metric->is_in[metrics->set] || !first_is_shown)
            first = m;
    }
    return first < metrics->n ? first : 0;
}

size_t metrics_first_measured(const struct metrics *metrics)
{
    return first_measured(metrics, false);
}

size_t metrics_first_additive(const struct metrics *metrics)
{
    return first_measured(metrics, true);
}

/* Those of the chosen metrics that are derived, or those that are not. */
static void keep_chosen(const struct metrics *metrics, const size_t *chosen, size_t n_chosen,
                        bool is_derived, struct metrics *kept, int *new_index)
{
    for (size_t i = 0; i < n_chosen; i++) {
        if ((metrics->at[chosen[i]].derivation != NULL) != is_derived)
            continue;
        new_index[chosen[i]] = (int)kept->n;
        kept->at[kept->n++] = metrics->at[chosen[i]];
    }
}

void metrics_keep(struct metrics *metrics, const size_t *chosen, size_t n_chosen)
{
    int *new_index = mem_alloc((metrics->n + 1) * sizeof *new_index);
    struct metrics kept = {.at = mem_alloc((metrics->n + 1) * sizeof *kept.at)};
    for (size_t m = 0; m < metrics->n; m++)
        new_index[m] = METRIC_ABSENT;
    keep_chosen(metrics, chosen, n_chosen, false, &kept, new_index);
    kept.n_stored = kept.n;
    keep_chosen(metrics, chosen, n_chosen, true, &kept, new_index);
    for (size_t m = 0; m < metrics->n; m++) {
        struct metric *metric = &metrics->at[m];
        bool is_needed = metric_is_added(metric) && new_index[metric->sum] != METRIC_ABSENT;
        if (new_index[m] == METRIC_ABSENT && is_needed)
            kept.at[kept.n + kept.n_hidden++] = *metric;
        else if (new_index[m] == METRIC_ABSENT)
            free_metric(metric);
    }
    for (size_t m = 0; m < kept.n + kept.n_hidden; m++) {
        struct metric *metric = &kept.at[m];
        if (metric->sum != METRIC_ABSENT)
            metric->sum = new_index[metric->sum];
        if (metric->kind_of != METRIC_ABSENT)
            metric->kind_of = new_index[metric->kind_of];
    }
    free(new_index);
    free(metrics->at);
    *metrics = kept;
}

void metrics_free(struct metrics *metrics)
{
    for (size_t m = 0; m < metrics->n + metrics->n_hidden; m++)
        free_metric(&metrics->at[m]);
    free(metrics->at);
    *metrics = (struct metrics){0};
}
