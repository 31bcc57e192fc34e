#include "hpcprof/database/database-files.h"

#include "hpcprof/base/output-file.h"
#include "hpcprof/database/v4-file.h"
#include "hpcprof/team/team.h"

#include "lib/alloc.h"
#include "lib/binary-search.h"
#include "lib/diag.h"
#include "lib/parallel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A finished profile.db, mapped into memory. */
struct mapped_profiles {
    const uint8_t *at;
    size_t size;
    const struct v4_profile *all;
    uint32_t count;
};

static void map_profiles(struct mapped_profiles *profiles, const char *path)
{
    int fd = output_open(path);
    struct stat status;
    void *map = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &status) == 0)
        map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        diag_fatal(path, "%s", strerror(errno));
    close(fd);
    profiles->at = map;
    profiles->size = (size_t)status.st_size;
    const struct v4_section *sections = (const struct v4_section *)(profiles->at + V4_HEADER_SIZE);
    const struct v4_profiles *head =
        (const struct v4_profiles *)(profiles->at + sections[V4_PROFILE_INFOS].at);
    profiles->all = (const struct v4_profile *)(profiles->at + head->profiles);
    profiles->count = head->n_profiles;
}

/* The index of a profile's first context whose id is at least `id`. */
static uint64_t find_context(const struct v4_context_index *contexts, uint64_t count, uint32_t id)
{
    return partition_point(i, count, contexts[i].context_id < id);
}

/* The values of consecutive contexts, in the form of the file. */
struct context_range {
    uint32_t begin, end;             /* ids of contexts */
    size_t metric_ids;               /* upper bound of metric ids */
    struct v4_profile_values *infos; /* by context; offsets count from the start of bytes */
    VEC(struct v4_profile_values) own; /* of this process alone: has the infos */
    VEC(uint8_t) bytes;
    VEC(uint64_t) cells; /* by context and metric id: values, then offset of the next one */
};

typedef void value_visitor(struct context_range *range, size_t cell, uint32_t profile,
                           double value);

/* Visits the values of the range, profile by profile. */
static void visit_values(struct context_range *range, const struct mapped_profiles *profiles,
                         value_visitor *visit)
{
    for (uint32_t profile = 1; profile < profiles->count; profile++) {
        const struct v4_context_values *block = &profiles->all[profile].values;
        const struct v4_metric_value *values = (const void *)(profiles->at + block->values);
        const struct v4_context_index *contexts = (const void *)(profiles->at + block->contexts);
        uint64_t i = find_context(contexts, block->n_contexts, range->begin);
        for (; i < block->n_contexts && contexts[i].context_id < range->end; i++) {
            size_t cells = (contexts[i].context_id - range->begin) * range->metric_ids;
            bool last = i + 1 == block->n_contexts;
            uint64_t end = last ? block->n_values : contexts[i + 1].start;
            for (uint64_t k = contexts[i].start; k < end; k++)
                visit(range, cells + values[k].metric_id, profile, values[k].value);
        }
    }
}

static void count_value(struct context_range *range, size_t cell, uint32_t profile, double value)
{
    (void)profile, (void)value;
    range->cells.at[cell]++;
}

static void place_value(struct context_range *range, size_t cell, uint32_t profile, double value)
{
    const struct v4_profile_value placed = {.profile = profile, .value = value};
    memcpy(range->bytes.at + range->cells.at[cell], &placed, sizeof placed);
    range->cells.at[cell] += sizeof placed;
}

/* Makes room for `size` zeroed bytes; returns their offset. */
static size_t grow(struct context_range *range, size_t size)
{
    size_t offset = range->bytes.n;
    vec_reserve(&range->bytes, size);
    if (size)
        memset(range->bytes.at + offset, 0, size);
    range->bytes.n += size;
    return offset;
}

/* Turns the counts of a context's cells into offsets, and writes its metric indices. */
static void lay_out(struct context_range *range, struct v4_profile_values *info, uint64_t *cells)
{
    size_t alignment = _Alignof(uint32_t);
    grow(range, -range->bytes.n % alignment);
    info->values = range->bytes.n;
    for (size_t id = 0; id < range->metric_ids; id++)
        info->n_values += cells[id];
    grow(range, info->n_values * sizeof(struct v4_profile_value));
    info->metrics = range->bytes.n;
    uint64_t start = 0;
    for (size_t id = 0; id < range->metric_ids; id++) {
        uint64_t count = cells[id];
        cells[id] = info->values + start * sizeof(struct v4_profile_value);
        if (count == 0)
            continue;
        const struct v4_metric_index index = {.metric_id = (uint16_t)id, .start = start};
        size_t at = grow(range, sizeof index);
        memcpy(range->bytes.at + at, &index, sizeof index);
        info->n_metrics++;
        start += count;
    }
}

