#include "viewer-tui/db/fold.h"

#include "lib/hash-tables.h"
#include "viewer-tui/db/node-costs.h"

#include <assert.h>
#include <stdlib.h>

/* A node of the folded tree, before the nodes are in preorder. */
struct folded_node {
    uint32_t parent, from; /* `from`: the node of the file's tree that it is a copy of */
    bool no_call_site, is_omitted;
    bool is_indexed; /* nodes of the file with several parents are below it, and its children in `known` */
    uint32_t number; /* in the folded tree; NOTHING if it is omitted */
};

struct term_of {
    uint32_t node; /* index of a folded node */
    struct fold_term term;
};

struct folding {
    struct database *db;
    struct fold_choice choice;
    const struct nodes *file;
    bool *is_folded;    /* by node of the file */
    uint32_t *node_of;  /* by node of the file: the folded node that it becomes, or is folded into */
    VEC(struct folded_node) nodes;
    VEC(struct term_of) terms;
    struct idmap known;  /* (parent and place, line and kind and ordinal) -> folded node */
    struct idmap counts; /* (parent of the file and place, line and kind) -> ordinal of the last one */
};

/* ---- the tree ---- */

/* Whether a node is folded into a procedure: inlined code, and what is lexically in it. */
static bool is_inside_inlined(const struct folding *folding, uint32_t node)
{
    const struct nodes *file = folding->file;
    if (!folding->choice.inlined)
        return false;
    if (file->kind[node] == KIND_INLINED)
        return file->kind[nodes_caller(file, node)] != KIND_ROOT;
    return is_lexical_kind(file->kind[node]) && folding->is_folded[file->parent[node]];
}

/* Whether a node is a procedure of the kernel that another procedure has called. */
static bool is_kernel_call(const struct folding *folding, uint32_t node)
{
    const struct nodes *file = folding->file;
    return folding->choice.kernel && file->kind[node] == KIND_PROCEDURE &&
           file->kind[nodes_caller(file, node)] != KIND_ROOT &&
           database_is_kernel(folding->db, database_procedure(folding->db, file->place[node]).module);
}

/* Distinguishes nodes of one kind and place below one parent: they must not be merged. */
static uint32_t ordinal(struct folding *folding, uint32_t node)
{
    const struct nodes *file = folding->file;
    uint64_t above = (uint64_t)file->parent[node] << 32 | file->place[node];
    uint64_t itself = (uint64_t)file->line[node] << 8 | file->kind[node];
    uint32_t count = idmap_get(&folding->counts, above, itself);
    count = count == IDMAP_NONE ? 0 : count + 1;
    idmap_put(&folding->counts, above, itself, count);
    return count;
}

/* The node that is known for a node below `parent`; if there is none, `next` becomes it. */
static uint32_t known_node(struct folding *folding, uint32_t parent, uint32_t node, uint32_t next)
{
    const struct nodes *file = folding->file;
    uint64_t above = (uint64_t)parent << 32 | file->place[node];
    uint64_t itself = (uint64_t)ordinal(folding, node) << 40 | (uint64_t)file->line[node] << 8 | file->kind[node];
    return idmap_number(&folding->known, above, itself, next);
}

/* The folded node of a node that is not folded. Most have the children of one node of the file: these are new. */
static uint32_t node_for(struct folding *folding, uint32_t node)
{
    const struct nodes *file = folding->file;
    uint32_t parent = folding->node_of[file->parent[node]], from = folding->nodes.at[parent].from;
    uint32_t next = (uint32_t)folding->nodes.n, found = next;
    bool is_same = from == file->parent[node], *is_indexed = &folding->nodes.at[parent].is_indexed;
    for (uint32_t child = from + 1; !is_same && !*is_indexed && child < node && child < file->end[from];
         child = file->end[child])
        if (folding->nodes.at[folding->node_of[child]].from == child)
            known_node(folding, parent, child, folding->node_of[child]);
    *is_indexed |= !is_same;
    if (*is_indexed)
        found = known_node(folding, parent, node, next);
    if (found == next)
        vec_push(&folding->nodes, ((struct folded_node){.parent = parent, .from = node}));
    folding->nodes.at[found].no_call_site |= file->no_call_site[node];
    return found;
}

