#include "hpcstruct/structure/loop-location.h"

#include "lib/binary-search.h"

#include <stdlib.h>

#define NONE UINT32_MAX
/* Code of callers is tolerated up to one part in so many of a loop's own bytes. */
#define CALLER_CODE_PART 4

struct locator {
    const struct loop_context *c;
    struct loop_locations *locations;
};

/* ---- conditions ---- */

/* The innermost loop that contains two loops. NO_LOOP is the procedure. */
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

/* Whether loop `a` is loop `b` or lies in it. */
static bool lies_in(const struct loops *loops, uint32_t a, uint32_t b)
{
    return common_loop(loops, a, b) == b;
}

static void add_condition(struct locator *p, uint32_t loop, uint32_t block, bool leaves)
{
    vec_push(&p->locations->conditions, (struct loop_condition){loop, block, leaves});
}

/* Adds the conditions that a block is. An edge stays in the loops that contain both of its ends and
 * leaves the others. The block is a condition of the loops that one of its edges leaves and another
 * stays in. */
static void find_conditions_of(struct locator *p, uint32_t block_number)
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

/* Whether a condition is in the same fragment of the procedure as the header of its loop. */
static bool is_near(const struct locator *p, const struct loop_condition *condition)
{
    const struct block *blocks = p->c->cfg->blocks.at;
    uint32_t header = p->c->loops->all.at[condition->loop].header;
    return blocks[condition->block].fragment == blocks[header].fragment;
}

/* Sorts the conditions. Drops those in other fragments (in cold code) if a loop has near ones. */
static void choose_conditions(struct locator *p)
{
    struct loop_condition *all = p->locations->conditions.at;
    size_t count = p->locations->conditions.n, kept = 0;
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
    p->locations->conditions.n = kept;
}

/* The conditions of one loop. */
struct conditions {
    const struct loop_condition *at;
    size_t n;
};

static struct conditions conditions_of(const struct loop_locations *locations, uint32_t loop)
{
    size_t first =
        partition_point(i, locations->conditions.n, locations->conditions.at[i].loop < loop);
    struct conditions found = {locations->conditions.at + first, 0};
    while (first + found.n < locations->conditions.n && found.at[found.n].loop == loop)
        found.n++;
    return found;
}

/* The range that contains the branch of a condition. */
static const struct source_range *range_of(const struct locator *p,
                                           const struct loop_condition *condition)
{
    const struct block *block = &p->c->cfg->blocks.at[condition->block];
    return source_range_at(p->c->ranges, block->last < block->end ? block->last : block->end - 1);
}

/* ---- the chain ---- */

/* The longest common prefix of the candidate and another chain; NONE: there is no candidate yet. */
static uint32_t narrow(const struct locator *p, uint32_t candidate, uint32_t chain)
{
    return candidate == NONE ? chain : inline_chains_common(p->c->chains, candidate, chain);
}

static uint32_t chain_of_conditions(const struct locator *p, uint32_t loop)
{
    struct conditions conditions = conditions_of(p->locations, loop);
    uint32_t of_leaving = NONE, of_all = NONE;
    for (size_t i = 0; i < conditions.n; i++) {
        uint32_t chain = range_of(p, &conditions.at[i])->chain;
        of_all = narrow(p, of_all, chain);
        if (conditions.at[i].leaves)
            of_leaving = narrow(p, of_leaving, chain);
    }
    return of_leaving != NONE ? of_leaving : of_all;
}

/* Whether a range of a caller may belong to the call of the next function in `candidate`: it has
 * the line of the call, or none. */
static bool is_at_call(const struct inline_chains *chains, uint32_t candidate,
                       const struct source_range *range)
{
    uint32_t depth = chains->all.at[range->chain].depth;
    const struct inline_chain *called =
        &chains->all.at[inline_chains_prefix(chains, candidate, depth + 1)];
    return range->line == 0 ||
           (range->line == called->call_line && range->file == called->call_file);
}

