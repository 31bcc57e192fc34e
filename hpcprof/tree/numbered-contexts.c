#include "hpcprof/tree/numbered-contexts.h"

#include "lib/binary-search.h"
#include "lib/parallel.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- used functions, files and modules ---- */

static void use(struct used_items *items, uint32_t id)
{
    if (id == NO_SYMBOL || items->rank_of[id] != NO_SYMBOL)
        return;
    items->rank_of[id] = 0; /* rank() sets it */
    vec_push(&items->ids, id);
}

static void start_items(struct used_items *items, size_t count)
{
    items->rank_of = mem_alloc(count * sizeof *items->rank_of);
    for (size_t i = 0; i < count; i++)
        items->rank_of[i] = NO_SYMBOL;
}

static void find_used(struct numbered_contexts *contexts, const struct context_tree *tree)
{
    const struct symbol_table *symbols = contexts->symbols;
    start_items(&contexts->functions, symbols->functions.n);
    start_items(&contexts->files, symbols->files.count);
    start_items(&contexts->modules, symbols->measurements->modules.all.n);
    for (size_t i = 0; i < tree->contexts.n; i++) {
        const struct context *context = &tree->contexts.at[i];
        switch (context->kind) {
        case CONTEXT_CALL:
        case CONTEXT_INLINED: use(&contexts->functions, context->name); break;
        case CONTEXT_LOOP_AT: use(&contexts->modules, context->name); break;
        case CONTEXT_LOOP:
        case CONTEXT_LINE: use(&contexts->files, context->name); break;
        default: break;
        }
    }
    for (size_t i = 0; i < contexts->functions.ids.n; i++) {
        const struct function *function = &symbols->functions.at[contexts->functions.ids.at[i]];
        use(&contexts->files, function->file);
        use(&contexts->modules, function->module);
    }
}

static int by_path(const void *a, const void *b, void *argument)
{
    const struct symbol_table *symbols = argument;
    return strcmp(strtab_string(&symbols->files, *(const uint32_t *)a),
                  strtab_string(&symbols->files, *(const uint32_t *)b));
}

static int by_module(const void *a, const void *b, void *argument)
{
    const struct symbol_table *symbols = argument;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct load_module *x = &symbols->measurements->modules.all.at[i],
                             *y = &symbols->measurements->modules.all.at[k];
    int order = strcmp(x->path, y->path);
    if (!order)
        order = strcmp(x->build_id, y->build_id);
    if (!order)
        order = compare_unsigned(x->file_size, y->file_size);
    if (!order)
        order = compare_unsigned(x->header_hash, y->header_hash);
    return order ? order : compare_unsigned(i, k);
}

/* Needs the ranks of files and modules. A function without file or module comes last. */
static int by_function(const void *a, const void *b, void *argument)
{
    const struct numbered_contexts *contexts = argument;
    const struct function *all = contexts->symbols->functions.at;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct function *x = &all[i], *y = &all[k];
    const uint32_t *file_rank = contexts->files.rank_of, *module_rank = contexts->modules.rank_of;
    int order = strcmp(x->name, y->name);
    if (!order)
        order = compare_unsigned(x->file == NO_SYMBOL ? x->file : file_rank[x->file],
                                 y->file == NO_SYMBOL ? y->file : file_rank[y->file]);
    if (!order)
        order = compare_unsigned(x->line, y->line);
    if (!order)
        order = compare_unsigned(x->module == NO_SYMBOL ? x->module : module_rank[x->module],
                                 y->module == NO_SYMBOL ? y->module : module_rank[y->module]);
    if (!order)
        order = compare_unsigned(x->entry, y->entry);
    return order ? order : compare_unsigned(i, k);
}

static void rank(struct used_items *items, int (*order)(const void *, const void *, void *),
                 void *argument)
{
    if (items->ids.n)
        qsort_r(items->ids.at, items->ids.n, sizeof *items->ids.at, order, argument);
    for (uint32_t i = 0; i < items->ids.n; i++)
        items->rank_of[items->ids.at[i]] = i;
}