static void add_term(struct folding *folding, uint32_t node, uint32_t from, enum term_role role)
{
    vec_push(&folding->terms, ((struct term_of){node, {from, (uint8_t)role}}));
}

static enum scope_kind kind_of(const struct folding *folding, uint32_t folded)
{
    return folding->file->kind[folding->nodes.at[folded].from];
}

/* Adds the own costs of an inlined procedure, or of one of the kernel, to the line that it is folded into, and to the
 * innermost loop and the procedure around that line. They include those of the procedure's loops. */
static void add_own_costs(struct folding *folding, uint32_t from)
{
    bool is_in_loop = false;
    for (uint32_t node = folding->node_of[from];; node = folding->nodes.at[node].parent) {
        enum scope_kind kind = kind_of(folding, node);
        if (kind == KIND_ROOT)
            return;
        if (kind != KIND_LOOP || !is_in_loop)
            add_term(folding, node, from, TERM_OWN);
        if (is_procedure_kind(kind))
            return;
        is_in_loop |= kind == KIND_LOOP;
    }
}

/* Whether all code of that procedure id is one procedure. The placeholders of profilers for unknown
 * code have names in angle brackets, no file and no entry. */
static bool is_known(const struct database *db, uint32_t id)
{
    struct procedure procedure = database_procedure(db, id);
    if (procedure.file != NOTHING || procedure.offset)
        return true;
    return procedure.name ? procedure.name[0] != '<' : procedure.module != NOTHING;
}

/* The folded node on the path of a procedure's caller to which the call leads back; NOTHING if it is not recursive. */
static uint32_t recursive_node(const struct folding *folding, uint32_t node)
{
    const struct nodes *file = folding->file;
    if (!folding->choice.recursion || !is_procedure_kind(file->kind[node]) || !is_known(folding->db, file->place[node]))
        return NOTHING;
    for (uint32_t at = folding->node_of[file->parent[node]]; at != 0; at = folding->nodes.at[at].parent)
        if (is_procedure_kind(kind_of(folding, at)) &&
            file->place[folding->nodes.at[at].from] == file->place[node])
            return at;
    return NOTHING;
}

static void add_from(struct folding *folding, uint32_t node)
{
    const struct nodes *file = folding->file;
    uint32_t recursive;
    folding->is_folded[node] = is_inside_inlined(folding, node) || is_kernel_call(folding, node);
    if (folding->is_folded[node] || file->kind[node] == KIND_INSTRUCTION) {
        folding->node_of[node] = folding->node_of[file->parent[node]];
        if (is_procedure_kind(file->kind[node]))
            add_own_costs(folding, node);
    } else if ((recursive = recursive_node(folding, node)) != NOTHING) {
        folding->node_of[node] = recursive;
        add_term(folding, recursive, node, TERM_OWN);
        for (uint32_t left = folding->node_of[file->parent[node]]; left != recursive;
             left = folding->nodes.at[left].parent) /* its costs leave the nodes between */
            add_term(folding, left, node, TERM_LEFT);
    } else {
        folding->node_of[node] = node_for(folding, node);
        add_term(folding, folding->node_of[node], node, TERM_WHOLE);
    }
}

/* Omits nodes from which recursion took all costs, except entry points. Those below a node have higher indices. */
static void omit_empty(struct folding *folding)
{
    const struct metrics *metrics = &folding->db->metrics;
    autofree bool *has_costs = mem_alloc(folding->nodes.n);
    for (size_t m = 0; m < metrics->n + metrics->n_hidden; m++) {
        bool has_values = metrics->at[m].source == METRIC_FROM_FILE && metric_is_measured(&metrics->at[m]);
        autofree double *own = has_values ? node_own_costs(folding->db, m) : NULL;
        for (uint32_t c = 0; own && c < folding->file->n; c++)
            has_costs[folding->node_of[c]] |= own[c] != 0;
    }
    for (size_t i = folding->nodes.n; i-- > 1;) {
        struct folded_node *node = &folding->nodes.at[i];
        has_costs[node->parent] |= has_costs[i];
        node->is_omitted = !has_costs[i] && node->parent != 0;
    }
}

