#include "hpcprof/attribution/projection.h"

#include "hpcprof/team/team.h"
#include "hpcprof/tree/recursive-calls.h"

#include "lib/diag.h"
#include "lib/parallel.h"
#include "lib/path.h"
#include "lib/subprocess.h"

#include <assert.h>
#include <stdlib.h>

/* ---- costs of a thread ---- */

/* The results of one worker thread so far. */
struct worker {
    const struct analysis *analysis;
    struct thread_paths paths;
    struct sample_classes classes;
    VEC(size_t) profiles;                /* built by this worker */
    bool counts_instructions;
    struct instruction_costs instructions;
};

/* The place of a sample. */
struct sample_place {
    uint32_t context;
    uint32_t module;  /* index in measurements.modules; NO_MODULE: outside of all modules */
    uint64_t address; /* in the module */
    bool is_in_kernel;
};

#define NO_MODULE UINT32_MAX

static struct sample_place place_of(struct worker *w, const struct thread_ref *thread,
                                    uint32_t node_id)
{
    const struct measurement_file *file = &w->analysis->measurements->files.at[thread->file];
    const struct measurement_node *node = &thread->thread->nodes.at[node_id];
    bool is_in_module = node->ip_space < file->m->modules.n;
    return (struct sample_place){
        .context = thread_paths_context(&w->paths, node_id),
        .module = is_in_module ? file->module_of[node->ip_space] : NO_MODULE,
        .address = node->ip_offset,
        .is_in_kernel = node_is_in_kernel(file, node),
    };
}

static void add_cost(struct worker *w, struct profile *profile, const struct sample_place *place,
                     uint32_t metric, uint64_t amount)
{
    const struct cost cost = {.context = place->context, .metric = metric, .amount = amount};
    vec_push(&profile->costs, cost);
    if (w->counts_instructions && place->module != NO_MODULE && !place->is_in_kernel)
        instruction_costs_add(&w->instructions, place->module, place->address, metric, amount);
}

/* Pays an amount of a metric: to overhead and its kind, to waiting, or to the metric itself; and to `kernel`. */
static void pay(struct worker *w, struct profile *profile, const struct sample_place *place,
                uint32_t metric_id, const struct measurement_value *value)
{
    const struct metric *metric = &w->analysis->metrics->all.at[metric_id];
    uint32_t kind;
    switch (sample_class(&w->classes, metric, value->node)) {
    case SAMPLE_PLAIN: add_cost(w, profile, place, metric_id, value->amount); break;
    case SAMPLE_WAITING: add_cost(w, profile, place, metric->waiting, value->amount); break;
    case SAMPLE_OVERHEAD:
        add_cost(w, profile, place, metric->overhead, value->amount);
        kind = sample_kind(&w->classes, metric, value->node);
        if (kind != NO_METRIC)
            add_cost(w, profile, place, kind, value->amount);
        break;
    }
    if (place->is_in_kernel && metric->kernel != NO_METRIC)
        add_cost(w, profile, place, metric->kernel, value->amount);
}

static void add_costs(struct worker *w, const struct thread_ref *thread, struct profile *profile)
{
    const struct measurement_file *file = &w->analysis->measurements->files.at[thread->file];
    vec_reserve(&profile->costs, thread->thread->values.n);
    for (size_t i = 0; i < thread->thread->values.n; i++) {
        const struct measurement_value *value = &thread->thread->values.at[i];
        uint32_t metric = file->metric_of[value->metric];
        if (!value->amount || metric == NO_METRIC)
            continue;
        const struct sample_place place = place_of(w, thread, value->node);
        pay(w, profile, &place, metric, value);
    }
}

struct build_job {
    struct projection *projection;
    struct worker *workers;
};