/* Step 2: moves the loop outwards if too much of its code belongs to a caller. */
static uint32_t move_to_caller(const struct locator *p, uint32_t loop, uint32_t candidate)
{
    const struct inline_chains *chains = p->c->chains;
    uint64_t bytes = 0, caller_bytes = 0;
    uint32_t outermost = candidate,
             outermost_off_call = candidate; /* of all ranges; of other lines */
    for (uint32_t i = p->locations->first_range.at[loop]; i != NONE;
         i = p->locations->next_range.at[i]) {
        const struct source_range *range = &p->c->ranges->all.at[i];
        bytes += range->end - range->begin;
        if (range->chain == candidate ||
            inline_chains_common(chains, candidate, range->chain) != range->chain)
            continue;
        caller_bytes += range->end - range->begin;
        outermost = inline_chains_common(chains, outermost, range->chain);
        if (!is_at_call(chains, candidate, range))
            outermost_off_call = inline_chains_common(chains, outermost_off_call, range->chain);
    }
    return caller_bytes * CALLER_CODE_PART > bytes ? outermost : outermost_off_call;
}

static uint32_t find_chain(const struct locator *p, uint32_t loop)
{
    const struct inline_chains *chains = p->c->chains;
    const struct loop_locations *locations = p->locations;
    uint32_t candidate = chain_of_conditions(p, loop);
    for (uint32_t child = locations->first_child.at[loop]; child != NONE;
         child = locations->next_child.at[child])
        candidate = narrow(p, candidate, locations->all.at[child].chain);
    for (uint32_t i = locations->first_range.at[loop]; i != NONE; i = locations->next_range.at[i]) {
        uint32_t chain = p->c->ranges->all.at[i].chain;
        uint32_t common = narrow(p, candidate, chain);
        if (candidate == NONE || common != chain)
            candidate = common;
    }
    if (candidate == NONE)
        return EMPTY_CHAIN;
    return chains->all.at[candidate].depth ? move_to_caller(p, loop, candidate) : candidate;
}

/* ---- the line ---- */

/* A possible line of a loop. */
struct source_line {
    uint32_t file, line;
};

/* The line at which code of `chain` appears in the loop's function, which has the chain `from`: its
 * own line, or that of the inlined call. Line 0 if the code is not inside. */
static struct source_line line_in(const struct inline_chains *chains, uint32_t from, uint32_t chain,
                                  struct source_line line)
{
    const struct source_line unknown = {DEBUG_NONE, 0};
    if (chain == from)
        return line;
    if (inline_chains_common(chains, from, chain) != from)
        return unknown;
    const struct inline_chain *called =
        &chains->all.at[inline_chains_prefix(chains, chain, chains->all.at[from].depth + 1)];
    return (struct source_line){called->call_file, called->call_line};
}

struct line_choice {
    const struct locator *p;
    uint32_t chain;          /* of the loop */
    uint32_t preferred_file; /* that of the loop's function or of its conditions */
    struct source_line best;
    bool best_is_tagged, best_is_preferred;
};

static void consider(struct line_choice *choice, uint32_t chain, struct source_line line)
{
    line = line_in(choice->p->c->chains, choice->chain, chain, line);
    if (line.line == 0 || line.file == DEBUG_NONE)
        return;
    bool tagged = choice->p->c->tagged[line.file], preferred = line.file == choice->preferred_file;
    bool better = choice->best.line == 0;
    if (!better && tagged != choice->best_is_tagged)
        better = !tagged;
    else if (!better && preferred != choice->best_is_preferred)
        better = preferred;
    else if (!better)
        better = line.file == choice->best.file && line.line < choice->best.line;
    if (!better)
        return;
    choice->best = line;
    choice->best_is_tagged = tagged;
    choice->best_is_preferred = preferred;
}

static void consider_range(struct line_choice *choice, const struct source_range *range)
{
    consider(choice, range->chain, (struct source_line){range->file, range->line});
}

static uint32_t file_of_function(const struct locator *p, uint32_t chain)
{
    if (chain == EMPTY_CHAIN)
        return p->c->procedure_file;
    const struct inline_chains *chains = p->c->chains;
    return chains->info->functions.at[chains->all.at[chain].function].file;
}

/* A loop inside begins before the conditions of this loop, as in `do { while (a) f(); } while (b)`:
 * the loop begins where its header does, if that is earlier still. */
