#include "hpcstruct/flow/loop-nest.h"

#include <assert.h>
#include <stdlib.h>

/* Properties of a block, as in the paper. */
struct block_state {
    uint32_t header;   /* innermost loop header known so far; NO_BLOCK: none */
    uint32_t position; /* on the current path, from 1; 0: not on it */
    uint32_t loop;     /* index in loops.all of the loop that it is the header of, or NO_LOOP */
    uint32_t start;    /* block at which the traversal began that reached it; NO_BLOCK: none yet */
    bool is_header, irreducible;
};

struct path_entry {
    uint32_t block;
    uint32_t next_successor; /* number of its successor to visit next */
};

struct loop_scratch {
    VEC(struct block_state) states; /* per block */
    VEC(struct path_entry) path;    /* from the start of the traversal to the current block */
    VEC(uint32_t) headers;          /* of a nest, innermost first */
};

/* Limit of the work: MIN_EFFORT steps, and MAX_EFFORT per block and edge. The algorithm is nearly
 * linear on the code of real programs, and quadratic on adversarial graphs. */
#define MAX_EFFORT 200
#define MIN_EFFORT 1000000

struct loop_finder {
    const struct cfg *cfg;
    struct loop_scratch *s;
    uint32_t start; /* block at which the current traversal began */
    uint64_t effort_left;
};

static struct block_state *state_of(struct loop_finder *f, uint32_t block)
{
    return &f->s->states.at[block];
}

static bool spend(struct loop_finder *f)
{
    if (f->effort_left == 0)
        return false;
    f->effort_left--;
    return true;
}

/* tag_lhead of the paper: inserts `header`, which is on the path, into the list of headers around
 * `block`, which is ordered from the innermost one (latest on the path) outwards. */
static void add_header(struct loop_finder *f, uint32_t block, uint32_t header)
{
    uint32_t inner = block, outer = header;
    if (outer == NO_BLOCK || inner == outer)
        return;
    while (state_of(f, inner)->header != NO_BLOCK) {
        uint32_t next = state_of(f, inner)->header;
        if (next == outer || !spend(f))
            return;
        if (state_of(f, next)->position < state_of(f, outer)->position) {
            state_of(f, inner)->header = outer;
            inner = outer;
            outer = next;
        } else {
            inner = next;
        }
    }
    state_of(f, inner)->header = outer;
}

/* Handles an edge to a block that this traversal reached before and that is not on the path. */
static void add_cross_edge(struct loop_finder *f, uint32_t from, uint32_t to)
{
    /* The edge is another entry of each loop around `to` whose header is not on the path. */
    for (uint32_t header = state_of(f, to)->header; header != NO_BLOCK && spend(f);
         header = state_of(f, header)->header) {
        if (state_of(f, header)->position) {
            add_header(f, from, header);
            return;
        }
        state_of(f, header)->irreducible = true;
    }
}

static void push_on_path(struct loop_finder *f, uint32_t block)
{
    const struct path_entry entry = {block, 0};
    vec_push(&f->s->path, entry);
    state_of(f, block)->start = f->start;
    state_of(f, block)->position = (uint32_t)f->s->path.n;
}

static void traverse(struct loop_finder *f, uint32_t start)
{
    f->start = start;
    push_on_path(f, start);
    while (f->s->path.n) {
        struct path_entry *last = &f->s->path.at[f->s->path.n - 1];
        uint32_t from = last->block;
        const struct block *block = &f->cfg->blocks.at[from];
        if (last->next_successor == block->successor_count) {
            state_of(f, from)->position = 0;
            f->s->path.n--;
            if (f->s->path.n)
                add_header(f, f->s->path.at[f->s->path.n - 1].block, state_of(f, from)->header);
            continue;
        }
        uint32_t to = f->cfg->successors.at[block->first_successor + last->next_successor++];
        if (state_of(f, to)->start == NO_BLOCK) {
            push_on_path(f, to);
        } else if (state_of(f, to)->position) {
            state_of(f, to)->is_header = true;
            add_header(f, from, to);
        } else if (state_of(f, to)->start == start) {
            add_cross_edge(f, from, to);
        }
    }
}

/* Numbers the loops so that outer ones come first: follows the headers of each block outwards. */
static void list_loops(struct loop_finder *f, struct loops *loops)
{
    for (uint32_t block = 0; block < f->s->states.n; block++) {
        f->s->headers.n = 0;
        for (uint32_t header = block; header != NO_BLOCK && state_of(f, header)->loop == NO_LOOP;
             header = state_of(f, header)->header)
            if (state_of(f, header)->is_header)
                vec_push(&f->s->headers, header);
        while (f->s->headers.n) {
            uint32_t header = f->s->headers.at[--f->s->headers.n];
            struct block_state *state = state_of(f, header);
            state->loop = (uint32_t)loops->all.n;
            assert(state->header == NO_BLOCK || state_of(f, state->header)->loop != NO_LOOP);
            const struct loop loop = {
                .header = header,
                .parent = state->header == NO_BLOCK ? NO_LOOP : state_of(f, state->header)->loop,
                .irreducible = state->irreducible,
            };
            vec_push(&loops->all, loop);
        }
    }
    for (uint32_t block = 0; block < f->s->states.n; block++) {
        const struct block_state *state = state_of(f, block);
        uint32_t header = state->is_header ? block : state->header;
        vec_push(&loops->of_block, header == NO_BLOCK ? NO_LOOP : state_of(f, header)->loop);
    }
}

void loops_find(struct loops *loops, const struct cfg *cfg)
{
    loops->all.n = loops->of_block.n = 0;
    if (!loops->scratch)
        loops->scratch = mem_alloc(sizeof *loops->scratch);
    struct loop_finder f = {.cfg = cfg, .s = loops->scratch};
    f.effort_left = MIN_EFFORT + MAX_EFFORT * (uint64_t)(cfg->blocks.n + cfg->successors.n);
    f.s->states.n = 0;
    const struct block_state fresh = {
        .header = NO_BLOCK, .loop = NO_LOOP, .start = NO_BLOCK};
    for (size_t i = 0; i < cfg->blocks.n; i++)
        vec_push(&f.s->states, fresh);
    if (cfg->entry != NO_BLOCK)
        traverse(&f, cfg->entry);
    for (uint32_t block = 0; block < cfg->blocks.n; block++)
        if (state_of(&f, block)->start == NO_BLOCK)
            traverse(&f, block);
    loops->is_too_complex = f.effort_left == 0;
    if (!loops->is_too_complex) {
        list_loops(&f, loops);
        return;
    }
    for (size_t i = 0; i < cfg->blocks.n; i++)
        vec_push(&loops->of_block, NO_LOOP);
}

void loops_free(struct loops *loops)
{
    if (loops->scratch) {
        vec_free(&loops->scratch->states);
        vec_free(&loops->scratch->path);
        vec_free(&loops->scratch->headers);
        free(loops->scratch);
    }
    vec_free(&loops->all);
    vec_free(&loops->of_block);
}