/* ---- numbering ---- */

/* A context and its sort keys among its siblings. */
struct sibling {
    uint64_t name_and_kind, detail;
    uint32_t id;
};

static struct sibling sibling_of(const struct numbered_contexts *contexts,
                                 const struct context *context, uint32_t id)
{
    uint32_t name = context->name;
    switch (context->kind) {
    case CONTEXT_CALL:
    case CONTEXT_INLINED: name = contexts->functions.rank_of[name]; break;
    case CONTEXT_LOOP_AT: name = contexts->modules.rank_of[name]; break;
    case CONTEXT_LOOP:
    case CONTEXT_LINE: name = contexts->files.rank_of[name]; break;
    default: break;
    }
    return (struct sibling){
        .name_and_kind = (uint64_t)context->kind << 32 | name,
        .detail = context->detail,
        .id = id,
    };
}

static int by_order(const void *a, const void *b)
{
    const struct sibling *x = a, *y = b;
    int order = compare_unsigned(x->name_and_kind, y->name_and_kind);
    return order ? order : compare_unsigned(x->detail, y->detail);
}

/* ---- parts of a tree, for several threads ---- */

#define PART_SIZE 65536

static size_t count_parts(const struct context_tree *tree)
{
    return (tree->contexts.n + PART_SIZE - 1) / PART_SIZE;
}

/* One after the last id of a part. */
static size_t end_of_part(const struct context_tree *tree, size_t part)
{
    size_t end = (part + 1) * PART_SIZE;
    return end < tree->contexts.n ? end : tree->contexts.n;
}

/* All contexts but the root, grouped by parent; start[p] is where the group of parent p begins. */
struct group_job {
    const struct numbered_contexts *contexts;
    const struct context_tree *tree;
    atomic_uint *start;
    struct sibling *siblings;
};

static void count_children(void *context, unsigned worker, size_t part)
{
    (void)worker;
    const struct group_job *job = context;
    size_t end = end_of_part(job->tree, part);
    for (size_t i = part ? part * PART_SIZE : 1; i < end; i++)
        atomic_fetch_add_explicit(&job->start[job->tree->contexts.at[i].parent + 2], 1,
                                  memory_order_relaxed);
}

/* The order in a group is that of the workers, until it is sorted. Moves start[p + 1] to the end of group p,
 * where group p + 1 begins. */
static void place_children(void *context, unsigned worker, size_t part)
{
    (void)worker;
    const struct group_job *job = context;
    size_t end = end_of_part(job->tree, part);
    for (size_t i = part ? part * PART_SIZE : 1; i < end; i++) {
        const struct context *child = &job->tree->contexts.at[i];
        uint32_t at = atomic_fetch_add_explicit(&job->start[child->parent + 1], 1,
                                                memory_order_relaxed);
        job->siblings[at] = sibling_of(job->contexts, child, (uint32_t)i);
    }
}

static void group_siblings(struct group_job *job, unsigned workers)
{
    size_t n = job->tree->contexts.n;
    job->start = mem_alloc((n + 2) * sizeof *job->start);
    job->siblings = mem_alloc(n * sizeof *job->siblings);
    parallel_for(count_parts(job->tree), workers, count_children, job);
    unsigned before = 0;
    for (size_t i = 2; i < n + 2; i++) {
        before += atomic_load_explicit(&job->start[i], memory_order_relaxed);
        atomic_store_explicit(&job->start[i], before, memory_order_relaxed);
    }
    parallel_for(count_parts(job->tree), workers, place_children, job);
}

struct sort_job {
    const struct context_tree *tree;
    struct sibling *siblings;
    const atomic_uint *start;
};

static void sort_siblings(void *context, unsigned worker, size_t part)
{
    (void)worker;
    const struct sort_job *job = context;
    size_t end = end_of_part(job->tree, part);
    for (size_t p = part * PART_SIZE; p < end; p++) {
        size_t n = job->start[p + 1] - job->start[p];
        if (n > 1)
            qsort(job->siblings + job->start[p], n, sizeof *job->siblings, by_order);
    }
}