static void build_profile(void *context, unsigned worker, size_t index)
{
    struct build_job *job = context;
    struct worker *w = &job->workers[worker];
    struct profile *profile = &job->projection->profiles.at[index];
    if (w->analysis->measurements->files.at[profile->file].is_elsewhere)
        return;
    const struct thread_ref thread =
        thread_ref_of(w->analysis->measurements, profile->file, profile->thread);
    thread_paths_attribute(&w->paths, &thread);
    sample_classes_find(&w->classes, &thread);
    add_costs(w, &thread, profile);
    traced_nodes_find(&profile->traced, &w->paths, &w->classes);
    vec_push(&w->profiles, index);
    diag_progress_add(1);
}

/* ---- all threads ---- */

static void list_profiles(struct projection *projection, const struct measurements *measurements)
{
    for (uint32_t i = 0; i < measurements->files.n; i++)
        for (uint32_t k = 0; k < measurements->files.at[i].m->threads.n; k++)
            vec_push(&projection->profiles, (struct profile){.file = i, .thread = k});
}

/* Replaces the ids of contexts in a profile. */
static void renumber_contexts(const struct profile *profile, const uint32_t *new_ids)
{
    for (size_t i = 0; i < profile->costs.n; i++)
        profile->costs.at[i].context = new_ids[profile->costs.at[i].context];
    for (size_t i = 0; i < profile->traced.n; i++)
        profile->traced.at[i].context = new_ids[profile->traced.at[i].context];
}

struct renumber_job {
    struct projection *projection;
    const uint32_t *new_ids;
};

static void renumber_profile(void *context, unsigned worker, size_t index)
{
    (void)worker;
    const struct renumber_job *job = context;
    renumber_contexts(&job->projection->profiles.at[index], job->new_ids);
}

static void renumber_profiles(struct projection *projection, const uint32_t *new_ids)
{
    struct renumber_job job = {.projection = projection, .new_ids = new_ids};
    parallel_for(projection->profiles.n, projection->workers, renumber_profile, &job);
}

static void start_worker(struct worker *w, const struct analysis *analysis,
                         enum projection_kind kind)
{
    *w = (struct worker){.analysis = analysis,
                         .counts_instructions = kind == PROJECTION_LOGICAL};
    thread_paths_start(&w->paths, analysis, kind);
    sample_classes_start(&w->classes, analysis);
}

static void free_worker(struct worker *w)
{
    context_tree_free(&w->paths.builder.tree);
    thread_paths_free(&w->paths);
    sample_classes_free(&w->classes);
    vec_free(&w->profiles);
    instruction_costs_free(&w->instructions);
}

/* Workers' trees are merged in pairs, so that as many workers as there are pairs take part: first those that
 * are 1 apart, then 2, 4, ... All end up in the first one's. */
struct merge_job {
    struct projection *projection;
    struct worker *workers;
    unsigned distance;
    uint32_t **new_ids;           /* by worker but the first: ids in the tree that its own was merged into */
    const unsigned *worker_of; /* by profile */
};

static unsigned merged_into(unsigned worker)
{
    return worker & (worker - 1); /* without its lowest bit */
}

static void merge_pair(void *context, unsigned unused, size_t pair)
{
    (void)unused;
    struct merge_job *job = context;
    unsigned from = (unsigned)(2 * pair + 1) * job->distance;
    struct context_tree *tree = &job->workers[from].paths.builder.tree;
    job->new_ids[from] =
        context_tree_merge(&job->workers[merged_into(from)].paths.builder.tree, tree);
    context_tree_free(tree);
}

static void follow_merges(void *context, unsigned unused, size_t index)
{
    (void)unused;
    const struct merge_job *job = context;
    for (unsigned w = job->worker_of[index]; w; w = merged_into(w))
        renumber_contexts(&job->projection->profiles.at[index], job->new_ids[w]);
}

