#include "hpcstruct/structure/loop-location.h"

#include "lib/binary-search.h"

#include <stdlib.h>

#define NONE UINT32_MAX
/* Strays are tolerated up to this part of a loop's own bytes. */
#define STRAY_PART 4

struct placer {
    const struct loop_context *c;
    struct loop_places *places;
};

/* ---- conditions ---- */

/* The innermost loop around both of two loops; NO_LOOP takes part as the procedure. */
static uint32_t common_loop(const struct loops *loops, uint32_t a, uint32_t b)
{
    while (a != b) {
        if (a == NO_LOOP || b == NO_LOOP)
            return NO_LOOP;
        if (a > b)
            a = loops->all.at[a].parent;
        else
            b = loops->all.at[b].parent;
    }
    return a;
}

/* Whether loop `a` lies in loop `b` or is the same. */
static bool lies_in(const struct loops *loops, uint32_t a, uint32_t b)
{
    return common_loop(loops, a, b) == b;
}

static void add_condition(struct placer *p, uint32_t loop, uint32_t block, bool leaves)
{
    vec_push(&p->places->conditions, (struct loop_condition){loop, block, leaves});
}

/* Finds the loops that a block decides about. Each edge stays in the loops around both of its ends
 * and leaves the others; a decision needs an edge that stays and one that leaves. */
static void find_conditions_of(struct placer *p, uint32_t block_number)
{
    const struct loops *loops = p->c->loops;
    const struct block *block = &p->c->cfg->blocks.at[block_number];
    uint32_t own = loops->of_block.at[block_number];
    if (own == NO_LOOP || block->successor_count == 0)
        return;
    uint32_t deepest = NO_LOOP, shallowest = block->leaves ? NO_LOOP : own;
    for (uint32_t i = 0; i < block->successor_count; i++) {
        uint32_t to = p->c->cfg->successors.at[block->first_successor + i];
        uint32_t stays_in = common_loop(loops, own, loops->of_block.at[to]);
        if (deepest == NO_LOOP || (stays_in != NO_LOOP && lies_in(loops, stays_in, deepest)))
            deepest = stays_in;
        if (shallowest != NO_LOOP && lies_in(loops, shallowest, stays_in))
            shallowest = stays_in;
        if (stays_in != NO_LOOP && loops->all.at[stays_in].header == to)
            add_condition(p, stays_in, block_number, false);
    }
    for (uint32_t loop = deepest; loop != shallowest && loop != NO_LOOP;
         loop = loops->all.at[loop].parent)
        add_condition(p, loop, block_number, true);
}

static int by_loop(const void *a, const void *b)
{
    const struct loop_condition *x = a, *y = b;
    if (x->loop != y->loop)
        return x->loop < y->loop ? -1 : 1;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    return x->leaves - y->leaves;
}

/* Whether a condition lies in the same part of the procedure as the header of its loop. */
static bool is_near(const struct placer *p, const struct loop_condition *condition)
{
    const struct block *blocks = p->c->cfg->blocks.at;
    uint32_t header = p->c->loops->all.at[condition->loop].header;
    return blocks[condition->block].fragment == blocks[header].fragment;
}

/* Sorts the conditions, and drops those in other parts (in cold code) where there are near ones. */
static void choose_conditions(struct placer *p)
{
    struct loop_condition *all = p->places->conditions.at;
    size_t count = p->places->conditions.n, kept = 0;
    if (count == 0)
        return;
    qsort(all, count, sizeof *all, by_loop);
    for (size_t i = 0, next; i < count; i = next) {
        bool any_near = false;
        for (next = i; next < count && all[next].loop == all[i].loop; next++)
            any_near |= is_near(p, &all[next]);
        for (size_t k = i; k < next; k++)
            if (!any_near || is_near(p, &all[k]))
                all[kept++] = all[k];
    }
    p->places->conditions.n = kept;
}

/* A range of the conditions: those of one loop. */
struct conditions {
    const struct loop_condition *at;
    size_t n;
};

static struct conditions conditions_of(const struct loop_places *places, uint32_t loop)
{
    size_t first = partition_point(i, places->conditions.n, places->conditions.at[i].loop < loop);
    struct conditions found = {places->conditions.at + first, 0};
    while (first + found.n < places->conditions.n && found.at[found.n].loop == loop)
        found.n++;
    return found;
}

/* The piece with the instruction by which a block decides. */
static const struct piece *piece_of(const struct placer *p, const struct loop_condition *condition)
{
    const struct block *block = &p->c->cfg->blocks.at[condition->block];
    return pieces_at(p->c->pieces, block->last < block->end ? block->last : block->end - 1);
}