/* Contexts and descendants of each, by old id. The caller frees. */
static uint32_t *count_descendants(const struct context_tree *tree)
{
    uint32_t *sizes = mem_alloc(tree->contexts.n * sizeof *sizes);
    for (size_t i = tree->contexts.n - 1; i > CONTEXT_ROOT; i--)
        sizes[tree->contexts.at[i].parent] += ++sizes[i];
    sizes[CONTEXT_ROOT]++;
    return sizes;
}

/* Sets the new ids, and with them `end` and `depth`. Between the ids of two siblings lie those of the
 * first one's descendants. */
static void number_depth_first(struct numbered_contexts *contexts, const struct context_tree *tree,
                               const struct sibling *siblings, const atomic_uint *start,
                               uint32_t *new_ids)
{
    autofree uint32_t *sizes = count_descendants(tree);
    contexts->end[CONTEXT_ROOT] = sizes[CONTEXT_ROOT];
    for (uint32_t parent = CONTEXT_ROOT; parent < contexts->n; parent++) {
        uint32_t next = new_ids[parent] + 1, depth = contexts->depth[new_ids[parent]] + 1;
        for (uint32_t i = start[parent]; i < start[parent + 1]; i++) {
            uint32_t id = next;
            next += sizes[siblings[i].id];
            new_ids[siblings[i].id] = id;
            contexts->end[id] = next;
            contexts->depth[id] = depth;
            if (depth > contexts->max_depth)
                contexts->max_depth = depth;
        }
    }
}

struct copy_job {
    struct numbered_contexts *contexts;
    const struct context_tree *tree;
    const uint32_t *new_ids;
};

static void copy_contexts(void *context, unsigned worker, size_t part)
{
    (void)worker;
    const struct copy_job *job = context;
    size_t end = end_of_part(job->tree, part);
    for (size_t i = part * PART_SIZE; i < end; i++) {
        struct context *copy = &job->contexts->at[job->new_ids[i]];
        *copy = job->tree->contexts.at[i];
        copy->parent = job->new_ids[copy->parent];
    }
}

/* Returns the new ids. The caller frees. */
static uint32_t *number(struct numbered_contexts *contexts, const struct context_tree *tree,
                        unsigned workers)
{
    uint32_t *new_ids = mem_alloc(contexts->n * sizeof *new_ids);
    struct group_job group = {.contexts = contexts, .tree = tree};
    group_siblings(&group, workers);
    struct sort_job sort = {tree, group.siblings, group.start};
    parallel_for(count_parts(tree), workers, sort_siblings, &sort);
    number_depth_first(contexts, tree, group.siblings, group.start, new_ids);
    free(group.siblings);
    free(group.start);
    struct copy_job copy = {contexts, tree, new_ids};
    parallel_for(count_parts(tree), workers, copy_contexts, &copy);
    return new_ids;
}

uint32_t *contexts_number(struct numbered_contexts *contexts, const struct context_tree *tree,
                          const struct symbol_table *symbols, unsigned workers)
{
    size_t n = tree->contexts.n;
    *contexts = (struct numbered_contexts){
        .symbols = symbols,
        .n = n,
        .at = mem_alloc(n * sizeof *contexts->at),
        .end = mem_alloc(n * sizeof *contexts->end),
        .depth = mem_alloc(n * sizeof *contexts->depth),
    };
    find_used(contexts, tree);
    rank(&contexts->files, by_path, (void *)symbols);
    rank(&contexts->modules, by_module, (void *)symbols);
    rank(&contexts->functions, by_function, contexts);
    return number(contexts, tree, workers);
}

static void free_items(struct used_items *items)
{
    vec_free(&items->ids);
    free(items->rank_of);
}

void contexts_free(struct numbered_contexts *contexts)
{
    free_items(&contexts->functions);
    free_items(&contexts->files);
    free_items(&contexts->modules);
    free(contexts->at);
    free(contexts->end);
    free(contexts->depth);
}