static void merge_trees(struct projection *projection, struct worker *workers)
{
    unsigned n = projection->workers;
    autofree unsigned *worker_of = mem_alloc(projection->profiles.n * sizeof *worker_of);
    struct merge_job job = {projection, workers, 1, mem_alloc(n * sizeof *job.new_ids), worker_of};
    for (unsigned k = 1; k < n; k++)
        for (size_t i = 0; i < workers[k].profiles.n; i++)
            worker_of[workers[k].profiles.at[i]] = k;
    for (; job.distance < n; job.distance *= 2)
        parallel_for((n + job.distance - 1) / (2 * job.distance), n, merge_pair, &job);
    parallel_for(projection->profiles.n, n, follow_merges, &job);
    for (unsigned k = 1; k < n; k++)
        free(job.new_ids[k]);
    free(job.new_ids);
}

/* Moves the workers' results into the projection. */
static void take_results(struct projection *projection, struct worker *workers)
{
    for (unsigned k = 0; k < projection->workers; k++)
        instruction_costs_merge(&projection->instructions, &workers[k].instructions);
    merge_trees(projection, workers);
    projection->tree = workers[0].paths.builder.tree;
    workers[0].paths.builder.tree = (struct context_tree){0};
}

/* ---- all ranks of a team ---- */

static void pack_tree(void *data, struct team_bytes *bytes)
{
    const struct context_tree *tree = data;
    bytes->n = 0;
    team_bytes_add(bytes, tree->contexts.at, tree->contexts.n * sizeof *tree->contexts.at);
}

static void merge_tree(void *data, const uint8_t *bytes, size_t size)
{
    struct context_tree from = {0};
    from.contexts.at = (struct context *)(uintptr_t)bytes;
    from.contexts.n = size / sizeof *from.contexts.at;
    free(context_tree_merge(data, &from));
}

static void pack_instructions(void *data, struct team_bytes *bytes)
{
    const struct instruction_costs *costs = data;
    bytes->n = 0;
    team_bytes_add(bytes, costs->all.at, costs->all.n * sizeof *costs->all.at);
}

static void merge_instructions(void *data, const uint8_t *bytes, size_t size)
{
    struct instruction_costs from = {0};
    from.all.at = (struct instruction_cost *)(uintptr_t)bytes;
    from.all.n = size / sizeof *from.all.at;
    instruction_costs_merge(data, &from);
}

/* Merges the trees of all ranks; each gets the whole tree. Only rank 0 gets the costs of
 * instructions. */
static void merge_ranks(struct projection *projection)
{
    struct context_tree whole;
    autofree struct team_bytes bytes = {0};
    context_tree_start(&whole);
    free(context_tree_merge(&whole, &projection->tree));
    team_reduce(&whole, pack_tree, merge_tree);
    pack_tree(&whole, &bytes);
    team_broadcast(&bytes, 0);
    context_tree_free(&whole);
    context_tree_start(&whole);
    merge_tree(&whole, bytes.at, bytes.n);
    autofree uint32_t *new_ids = context_tree_merge(&whole, &projection->tree);
    renumber_profiles(projection, new_ids);
    context_tree_free(&projection->tree);
    projection->tree = whole;
    team_reduce(&projection->instructions, pack_instructions, merge_instructions);
}

/* Replaces the ids of calls from unknown sites, without those that were removed (0). */
static void renumber_calls(struct context_ids *calls, const uint32_t *new_ids)
{
    size_t n = 0;
    for (size_t i = 0; i < calls->n; i++)
        if (new_ids[calls->at[i]] != CONTEXT_ROOT)
            calls->at[n++] = new_ids[calls->at[i]];
    calls->n = n;
}

/* Removes contexts without costs. The call of a part of a procedure (an inlet) leaves a line
 * without any: what the part did is not below its call but beside it. So does a recursive call that
 * is collapsed. */
