#include "hpcprof/attribution/projection.h"

#include "hpcprof/attribution/static-calls.h"
#include "hpcprof/metrics/overhead-samples.h"
#include "hpcprof/metrics/waiting-samples.h"

#include "lib/diag.h"
#include "lib/parallel.h"

#include <stdlib.h>

/* What one worker has made so far. */
struct fuser {
    const struct inputs *inputs;
    struct placer placer;
    VEC(uint32_t) overhead;           /* scratch: kind of overhead of each node */
    VEC(struct waiting_mark) waiting; /* scratch: whether a sample at each node is */
    VEC(size_t) profiles;             /* those that this worker fused */
    struct instruction_amounts instructions;
};

/* Where a sample was taken. */
struct sample_place {
    uint32_t context; /* calling context */
    uint32_t module;  /* index in the run's modules; INPUT_NONE outside of all modules */
    uint64_t address; /* in the module */
};

static void mark_nodes(struct fuser *f, const struct input *input,
                       const struct measurement_thread *thread)
{
    f->overhead.n = f->waiting.n = 0;
    vec_reserve(&f->overhead, thread->nodes.n);
    vec_reserve(&f->waiting, thread->nodes.n);
    overhead_mark(f->inputs, input, thread, f->overhead.at);
    waiting_mark(f->inputs, input, thread, f->waiting.at);
}

static void add_point(struct fuser *f, struct profile *profile, const struct sample_place *place,
                      uint32_t metric, uint64_t amount)
{
    const struct point point = {.context = place->context, .metric = metric, .amount = amount};
    vec_push(&profile->points, point);
    if (place->module != INPUT_NONE)
        instruction_amounts_add(&f->instructions, place->module, place->address, metric, amount);
}

/* The metric that an amount goes to at a node where samples are not overhead. */
static uint32_t work_or_waiting(const struct fuser *f, uint32_t metric_id, uint32_t node)
{
    uint32_t waiting = f->inputs->metrics.at[metric_id].waiting;
    return waiting != INPUT_NONE && f->waiting.at[node].is_waiting ? waiting : metric_id;
}

/* Pays an amount to its metric or, at a node where samples are waiting, to that of waiting; where
 * they are overhead, to that of overhead and to the one of its kind. */
static void pay(struct fuser *f, struct profile *profile, const struct sample_place *place,
                uint32_t metric_id, const struct measurement_value *value)
{
    const struct metric *metric = &f->inputs->metrics.at[metric_id];
    uint32_t kind = f->overhead.at[value->node];
    if (metric->overhead == INPUT_NONE || kind == NOT_OVERHEAD) {
        uint32_t paid = work_or_waiting(f, metric_id, value->node);
        add_point(f, profile, place, paid, value->amount);
        return;
    }
    add_point(f, profile, place, metric->overhead, value->amount);
    if (metric->kinds)
        add_point(f, profile, place, metric->kinds[kind], value->amount);
}

static struct sample_place place_of(struct fuser *f, const struct input *input,
                                    const struct measurement_thread *thread, uint32_t node_id)
{
    const struct measurement_node *node = &thread->nodes.at[node_id];
    bool is_in_module = node->ip_space < input->m->modules.n;
    return (struct sample_place){
        .context = placer_context(&f->placer, thread, node_id),
        .module = is_in_module ? input->module_of[node->ip_space] : INPUT_NONE,
        .address = node->ip_offset,
    };
}

static void take_points(struct fuser *f, const struct input *input,
                        const struct measurement_thread *thread, struct profile *profile)
{
    vec_reserve(&profile->points, thread->values.n);
    for (size_t i = 0; i < thread->values.n; i++) {
        const struct measurement_value *value = &thread->values.at[i];
        uint32_t metric = input->metric_of[value->metric];
        if (!value->amount || metric == INPUT_NONE)
            continue;
        const struct sample_place place = place_of(f, input, thread, value->node);
        pay(f, profile, &place, metric, value);
    }
}

struct fuse_job {
    struct fused *fused;
    struct fuser *fusers;
};

static void fuse_profile(void *context, unsigned worker, size_t index)
{
    struct fuse_job *job = context;
    struct fuser *f = &job->fusers[worker];
    struct profile *profile = &job->fused->profiles.at[index];
    const struct input *input = &f->inputs->files.at[profile->input];
    const struct measurement_thread *thread = &input->m->threads.at[profile->thread];
    placer_place(&f->placer, profile->input, thread);
    mark_nodes(f, input, thread);
    take_points(f, input, thread, profile);
    vec_push(&f->profiles, index);
    diag_progress_add(1);
}

/* ---- all together ---- */

static void list_profiles(struct fused *fused, const struct inputs *inputs)
{
    for (uint32_t i = 0; i < inputs->files.n; i++)
        for (uint32_t k = 0; k < inputs->files.at[i].m->threads.n; k++)
            vec_push(&fused->profiles, (struct profile){.input = i, .thread = k});
}

static void renumber_points(struct profile *profile, const uint32_t *new_ids)
{
    for (size_t i = 0; i < profile->points.n; i++)
        profile->points.at[i].context = new_ids[profile->points.at[i].context];
}