/* Lets contexts with the same values as the context before them share its block, and closes the
 * gaps. A context that has nothing of its own and one child has the values of that child, which
 * follows it: a chain of such contexts takes one block. */
static void share_blocks(struct context_range *range)
{
    struct v4_profile_values *last = NULL; /* that has a block */
    size_t end = 0, last_size = 0;
    for (struct v4_profile_values *info = range->infos;
         info < range->infos + (range->end - range->begin); info++) {
        size_t to_metrics = info->metrics - info->values;
        size_t size = to_metrics + info->n_metrics * sizeof(struct v4_metric_index);
        uint8_t *block = range->bytes.at + info->values;
        if (size == 0 || !last || size != last_size || last->n_metrics != info->n_metrics ||
            memcmp(block, range->bytes.at + last->values, size) != 0) {
            end += -end % _Alignof(uint32_t);
            memmove(range->bytes.at + end, block, size);
            info->values = end;
            end += size;
        } else {
            info->values = last->values;
        }
        info->metrics = info->values + to_metrics;
        last = size ? info : last;
        last_size = size ? size : last_size;
    }
    range->bytes.n = end;
}

struct cct_job {
    const struct mapped_profiles *profiles;
    struct file_writer *file;
    struct v4_profile_values *infos; /* in a team: of all contexts */
    uint64_t infos_at;               /* their place in the file */
    size_t contexts, metric_ids;
    struct context_range *ranges; /* of this process alone: per worker; in a team: all of them */
    struct parallel_turns turns;
};

/* Contexts per range: about a million values, if every thread had a value in each. */
static size_t range_size(const struct mapped_profiles *profiles)
{
    size_t size = (1 << 20) / profiles->count;
    return size < 64 ? 64 : size > 1 << 15 ? 1 << 15 : size;
}

static size_t count_ranges(const struct cct_job *job)
{
    size_t size = range_size(job->profiles);
    return (job->contexts + size - 1) / size;
}

/* Zeroed infos for a range. */
static struct v4_profile_values *take_infos(struct context_range *range, size_t contexts)
{
    range->own.n = 0;
    vec_reserve(&range->own, contexts);
    memset(range->own.at, 0, contexts * sizeof *range->own.at);
    return range->own.at;
}

static void make_range(const struct cct_job *job, struct context_range *range, size_t index)
{
    size_t size = range_size(job->profiles), begin = index * size;
    size_t contexts = job->contexts - begin < size ? job->contexts - begin : size;
    size_t cells = contexts * job->metric_ids;
    range->begin = (uint32_t)begin;
    range->end = (uint32_t)(begin + contexts);
    range->metric_ids = job->metric_ids;
    range->infos = job->infos ? job->infos + begin : take_infos(range, contexts);
    range->cells.n = range->bytes.n = 0;
    vec_reserve(&range->cells, cells);
    if (cells)
        memset(range->cells.at, 0, cells * sizeof *range->cells.at);
    visit_values(range, job->profiles, count_value);
    for (size_t i = 0; i < contexts; i++)
        lay_out(range, &range->infos[i], range->cells.at + i * range->metric_ids);
    visit_values(range, job->profiles, place_value);
    if (range->bytes.n)
        share_blocks(range);
    diag_progress_add(contexts);
}

/* Adds the offset of the range in the file to those in its infos. */
static void complete_infos(const struct context_range *range, uint64_t offset)
{
    for (uint32_t i = 0; i < range->end - range->begin; i++) {
        range->infos[i].values += offset;
        range->infos[i].metrics += offset;
    }
}

static void write_infos(const struct cct_job *job, const struct context_range *range)
{
    file_write_at(job->file, job->infos_at + range->begin * sizeof *range->infos, range->infos,
                  (range->end - range->begin) * sizeof *range->infos);
}