static void prune_tree(struct projection *projection)
{
    autofree bool *is_used = mem_alloc(projection->tree.contexts.n * sizeof *is_used);
    for (size_t i = 0; i < projection->profiles.n; i++)
        for (size_t k = 0; k < projection->profiles.at[i].costs.n; k++)
            is_used[projection->profiles.at[i].costs.at[k].context] = true;
    team_or(is_used, projection->tree.contexts.n * sizeof *is_used);
    autofree uint32_t *new_ids = context_tree_prune(&projection->tree, is_used);
    renumber_profiles(projection, new_ids);
    renumber_calls(&projection->unknown_site_calls, new_ids);
}

/* ---- unknown call sites ---- */

/* The structure of a module's binary as it is now, with its direct calls; NULL if hpcstruct cannot
 * make it. */
static struct structure *structure_with_calls(const char *binary)
{
    autofree char *hpcstruct = path_of_tool("hpcstruct");
    char *const arguments[] = {"hpcstruct", "--image", "--calls", "-o", "-", (char *)binary, NULL};
    struct program_output result = run_program(
        &(struct program_start){.path = hpcstruct, .arguments = arguments, .input = NO_INPUT});
    struct structure *s =
        result.status == 0 ? structure_read_file(fileno(result.output), NULL) : NULL;
    program_output_free(&result);
    return s;
}

static void add_direct_calls(struct context_builder *code, uint32_t module)
{
    const struct module_structure *known = &code->analysis->structures->of_module[module];
    struct structure *s =
        known->binary && known->structure ? structure_with_calls(known->binary) : NULL;
    for (size_t i = 0; s && i < s->calls.n; i++)
        add_direct_call(code, module, s->calls.at[i].address, s->calls.at[i].target);
    structure_free(s);
}

/* Adds the direct calls in the code of the modules that call something from an unknown site. A
 * module whose binary is gone is skipped without a message: the sites in call paths are known all
 * the same. */
static void find_direct_calls(struct context_builder *code, const struct context_tree *tree)
{
    const struct symbol_table *symbols = code->analysis->symbols;
    autofree bool *is_wanted = mem_alloc(symbols->structures->n * sizeof *is_wanted);
    for (size_t i = 0; i < tree->contexts.n; i++) {
        const struct context *context = &tree->contexts.at[i];
        if (context->kind != CONTEXT_NO_SITE)
            continue;
        uint32_t caller = tree->contexts.at[context->parent].name;
        uint32_t module = symbols->functions.at[caller].module;
        if (module != NO_SYMBOL)
            is_wanted[module] = true;
    }
    for (uint32_t i = 0; i < symbols->structures->n; i++)
        if (is_wanted[i])
            add_direct_calls(code, i);
}

/* Needs the whole tree, which has the calls from all known sites. */
static void resolve_unknown_sites(struct projection *projection, const struct analysis *analysis,
                                  enum projection_kind kind)
{
    if (!has_unknown_call_sites(&projection->tree))
        return;
    struct context_builder code;
    builder_start(&code, analysis, kind);
    find_direct_calls(&code, &projection->tree);
    uint32_t *new_ids =
        resolve_call_sites(&projection->tree, &code.tree, &projection->unknown_site_calls);
    context_tree_free(&code.tree);
    builder_free(&code);
    renumber_profiles(projection, new_ids);
    free(new_ids);
}

/* ---- recursion ---- */

static void collapse(struct projection *projection, const struct symbol_table *symbols)
{
    autofree bool *is_placeholder = placeholder_functions(symbols);
    uint32_t *new_ids =
        collapse_recursion(&projection->tree, is_placeholder, &projection->unknown_site_calls);
    renumber_profiles(projection, new_ids);
    free(new_ids);
    prune_tree(projection);
}

/* ---- all together ---- */

