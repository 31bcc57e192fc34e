#include "viewer-tui/db/metric-reader.h"

#include "lib/alloc.h"
#include "viewer-tui/base/task.h"

#include <stdio.h>
#include <string.h>

/* The scope that the {PS} structure at `at` describes; METRIC_SCOPES for scopes that are not used.
 * A file may have several transitive and custom scopes; HPCToolkit's names identify ours. */
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

/* HPCToolkit puts units into names: "CPUTIME (sec)", "GXCOPY:D2H (B)". */
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

/* Ids have 16 bits, so there are at most this many instances and summaries. The limit bounds what a
 * damaged file can make the viewer read. */
#define MOST_IDS 65536

/* The section, and the progress of reading it. */
struct section_reader {
    const struct v4_map *meta;
    struct v4_metrics header;
    unsigned instances, summaries; /* seen so far */
};

static bool read_thread_ids(struct metric *metric, struct section_reader *reader,
                            const struct v4_metric *from)
{
    uint64_t stride = reader->header.scope_instance_size;
    reader->instances += from->n_scope_instances;
    if (reader->instances > MOST_IDS)
        return false;
    for (uint64_t i = 0; i < from->n_scope_instances; i++) {
        struct v4_scope_instance instance;
        uint64_t at = from->scope_instances + i * stride;
        if (!v4_read(reader->meta, at, &instance, sizeof instance))
            return false;
        enum metric_scope scope = scope_at(reader->meta, instance.scope);
        if (scope < METRIC_SCOPES && metric->ids.thread[scope] == METRIC_ABSENT)
            metric->ids.thread[scope] = instance.metric_id;
    }
    return true;
}

static bool read_summary_ids(struct metric *metric, struct section_reader *reader,
                             const struct v4_metric *from)
{
    uint64_t stride = reader->header.summary_size;
    reader->summaries += from->n_summaries;
    if (reader->summaries > MOST_IDS)
        return false;
    for (uint64_t i = 0; i < from->n_summaries; i++) {
        struct v4_summary summary;
        uint64_t at = from->summaries + i * stride;
        if (!v4_read(reader->meta, at, &summary, sizeof summary))
            return false;
        enum metric_scope scope = scope_at(reader->meta, summary.scope);
        const char *formula = v4_string(reader->meta, summary.formula);
        bool is_plain_sum = summary.combine == V4_SUM && formula && strcmp(formula, "$$") == 0;
        if (scope < METRIC_SCOPES && metric->ids.summary[scope] == METRIC_ABSENT && is_plain_sum)
            metric->ids.summary[scope] = summary.metric_id;
    }
    return true;
}

static bool read_metric(struct metric *metric, struct section_reader *reader, uint64_t at)
{
    struct v4_metric from;
    if (!v4_read(reader->meta, at, &from, sizeof from))
        return false;
    const char *name = v4_string(reader->meta, from.name);
    if (!name)
        return false;
    *metric = metric_new(name);
    set_unit_from_name(metric);
    if (!read_thread_ids(metric, reader, &from) || !read_summary_ids(metric, reader, &from))
        return false;
    if (metric->ids.summary[METRIC_EXECUTION] == METRIC_ABSENT &&
        metric->ids.summary[METRIC_FUNCTION] == METRIC_ABSENT &&
        metric->ids.summary[METRIC_POINT] == METRIC_ABSENT)
        metric_set_state(metric, METRIC_NOT_MEASURED, "the database has no sums of it");
    return true;
}

bool metrics_read(struct metrics *metrics, const struct v4_map *meta)
{
    *metrics = (struct metrics){0};
    struct section_reader reader = {.meta = meta};
    uint64_t section = meta->sections[V4_META_METRICS].at;
    const struct v4_metrics *header = &reader.header;
    bool sound = v4_read(meta, section, &reader.header, sizeof reader.header) &&
                 header->metric_size >= sizeof(struct v4_metric) &&
                 header->scope_instance_size >= sizeof(struct v4_scope_instance) &&
                 header->summary_size >= sizeof(struct v4_summary) && header->n_metrics <= MOST_IDS &&
                 v4_array(meta, header->metrics, header->n_metrics, header->metric_size, 8);
    if (sound)
        metrics->at = mem_alloc((reader.header.n_metrics + 1) * sizeof *metrics->at);
    while (sound && metrics->n < reader.header.n_metrics) {
        uint64_t at = reader.header.metrics + metrics->n * reader.header.metric_size;
        sound = read_metric(&metrics->at[metrics->n], &reader, at);
        metrics->n_stored = ++metrics->n;
    }
    if (!sound) {
        problem_found(meta->path, "corrupt: the descriptions of metrics");
        metrics_free(metrics);
    }
    return sound;
}
