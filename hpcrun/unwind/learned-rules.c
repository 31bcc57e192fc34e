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
