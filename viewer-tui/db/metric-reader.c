#include "viewer-tui/db/metric-reader.h"

#include "lib/alloc.h"
#include "viewer-tui/base/task.h"

#include <stdio.h>
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
