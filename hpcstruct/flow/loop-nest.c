#include "hpcstruct/flow/loop-nest.h"

#include <stdlib.h>

/* The paper's marks of a block. */
struct mark {
    uint32_t header;   /* innermost loop header that is known, NO_BLOCK: none */
    uint32_t position; /* on the current path, from 1; 0: not on it */
    uint32_t loop;     /* the loop that it is the header of; later its index in loops.all */
    bool traversed, is_header, irreducible;
};

/* A block of the current path, and the next of its successors to look at. */
struct step {
    uint32_t block, next;
};

struct loop_scratch {
    VEC(struct mark) marks;
    VEC(struct step) path;
    VEC(uint32_t) chain;
};

/* Effort per block and edge, beyond which a graph is not made of loops that people wrote. */
#define MAX_EFFORT 200
#define MIN_EFFORT 1000000

struct finder {
    const struct cfg *cfg;
    struct loop_scratch *s;
    uint64_t effort_left;
};

static struct mark *mark_of(struct finder *f, uint32_t block)
{
    return &f->s->marks.at[block];
}

static bool spend(struct finder *f)
{
    if (f->effort_left == 0)
        return false;
    f->effort_left--;
    return true;
}

/* The paper's tag_lhead: weaves `header`, which is on the path, into the chain of headers around
 * `block`, innermost (latest on the path) first. */
static void tag_header(struct finder *f, uint32_t block, uint32_t header)
{
    uint32_t inner = block, outer = header;
    if (outer == NO_BLOCK || inner == outer)
        return;
    while (mark_of(f, inner)->header != NO_BLOCK) {
        uint32_t next = mark_of(f, inner)->header;
        if (next == outer || !spend(f))
            return;
        if (mark_of(f, next)->position < mark_of(f, outer)->position) {
            mark_of(f, inner)->header = outer;
            inner = outer;
            outer = next;
        } else {
            inner = next;
        }
    }
    mark_of(f, inner)->header = outer;
}

/* An edge to a block that was traversed before and is not on the path. */
static void enter_again(struct finder *f, uint32_t from, uint32_t to)
{
    /* The edge enters those loops around `to` whose header is not on the path. */
    for (uint32_t header = mark_of(f, to)->header; header != NO_BLOCK && spend(f);
         header = mark_of(f, header)->header) {
        if (mark_of(f, header)->position) {
            tag_header(f, from, header);
            return;
        }
        mark_of(f, header)->irreducible = true;
    }
}

static void push_on_path(struct finder *f, uint32_t block)
{
    const struct step step = {block, 0};
    vec_push(&f->s->path, step);
    mark_of(f, block)->traversed = true;
    mark_of(f, block)->position = (uint32_t)f->s->path.n;
}

static void traverse(struct finder *f, uint32_t start)
{
    push_on_path(f, start);
    while (f->s->path.n) {
        struct step *step = &f->s->path.at[f->s->path.n - 1];
        uint32_t from = step->block;
        const struct block *block = &f->cfg->blocks.at[from];
        if (step->next == block->successor_count) {
            mark_of(f, from)->position = 0;
            f->s->path.n--;
            if (f->s->path.n)
                tag_header(f, f->s->path.at[f->s->path.n - 1].block, mark_of(f, from)->header);
            continue;
        }
        uint32_t to = f->cfg->successors.at[block->first_successor + step->next++];
        if (!mark_of(f, to)->traversed) {
            push_on_path(f, to);
        } else if (mark_of(f, to)->position) {
            mark_of(f, to)->is_header = true;
            tag_header(f, from, to);
        } else {
            enter_again(f, from, to);
        }
    }
}

/* Numbers the loops so that outer ones come first: along the chains of headers. */
static void list_loops(struct finder *f, struct loops *loops)
{
    for (uint32_t block = 0; block < f->s->marks.n; block++) {
        f->s->chain.n = 0;
        for (uint32_t header = block; header != NO_BLOCK && mark_of(f, header)->loop == NO_LOOP;
             header = mark_of(f, header)->header)
            if (mark_of(f, header)->is_header)
                vec_push(&f->s->chain, header);
        while (f->s->chain.n) {
            uint32_t header = f->s->chain.at[--f->s->chain.n];
            struct mark *mark = mark_of(f, header);
            mark->loop = (uint32_t)loops->all.n;
            const struct loop loop = {
                .header = header,
                .parent = mark->header == NO_BLOCK ? NO_LOOP : mark_of(f, mark->header)->loop,
                .irreducible = mark->irreducible,
            };
            vec_push(&loops->all, loop);
        }
    }
    for (uint32_t block = 0; block < f->s->marks.n; block++) {
        const struct mark *mark = mark_of(f, block);
        uint32_t header = mark->is_header ? block : mark->header;
        vec_push(&loops->of_block, header == NO_BLOCK ? NO_LOOP : mark_of(f, header)->loop);
    }
}

void loops_find(struct loops *loops, const struct cfg *cfg)
{
    loops->all.n = loops->of_block.n = 0;
    if (!loops->scratch)
        loops->scratch = mem_alloc(sizeof *loops->scratch);
    struct finder f = {.cfg = cfg, .s = loops->scratch};
    f.effort_left = MIN_EFFORT + MAX_EFFORT * (uint64_t)(cfg->blocks.n + cfg->successors.n);
    f.s->marks.n = 0;
    const struct mark fresh = {.header = NO_BLOCK, .loop = NO_LOOP};
    for (size_t i = 0; i < cfg->blocks.n; i++)
        vec_push(&f.s->marks, fresh);
    if (cfg->entry != NO_BLOCK)
        traverse(&f, cfg->entry);
    for (uint32_t block = 0; block < cfg->blocks.n; block++)
        if (!mark_of(&f, block)->traversed)
            traverse(&f, block);
    if (f.effort_left) {
        list_loops(&f, loops);
        return;
    }
    for (size_t i = 0; i < cfg->blocks.n; i++)
        vec_push(&loops->of_block, NO_LOOP);
}

void loops_free(struct loops *loops)
{
    if (loops->scratch) {
        vec_free(&loops->scratch->marks);
        vec_free(&loops->scratch->path);
        vec_free(&loops->scratch->chain);
        free(loops->scratch);
    }
    vec_free(&loops->all);
    vec_free(&loops->of_block);
}