/* Moves what a worker has made into the tree of all. */
static void merge_fuser(struct fused *fused, struct fuser *f)
{
    uint32_t *ids = context_tree_merge(&fused->tree, &f->placer.tree);
    for (size_t i = 0; i < f->profiles.n; i++)
        renumber_points(&fused->profiles.at[f->profiles.at[i]], ids);
    free(ids);
}

/* A call of a part of a procedure leaves a line where nothing is: what the part did is not below
 * its call, but beside it. */
static void drop_calls_of_parts(struct fused *fused)
{
    bool *is_used = mem_alloc(fused->tree.contexts.n * sizeof *is_used);
    for (size_t i = 0; i < fused->profiles.n; i++)
        for (size_t k = 0; k < fused->profiles.at[i].points.n; k++)
            is_used[fused->profiles.at[i].points.at[k].context] = true;
    uint32_t *ids = context_tree_prune(&fused->tree, is_used);
    for (size_t i = 0; i < fused->profiles.n; i++)
        renumber_points(&fused->profiles.at[i], ids);
    free(ids);
    free(is_used);
}

/* Only now are all calls from all sites known. */
static void join_call_sites(struct fused *fused, const struct inputs *inputs,
                            const struct program *program, enum projection projection)
{
    if (!call_sites_lack(&fused->tree))
        return;
    struct placer code;
    placer_start(&code, inputs, program, projection);
    code_calls_place(&code, &fused->tree);
    uint32_t *ids = call_sites_join(&fused->tree, &code.tree, &fused->no_call_site);
    context_tree_free(&code.tree);
    placer_free(&code);
    for (size_t i = 0; i < fused->profiles.n; i++)
        renumber_points(&fused->profiles.at[i], ids);
    free(ids);
}

void fuse(struct fused *fused, const struct inputs *inputs, const struct program *program,
          enum projection projection, unsigned workers)
{
    *fused = (struct fused){0};
    list_profiles(fused, inputs);
    struct fuser *fusers = mem_alloc(workers * sizeof *fusers);
    for (unsigned i = 0; i < workers; i++) {
        fusers[i].inputs = inputs;
        placer_start(&fusers[i].placer, inputs, program, projection);
    }
    struct fuse_job job = {.fused = fused, .fusers = fusers};
    diag_progress_begin("fusing call paths with structure", fused->profiles.n);
    parallel_for(fused->profiles.n, workers, fuse_profile, &job);
    diag_progress_end();
    fused->tree = fusers[0].placer.tree;
    for (unsigned i = 0; i < workers; i++) {
        if (i > 0) {
            merge_fuser(fused, &fusers[i]);
            context_tree_free(&fusers[i].placer.tree);
        }
        instruction_amounts_merge(&fused->instructions, &fusers[i].instructions);
        instruction_amounts_free(&fusers[i].instructions);
        placer_free(&fusers[i].placer);
        vec_free(&fusers[i].overhead);
        vec_free(&fusers[i].waiting);
        vec_free(&fusers[i].profiles);
    }
    free(fusers);
    instruction_amounts_sort(&fused->instructions);
    if (program->has_parts)
        drop_calls_of_parts(fused);
    join_call_sites(fused, inputs, program, projection);
}

static int by_id(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void drop_repeated(struct context_ids *sorted)
{
    size_t kept = 0;
    for (size_t i = 0; i < sorted->n; i++)
        if (kept == 0 || sorted->at[kept - 1] != sorted->at[i])
            sorted->at[kept++] = sorted->at[i];
    sorted->n = kept;
}

void fused_renumber(struct fused *fused, const uint32_t *new_ids)
{
    struct context_ids *ids = &fused->no_call_site;
    for (size_t i = 0; i < fused->profiles.n; i++)
        renumber_points(&fused->profiles.at[i], new_ids);
    for (size_t i = 0; i < ids->n; i++)
        ids->at[i] = new_ids[ids->at[i]];
    if (ids->n)
        qsort(ids->at, ids->n, sizeof *ids->at, by_id);
    drop_repeated(ids);
    context_tree_free(&fused->tree);
}

void fused_free(struct fused *fused)
{
    context_tree_free(&fused->tree);
    for (size_t i = 0; i < fused->profiles.n; i++)
        vec_free(&fused->profiles.at[i].points);
    vec_free(&fused->profiles);
    vec_free(&fused->no_call_site);
    instruction_amounts_free(&fused->instructions);
}

static bool notes_agree(const struct measurement_node *node)
{
    if (node->ip_space != node->lip_space)
        return false;
    if (node->ip_space == MEASUREMENT_NO_NOTE || node->ip_space == MEASUREMENT_PLACEHOLDER)
        return node->ip_offset == node->lip_value;
    return node->ip_offset == node->lip_value && node->has_site && node->site == node->ip_offset;
}

bool projections_agree(const struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->files.n; i++) {
        const struct measurement *m = inputs->files.at[i].m;
        for (size_t k = 0; k < m->threads.n; k++) {
            if (m->threads.at[k].join.known)
                return false; /* only the logical projection hangs it below its creator's frame */
            for (size_t n = 0; n < m->threads.at[k].nodes.n; n++)
                if (!notes_agree(&m->threads.at[k].nodes.at[n]))
                    return false;
        }
    }
    return true;
}