void projection_build(struct projection *projection, const struct analysis *analysis,
                      enum projection_kind kind, unsigned workers)
{
    assert(workers > 0);
    *projection = (struct projection){.workers = workers};
    list_profiles(projection, analysis->measurements);
    struct build_job job = {.projection = projection,
                            .workers = mem_alloc(workers * sizeof *job.workers)};
    for (unsigned i = 0; i < workers; i++)
        start_worker(&job.workers[i], analysis, kind);
    diag_progress_begin("attributing call paths to source code", projection->profiles.n);
    parallel_for(projection->profiles.n, workers, build_profile, &job);
    diag_progress_end();
    take_results(projection, job.workers);
    for (unsigned i = 0; i < workers; i++)
        free_worker(&job.workers[i]);
    free(job.workers);
    if (!team_is_alone())
        merge_ranks(projection);
    instruction_costs_sort(&projection->instructions);
    if (analysis->clones->has_parts)
        prune_tree(projection);
    resolve_unknown_sites(projection, analysis, kind);
    if (analysis->collapses_recursion)
        collapse(projection, analysis->symbols);
}

static int by_id(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static int by_context(const void *a, const void *b)
{
    const struct cost *x = a, *y = b;
    return (x->context > y->context) - (x->context < y->context);
}

static void sort_costs(void *context, unsigned worker, size_t index)
{
    (void)worker;
    const struct projection *projection = context;
    const struct profile *profile = &projection->profiles.at[index];
    vec_sort(&profile->costs, by_context);
}

static void drop_repeated(struct context_ids *sorted)
{
    size_t n = 0;
    for (size_t i = 0; i < sorted->n; i++)
        if (n == 0 || sorted->at[n - 1] != sorted->at[i])
            sorted->at[n++] = sorted->at[i];
    sorted->n = n;
}

void projection_renumber(struct projection *projection, const uint32_t *new_ids)
{
    struct context_ids *calls = &projection->unknown_site_calls;
    renumber_profiles(projection, new_ids);
    parallel_for(projection->profiles.n, projection->workers, sort_costs, projection);
    renumber_calls(calls, new_ids);
    vec_sort(calls, by_id);
    drop_repeated(calls);
    context_tree_free(&projection->tree);
}

struct traced_nodes *projection_take_traced(struct projection *projection)
{
    struct traced_nodes *traced = mem_alloc((projection->profiles.n + 1) * sizeof *traced);
    for (size_t i = 0; i < projection->profiles.n; i++) {
        traced[i] = projection->profiles.at[i].traced;
        projection->profiles.at[i].traced = (struct traced_nodes){0};
    }
    return traced;
}

void projection_free(struct projection *projection)
{
    context_tree_free(&projection->tree);
    for (size_t i = 0; i < projection->profiles.n; i++) {
        vec_free(&projection->profiles.at[i].costs);
        vec_free(&projection->profiles.at[i].traced);
    }
    vec_free(&projection->profiles);
    vec_free(&projection->unknown_site_calls);
    instruction_costs_free(&projection->instructions);
}

/* ---- comparison ---- */

static bool notes_agree(const struct measurement_node *node)
{
    if (node->ip_space != node->lip_space || node->ip_offset != node->lip_value)
        return false;
    if (node->ip_space == MEASUREMENT_NO_NOTE || node->ip_space == MEASUREMENT_PLACEHOLDER)
        return true;
    return node->has_site && node->site == node->ip_offset;
}

/* A joined thread hangs below its creator's frame in the logical projection only. */
static bool thread_agrees(const struct measurement_thread *thread)
{
    for (size_t i = 0; i < thread->nodes.n; i++)
        if (!notes_agree(&thread->nodes.at[i]))
            return false;
    return !thread->join.known;
}

static bool threads_agree(const struct analysis *analysis)
{
    for (size_t i = 0; i < analysis->measurements->files.n; i++) {
        const struct measurement *m = analysis->measurements->files.at[i].m;
        for (size_t k = 0; k < m->threads.n; k++)
            if (!thread_agrees(&m->threads.at[k]))
                return false;
    }
    return true;
}

bool projections_agree(const struct analysis *analysis)
{
    bool differ = !threads_agree(analysis);
    team_or(&differ, sizeof differ);
    return !differ && !analysis->clones->has_clones;
}