/* Makes the arrays, in preorder: siblings are in the order in which they were made, and parents were made before. */
static struct nodes *make_nodes(struct folding *folding)
{
    size_t n = folding->nodes.n;
    struct folded_node *all = folding->nodes.at;
    struct nodes *nodes = nodes_new(n);
    autofree uint32_t *sizes = mem_alloc(n * sizeof *sizes); /* of the tree at a node; 0 if it is omitted */
    autofree uint32_t *free_below = mem_alloc(n * sizeof *free_below); /* number of the next node below */
    autofree uint32_t *by_number = mem_alloc(n * sizeof *by_number);
    for (size_t i = n; i-- > 1;) {
        sizes[i] = all[i].is_omitted ? 0 : sizes[i] + 1;
        sizes[all[i].parent] += sizes[i];
    }
    free_below[0] = 1;
    for (uint32_t i = 1; i < n; i++) {
        all[i].number = all[i].is_omitted ? NOTHING : free_below[all[i].parent];
        if (all[i].is_omitted)
            continue;
        free_below[all[i].parent] += sizes[i];
        free_below[i] = all[i].number + 1;
        by_number[all[i].number] = i;
    }
    for (uint32_t number = 0; number < sizes[0] + 1; number++) {
        const struct folded_node *from = &all[by_number[number]];
        const struct nodes *file = folding->file;
        nodes_add(nodes, &(struct node){.kind = file->kind[from->from],
                                        .parent = all[from->parent].number,
                                        .place = file->place[from->from],
                                        .line = file->line[from->from],
                                        .position = file->position[from->from],
                                        .no_call_site = from->no_call_site});
    }
    nodes_find_ends(nodes);
    return nodes;
}

/* Sorts the terms by folded node. */
static void sort_terms(const struct folding *folding, struct fold *fold)
{
    uint32_t n = fold->nodes->n;
    fold->terms = mem_alloc((folding->terms.n + 1) * sizeof *fold->terms);
    fold->first_term = mem_alloc((n + 2) * sizeof *fold->first_term);
    autofree uint32_t *next = mem_alloc((n + 1) * sizeof *next);
    for (size_t i = 0; i < folding->terms.n; i++) {
        uint32_t number = folding->nodes.at[folding->terms.at[i].node].number;
        if (number != NOTHING)
            fold->first_term[number + 1]++;
    }
    for (size_t i = 0; i < n; i++) {
        fold->first_term[i + 1] += fold->first_term[i];
        next[i] = fold->first_term[i];
    }
    for (size_t i = 0; i < folding->terms.n; i++) {
        uint32_t number = folding->nodes.at[folding->terms.at[i].node].number;
        if (number != NOTHING)
            fold->terms[next[number]++] = folding->terms.at[i].term;
    }
}

void fold_nodes(struct database *db, struct fold_choice choice)
{
    assert(!db->fold);
    struct folding folding = {.db = db, .choice = choice};
    while (!folding.file) /* if the user stops this, start again: a part would be of no use */
        folding.file = database_nodes(db);
    folding.is_folded = mem_alloc(folding.file->n);
    folding.node_of = mem_alloc(folding.file->n * sizeof *folding.node_of);
    vec_push(&folding.nodes, (struct folded_node){0});
    add_term(&folding, 0, 0, TERM_WHOLE);
    for (uint32_t node = 1; node < folding.file->n; node++) /* in preorder: the parent has its folded node */
        add_from(&folding, node);
    if (choice.recursion)
        omit_empty(&folding);
    struct fold *fold = mem_alloc(sizeof *fold);
    fold->nodes = make_nodes(&folding);
    sort_terms(&folding, fold);
    db->fold = fold;
    free(folding.is_folded);
    free(folding.node_of);
    vec_free(&folding.nodes);
    vec_free(&folding.terms);
    idmap_free(&folding.known);
    idmap_free(&folding.counts);
}

void fold_undo(struct database *db)
{
    struct fold *fold = db->fold;
    if (!fold)
        return;
    nodes_free(fold->nodes);
    free(fold->terms);
    free(fold->first_term);
    free(fold);
    db->fold = NULL;
}