/* The places of ranges in the file depend on the sizes of those before them. */
static void make_and_write_range(void *context, unsigned worker, size_t index)
{
    struct cct_job *job = context;
    struct context_range *range = &job->ranges[worker];
    make_range(job, range, index);
    parallel_turn_wait(&job->turns, index);
    file_align(job->file, 8);
    uint64_t offset = file_leave(job->file, range->bytes.n);
    parallel_turn_pass(&job->turns);
    complete_infos(range, offset);
    write_infos(job, range);
    file_write_at(job->file, offset, range->bytes.at, range->bytes.n);
}

/* A range of a team is kept until it is written. */
static void make_own_range(void *context, unsigned worker, size_t index)
{
    (void)worker;
    const struct cct_job *job = context;
    if (!team_does(index))
        return;
    make_range(job, &job->ranges[index], index);
    vec_free(&job->ranges[index].cells);
}

/* Moves on by a range that another rank writes. */
static void skip_range(struct file_writer *file, size_t size)
{
    file_align(file, 8);
    file_skip(file, size);
}

/* Writes this rank's ranges at their places among all, and the infos of all. */
static void write_own_ranges(const struct cct_job *job, size_t count)
{
    autofree uint64_t *sizes = mem_alloc(count * sizeof *sizes);
    for (size_t i = 0; i < count; i++)
        sizes[i] = job->ranges[i].bytes.n;
    team_sum(sizes, count);
    for (size_t i = 0; i < count; i++) {
        const struct context_range *range = &job->ranges[i];
        file_set_silent(job->file, !team_does(i));
        if (!team_does(i)) {
            skip_range(job->file, sizes[i]);
            continue;
        }
        complete_infos(range, file_align(job->file, 8));
        file_write(job->file, range->bytes.at, range->bytes.n);
    }
    file_set_silent(job->file, !team_is_first());
    team_or(job->infos, job->contexts * sizeof *job->infos);
    file_patch(job->file, job->infos_at, job->infos, job->contexts * sizeof *job->infos);
}

static void write_ranges(struct cct_job *job, unsigned workers)
{
    size_t count = count_ranges(job), kept = team_is_alone() ? workers : count;
    job->ranges = mem_alloc(kept * sizeof *job->ranges);
    diag_progress_begin("writing contexts", job->contexts);
    if (team_is_alone()) {
        parallel_turns_start(&job->turns);
        parallel_for(count, workers, make_and_write_range, job);
        parallel_turns_end(&job->turns);
    } else {
        parallel_for(count, workers, make_own_range, job);
        write_own_ranges(job, count);
    }
    diag_progress_end();
    for (size_t i = 0; i < kept; i++) {
        vec_free(&job->ranges[i].own);
        vec_free(&job->ranges[i].bytes);
        vec_free(&job->ranges[i].cells);
    }
    free(job->ranges);
}

void cct_db_write(const char *path, const char *profile_db, size_t contexts, size_t metric_ids,
                  unsigned workers)
{
    struct mapped_profiles profiles;
    map_profiles(&profiles, profile_db);
    struct file_writer file;
    struct v4_section sections[V4_CCT_SECTIONS];
    v4_create_shared(&file, path, V4_CCT_FORMAT, V4_CCT_SECTIONS);

    struct v4_section *section = &sections[V4_CCT_INFOS];
    section->at = file_align(&file, 8);
    struct v4_context_infos head;
    memset(&head, 0, sizeof head);
    head.contexts = section->at + sizeof head;
    head.n_contexts = (uint32_t)contexts;
    head.context_size = sizeof(struct v4_profile_values);
    file_write(&file, &head, sizeof head);
    struct v4_profile_values *infos = NULL;
    if (team_is_alone()) {
        file_leave(&file, contexts * sizeof *infos);
    } else {
        infos = mem_alloc(contexts * sizeof *infos);
        file_write(&file, infos, contexts * sizeof *infos); /* zeros, until file_patch */
    }
    section->size = file.offset - section->at;

    struct cct_job job = {.profiles = &profiles,
                          .file = &file,
                          .infos = infos,
                          .infos_at = head.contexts,
                          .contexts = contexts,
                          .metric_ids = metric_ids};
    write_ranges(&job, workers);
    free(infos);
    v4_close(&file, V4_CCT_FOOTER, sections, V4_CCT_SECTIONS);
    munmap((void *)profiles.at, profiles.size);
}