/* ---- the chain ---- */

/* The longest chain common to the candidate and another one; NONE stands for no candidate yet. */
static uint32_t narrow(const struct placer *p, uint32_t candidate, uint32_t chain)
{
    return candidate == NONE ? chain : chains_common(p->c->chains, candidate, chain);
}

static uint32_t chain_of_conditions(const struct placer *p, uint32_t loop)
{
    struct conditions conditions = conditions_of(p->places, loop);
    uint32_t of_leaving = NONE, of_all = NONE;
    for (size_t i = 0; i < conditions.n; i++) {
        uint32_t chain = piece_of(p, &conditions.at[i])->chain;
        of_all = narrow(p, of_all, chain);
        if (conditions.at[i].leaves)
            of_leaving = narrow(p, of_leaving, chain);
    }
    return of_leaving != NONE ? of_leaving : of_all;
}

/* Whether code at a piece may be the call of the function that `candidate` has at its depth. */
static bool is_at_call(const struct chains *chains, uint32_t candidate, const struct piece *piece)
{
    uint32_t depth = chains->all.at[piece->chain].depth;
    const struct chain *called = &chains->all.at[chains_prefix(chains, candidate, depth + 1)];
    return piece->line == 0 ||
           (piece->line == called->call_line && piece->file == called->call_file);
}

/* Rule 2: the chain after the strays had their say. */
static uint32_t heed_strays(const struct placer *p, uint32_t loop, uint32_t candidate)
{
    const struct chains *chains = p->c->chains;
    uint64_t bytes = 0, stray_bytes = 0;
    uint32_t genuine = candidate, outermost = candidate;
    for (uint32_t i = p->places->first_piece.at[loop]; i != NONE; i = p->places->next_piece.at[i]) {
        const struct piece *piece = &p->c->pieces->all.at[i];
        bytes += piece->end - piece->begin;
        if (piece->chain == candidate ||
            chains_common(chains, candidate, piece->chain) != piece->chain)
            continue;
        stray_bytes += piece->end - piece->begin;
        outermost = chains_common(chains, outermost, piece->chain);
        if (!is_at_call(chains, candidate, piece))
            genuine = chains_common(chains, genuine, piece->chain);
    }
    return stray_bytes * STRAY_PART > bytes ? outermost : genuine;
}

static uint32_t place_in_chain(const struct placer *p, uint32_t loop)
{
    const struct chains *chains = p->c->chains;
    const struct loop_places *places = p->places;
    uint32_t candidate = chain_of_conditions(p, loop);
    for (uint32_t child = places->first_child.at[loop]; child != NONE;
         child = places->next_child.at[child])
        candidate = narrow(p, candidate, places->all.at[child].chain);
    for (uint32_t i = places->first_piece.at[loop]; i != NONE; i = places->next_piece.at[i]) {
        uint32_t chain = p->c->pieces->all.at[i].chain;
        uint32_t common = narrow(p, candidate, chain);
        if (candidate == NONE || common != chain)
            candidate = common;
    }
    if (candidate == NONE)
        return EMPTY_CHAIN;
    return chains->all.at[candidate].depth ? heed_strays(p, loop, candidate) : candidate;
}

/* ---- the line ---- */

/* A line that may be the loop's. */
struct source_line {
    uint32_t file, line;
};

/* The line of code of `chain` as seen from a loop's chain; line 0 when it is not inside. */
static struct source_line seen_from(const struct chains *chains, uint32_t from, uint32_t chain,
                                    struct source_line line)
{
    const struct source_line unknown = {DEBUG_NONE, 0};
    if (chain == from)
        return line;
    if (chains_common(chains, from, chain) != from)
        return unknown;
    const struct chain *called =
        &chains->all.at[chains_prefix(chains, chain, chains->all.at[from].depth + 1)];
    return (struct source_line){called->call_file, called->call_line};
}

struct choice {
    const struct placer *p;
    uint32_t chain, home; /* the loop's chain, and the file of its function */
    struct source_line best;
    bool best_is_tagged, best_is_home;
};

