#include "hpcrun/unwind/learned-rules.h"

#include <string.h>

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

void learned_clear(struct learned_rules *rules)
{
    if (rules->any)
        memset(rules, 0, sizeof *rules);
}
