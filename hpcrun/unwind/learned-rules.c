#include "hpcrun/unwind/learned-rules.h"

#define CONFIRMATIONS 3
#define EXCEPTIONS    8 /* one in so many does not matter */

static struct learned_rule *set_of(struct learned_rules *rules, uint64_t pc)
{
    return rules->way[pc * 0x9e3779b97f4a7c15u >> (64 - LEARNED_SET_BITS)];
}

struct learned_rule *learned_find(struct learned_rules *rules, uint64_t pc, uint64_t code)
{
    struct learned_rule *set = set_of(rules, pc);
    for (unsigned i = 0; i < LEARNED_WAYS; i++)
        if (set[i].pc == pc)
            return set[i].code == code ? &set[i] : NULL;
    return NULL;
}

struct learned_rule *learned_add(struct learned_rules *rules, uint64_t pc, uint64_t code)
{
    struct learned_rule *set = set_of(rules, pc);
    unsigned place = 0;
    while (place < LEARNED_WAYS - 1 && set[place].pc != pc)
        place++;
    for (; place > 0; place--)
        set[place] = set[place - 1];
    rules->any = true;
    set[0] = (struct learned_rule){.pc = pc, .code = code};
    return set;
}

/* ---- ranges ---- */

static unsigned range_set(uint64_t pc)
{
    return (unsigned)(pc / LEARNED_BLOCK * 0x9e3779b97f4a7c15u >> (64 - LEARNED_RANGE_SET_BITS));
}

const struct learned_range *learned_range_find(const struct learned_rules *rules, uint64_t pc)
{
    const struct learned_range *set = rules->range[range_set(pc)];
    for (unsigned i = 0; i < LEARNED_WAYS; i++)
        if (pc >= set[i].first && pc <= set[i].last)
            return &set[i];
    return NULL;
}

/* Whether the two are one range, or adjacent. */
static bool join(const struct learned_range *a, const struct learned_range *b)
{
    return rule_is_same(a->found.rule, b->found.rule) && a->found.saved_sp == b->found.saved_sp &&
           a->first <= b->last + 1 && b->first <= a->last + 1;
}

/* The part of a range in one block: extends an entry, or replaces the oldest. */
static void add_part(struct learned_rules *rules, struct learned_range part)
{
    struct learned_range *set = rules->range[range_set(part.first)];
    unsigned place = 0;
    while (place < LEARNED_WAYS - 1 && !join(&set[place], &part))
        place++;
    if (join(&set[place], &part)) {
        part.first = part.first < set[place].first ? part.first : set[place].first;
        part.last = part.last > set[place].last ? part.last : set[place].last;
    }
    for (; place > 0; place--)
        set[place] = set[place - 1];
    set[0] = part;
}

void learned_range_add(struct learned_rules *rules, uint64_t first, uint64_t last,
                       struct stack_rule found)
{
    rules->any = true;
    for (uint64_t next; first <= last; first = next) {
        next = (first / LEARNED_BLOCK + 1) * LEARNED_BLOCK;
        add_part(rules, (struct learned_range){first, last < next ? last : next - 1, found});
    }
}

/* ---- frame pointers ---- */

static unsigned region_of(uint64_t pc)
{
    return (unsigned)(pc >> LEARNED_REGION_BITS) % LEARNED_REGIONS;
}

bool learned_has_frame_pointers(const struct learned_rules *rules, uint64_t pc)
{
    const struct learned_region *region = &rules->region[region_of(pc)];
    return region->number == pc >> LEARNED_REGION_BITS && region->agree >= CONFIRMATIONS &&
           region->agree / EXCEPTIONS >= region->differ;
}

void learned_note_frame_pointer(struct learned_rules *rules, uint64_t pc, bool agrees)
{
    struct learned_region *region = &rules->region[region_of(pc)];
    uint64_t number = pc >> LEARNED_REGION_BITS;
    rules->any = true;
    if (region->number != number)
        *region = (struct learned_region){.number = number};
    region->agree += agrees;
    region->differ += !agrees;
}

void learned_clear(struct learned_rules *rules)
{
    if (rules->any)
        memset(rules, 0, sizeof *rules);
}