static void consider(struct choice *choice, uint32_t chain, struct source_line line)
{
    line = seen_from(choice->p->c->chains, choice->chain, chain, line);
    if (line.line == 0 || line.file == DEBUG_NONE)
        return;
    bool tagged = choice->p->c->tagged[line.file], home = line.file == choice->home;
    bool better = choice->best.line == 0;
    if (!better && tagged != choice->best_is_tagged)
        better = !tagged;
    else if (!better && home != choice->best_is_home)
        better = home;
    else if (!better)
        better = line.file == choice->best.file && line.line < choice->best.line;
    if (!better)
        return;
    choice->best = line;
    choice->best_is_tagged = tagged;
    choice->best_is_home = home;
}

static void consider_piece(struct choice *choice, const struct piece *piece)
{
    consider(choice, piece->chain, (struct source_line){piece->file, piece->line});
}

static uint32_t home_of(const struct placer *p, uint32_t chain)
{
    if (chain == EMPTY_CHAIN)
        return p->c->procedure_file;
    const struct chains *chains = p->c->chains;
    return chains->info->functions.at[chains->all.at[chain].function].file;
}

static struct source_line line_of(const struct placer *p, uint32_t loop, uint32_t chain)
{
    const struct loop_places *places = p->places;
    struct choice choice = {.p = p, .chain = chain, .home = home_of(p, chain)};
    choice.best.file = DEBUG_NONE;
    struct conditions conditions = conditions_of(places, loop);
    for (size_t i = 0; i < conditions.n; i++)
        consider_piece(&choice, piece_of(p, &conditions.at[i]));
    if (choice.best.line) {
        choice.home = choice.best.file; /* other lines only matter in the file of the conditions */
        choice.best_is_home = true;
    }
    for (uint32_t child = places->first_child.at[loop]; child != NONE;
         child = places->next_child.at[child]) {
        const struct loop_place *place = &places->all.at[child];
        consider(&choice, place->chain, (struct source_line){place->file, place->line});
    }
    /* Code without any line at its conditions: take the first that has one. */
    for (uint32_t i = places->first_piece.at[loop]; i != NONE && choice.best.line == 0;
         i = places->next_piece.at[i])
        consider_piece(&choice, &p->c->pieces->all.at[i]);
    if (choice.best.line == 0)
        choice.best.file = home_of(p, chain);
    return choice.best;
}

/* ---- the whole ---- */

#define fill(v, count, value)                                                                      \
    do {                                                                                           \
        (v)->n = 0;                                                                                \
        for (size_t fill_index = 0; fill_index < (count); fill_index++)                            \
            vec_push(v, value);                                                                    \
    } while (0)

/* Links pieces and loops to the loop that they lie in, in their order. */
static void link_contents(struct placer *p)
{
    const struct loops *loops = p->c->loops;
    const struct pieces *pieces = p->c->pieces;
    struct loop_places *places = p->places;
    fill(&places->first_piece, loops->all.n, NONE);
    fill(&places->next_piece, pieces->all.n, NONE);
    fill(&places->first_child, loops->all.n, NONE);
    fill(&places->next_child, loops->all.n, NONE);
    for (size_t i = pieces->all.n; i-- > 0;) {
        uint32_t loop = pieces->all.at[i].loop;
        if (loop == NO_LOOP)
            continue;
        places->next_piece.at[i] = places->first_piece.at[loop];
        places->first_piece.at[loop] = (uint32_t)i;
    }
    for (size_t i = loops->all.n; i-- > 0;) {
        uint32_t parent = loops->all.at[i].parent;
        if (parent == NO_LOOP)
            continue;
        places->next_child.at[i] = places->first_child.at[parent];
        places->first_child.at[parent] = (uint32_t)i;
    }
}

void loops_place(struct loop_places *places, const struct loop_context *context)
{
    struct placer p = {context, places};
    const struct loop_place unknown = {EMPTY_CHAIN, DEBUG_NONE, 0};
    fill(&places->all, context->loops->all.n, unknown);
    if (places->all.n == 0)
        return;
    link_contents(&p);
    places->conditions.n = 0;
    for (uint32_t i = 0; i < context->cfg->blocks.n; i++)
        find_conditions_of(&p, i);
    choose_conditions(&p);
    for (size_t i = places->all.n; i-- > 0;) {
        struct loop_place *place = &places->all.at[i];
        place->chain = place_in_chain(&p, (uint32_t)i);
        struct source_line line = line_of(&p, (uint32_t)i, place->chain);
        place->file = line.file;
        place->line = line.line;
    }
}

void loop_places_free(struct loop_places *places)
{
    vec_free(&places->all);
    vec_free(&places->conditions);
    vec_free(&places->first_piece);
    vec_free(&places->next_piece);
    vec_free(&places->first_child);
    vec_free(&places->next_child);
}