static void move_to_header(struct line_choice *choice, uint32_t loop)
{
    const struct locator *p = choice->p;
    const struct block *header = &p->c->cfg->blocks.at[p->c->loops->all.at[loop].header];
    struct line_choice first = *choice;
    first.best = (struct source_line){DEBUG_NONE, 0};
    for (uint32_t i = p->locations->first_range.at[loop]; i != NONE && first.best.line == 0;
         i = p->locations->next_range.at[i]) {
        const struct source_range *range = &p->c->ranges->all.at[i];
        if (range->begin >= header->begin && range->end <= header->end)
            consider_range(&first, range);
    }
    if (first.best.line && first.best.file == choice->best.file &&
        first.best.line < choice->best.line)
        choice->best = first.best;
}

static struct source_line find_line(const struct locator *p, uint32_t loop, uint32_t chain)
{
    const struct loop_locations *locations = p->locations;
    struct line_choice choice = {
        .p = p, .chain = chain, .preferred_file = file_of_function(p, chain)};
    choice.best.file = DEBUG_NONE;
    struct conditions conditions = conditions_of(locations, loop);
    for (size_t i = 0; i < conditions.n; i++)
        consider_range(&choice, range_of(p, &conditions.at[i]));
    if (choice.best.line) {
        choice.preferred_file = choice.best.file; /* the file of the conditions */
        choice.best_is_preferred = true;
    }
    struct source_line own = choice.best;
    for (uint32_t child = locations->first_child.at[loop]; child != NONE;
         child = locations->next_child.at[child]) {
        const struct loop_location *location = &locations->all.at[child];
        consider(&choice, location->chain, (struct source_line){location->file, location->line});
    }
    if (choice.best.line != own.line)
        move_to_header(&choice, loop);
    /* If no condition has a line, take the first range that has one. */
    for (uint32_t i = locations->first_range.at[loop]; i != NONE && choice.best.line == 0;
         i = locations->next_range.at[i])
        consider_range(&choice, &p->c->ranges->all.at[i]);
    if (choice.best.line == 0)
        choice.best.file = file_of_function(p, chain);
    return choice.best;
}

/* ---- the whole ---- */

#define fill(v, count, value)                                                                      \
    do {                                                                                           \
        (v)->n = 0;                                                                                \
        for (size_t fill_index = 0; fill_index < (count); fill_index++)                            \
            vec_push(v, value);                                                                    \
    } while (0)

/* Lists the ranges and the loops directly inside each loop, in their order. */
static void link_contents(struct locator *p)
{
    const struct loops *loops = p->c->loops;
    const struct source_ranges *ranges = p->c->ranges;
    struct loop_locations *locations = p->locations;
    fill(&locations->first_range, loops->all.n, NONE);
    fill(&locations->next_range, ranges->all.n, NONE);
    fill(&locations->first_child, loops->all.n, NONE);
    fill(&locations->next_child, loops->all.n, NONE);
    for (size_t i = ranges->all.n; i-- > 0;) {
        uint32_t loop = ranges->all.at[i].loop;
        if (loop == NO_LOOP)
            continue;
        locations->next_range.at[i] = locations->first_range.at[loop];
        locations->first_range.at[loop] = (uint32_t)i;
    }
    for (size_t i = loops->all.n; i-- > 0;) {
        uint32_t parent = loops->all.at[i].parent;
        if (parent == NO_LOOP)
            continue;
        locations->next_child.at[i] = locations->first_child.at[parent];
        locations->first_child.at[parent] = (uint32_t)i;
    }
}

void loop_locations_find(struct loop_locations *locations, const struct loop_context *context)
{
    struct locator p = {context, locations};
    const struct loop_location unknown = {EMPTY_CHAIN, DEBUG_NONE, 0};
    fill(&locations->all, context->loops->all.n, unknown);
    if (locations->all.n == 0)
        return;
    link_contents(&p);
    locations->conditions.n = 0;
    for (uint32_t i = 0; i < context->cfg->blocks.n; i++)
        find_conditions_of(&p, i);
    choose_conditions(&p);
    for (size_t i = locations->all.n; i-- > 0;) {
        struct loop_location *location = &locations->all.at[i];
        location->chain = find_chain(&p, (uint32_t)i);
        struct source_line line = find_line(&p, (uint32_t)i, location->chain);
        location->file = line.file;
        location->line = line.line;
    }
}

void loop_locations_free(struct loop_locations *locations)
{
    vec_free(&locations->all);
    vec_free(&locations->conditions);
    vec_free(&locations->first_range);
    vec_free(&locations->next_range);
    vec_free(&locations->first_child);
    vec_free(&locations->next_child);
}
