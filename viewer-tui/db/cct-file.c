#include "viewer-tui/db/cct-file.h"

#include "lib/alloc.h"
#include "viewer-tui/base/task.h"

#include <stdlib.h>
#include <unistd.h>

static const struct v4_kind kind = {V4_CCT_FILE, V4_CCT_FORMAT, V4_CCT_FOOTER, V4_CCT_SECTIONS};

bool cct_file_open(struct cct_file *file, const char *folder)
{
    *file = (struct cct_file){0};
    char *path = mem_printf("%s/%s", folder, V4_CCT_FILE);
    bool exists = access(path, F_OK) == 0;
    free(path);
    if (!exists || !v4_map_open(&file->map, folder, &kind))
        return false;
    const struct v4_map *map = &file->map;
    struct v4_context_infos *contexts = &file->contexts;
    if (v4_read(map, map->sections[V4_CCT_INFOS].at, contexts, sizeof *contexts) &&
        contexts->context_size >= sizeof(struct v4_profile_values) &&
        v4_array(map, contexts->contexts, contexts->n_contexts, contexts->context_size, 8))
        return true;
    problem_found(map->path, "corrupt: the list of contexts");
    cct_file_close(file);
    return false;
}

void cct_file_close(struct cct_file *file)
{
    v4_map_close(&file->map);
    *file = (struct cct_file){0};
}

void cct_file_check(const char *folder)
{
    struct cct_file file;
    if (cct_file_open(&file, folder))
        cct_file_close(&file);
}

/* Finds a metric's values among those of a context: *first .. *end - 1; false if there are none. */
static bool find_metric(const struct v4_metric_index *metrics, const struct v4_profile_values *info,
                        int metric_id, uint64_t *first, uint64_t *end)
{
    for (unsigned i = 0; i < info->n_metrics; i++) {
        if (metrics[i].metric_id != metric_id)
            continue;
        *first = metrics[i].start;
        *end = i + 1u < info->n_metrics ? metrics[i + 1].start : info->n_values;
        return true;
    }
    return false;
}

const struct v4_profile_value *cct_file_values(const struct cct_file *file, uint32_t context,
                                               int metric_id, uint64_t most, size_t *n)
{
    *n = 0;
    const struct v4_map *map = &file->map;
    struct v4_profile_values info;
    if (context >= file->contexts.n_contexts)
        return NULL;
    uint64_t at = file->contexts.contexts + context * (uint64_t)file->contexts.context_size;
    if (!v4_read(map, at, &info, sizeof info))
        return NULL;
    const struct v4_metric_index *metrics =
        v4_array(map, info.metrics, info.n_metrics, sizeof *metrics, 2);
    const struct v4_profile_value *values =
        v4_array(map, info.values, info.n_values, sizeof *values, 4);
    uint64_t first = 0, end = 0;
    if (metrics && values && !find_metric(metrics, &info, metric_id, &first, &end))
        return NULL;
    if (!metrics || !values || first > end || end > info.n_values || end - first > most) {
        problem_found(map->path, "corrupt: the values of context %u", context);
        return NULL;
    }
    *n = (size_t)(end - first);
    return values + first;
}
