#include "hpcrun/unwind/rule-cache.h"

#include "hpcrun/code/module-instances.h"
#include "hpcrun/unwind/rule.h"

#include <elf.h>
#include <string.h>

_Static_assert(RULE_BLOCK_BITS == 8 && RULE_SET_BITS == 11, "the layout of a way fits");

/* Bytes of code at a module's entry point that may lack unwind information. The loader's entry code
 * calls the constructors of libraries and jumps to the program. Entry code has no caller. */
#define ENTRY_CODE_BYTES 96

static bool is_entry_code(uint64_t pc, const struct known_module *module)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)(uintptr_t)module->start;
    return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_entry != 0 &&
           pc - (module->bias + header->e_entry) < ENTRY_CODE_BYTES;
}

static struct known_module *find_module(struct rule_cache *cache, uint64_t pc)
{
    for (unsigned i = 0; i < RULE_MODULES; i++) {
        struct known_module *module = &cache->module[i];
        if (pc - module->start < module->end - module->start)
            return module;
    }
    struct module_range range;
    if (!module_range_find(pc, &range))
        return NULL;
    struct known_module *module = &cache->module[cache->next_module++ % RULE_MODULES];
    module->end = module->start = 0; /* no module, in case a read faults here */
    module->ip_minus_pc = modules_ip(pc, &range) - pc;
    module->own = modules_is_own(&range);
    module->has_index = range.eh_frame_hdr && cfi_open(&module->index, range.eh_frame_hdr);
    module->bias = range.bias;
    module->start = range.start;
    module->end = range.end;
    return module;
}

uint64_t rule_cache_ip(struct rule_cache *cache, uint64_t pc)
{
    const struct known_module *module = find_module(cache, pc);
    return module ? pc + module->ip_minus_pc : modules_ip_outside(pc);
}

static const struct cfi_row *find_row(struct rule_cache *cache, struct known_module *module,
                                      uint64_t pc)
{
    return module->has_index ? cfi_row_at(pc, &module->index, &cache->scratch) : NULL;
}

bool rule_cache_code(struct rule_cache *cache, uint64_t pc, uint64_t *begin, uint64_t *end)
{
    struct known_module *module = find_module(cache, pc);
    const struct cfi_row *row = module ? find_row(cache, module, pc) : NULL;
    if (!row)
        return false;
    *begin = row->function;
    *end = row->function_end;
    return true;
}

uint64_t rule_cache_function(struct rule_cache *cache, uint64_t pc)
{
    uint64_t begin, end;
    return rule_cache_code(cache, pc, &begin, &end) ? begin : 0;
}

uint64_t rule_cache_ask(struct guard *guard, rule_cache_question *question,
                        struct rule_cache *cache, uint64_t pc)
{
    volatile uint64_t answer = 0;
    if (guard_enter(guard) == 0) {
        answer = question(cache, pc);
        guard_leave(guard);
    }
    return answer;
}

uint64_t rule_cache_next_function(struct rule_cache *cache, uint64_t pc)
{
    struct known_module *module = find_module(cache, pc);
    uint64_t next = module && module->has_index ? cfi_next_function(pc, &module->index) : 0;
    return next || !module ? next : module->end;
}

/* A rule, and the addresses for which it holds. */
struct rule_range {
    struct rule rule;
    uint64_t first, last;
};

/* Splits the range at the address from which the code may be about to resume another frame
 * (rule.h). */
static void split_at_eh_return(struct rule_cache *cache, struct known_module *module, uint64_t pc,
                               struct rule_range *found)
{
    uint64_t function = cache->scratch.row.function, end = cache->scratch.row.end;
    const struct cfi_row *next = find_row(cache, module, end);
    if (!next || next->function != function || !eh_return_is_done(next))
        return;
    uint64_t begin = eh_return_begin(found->first, end, module->start, module->end);
    if (pc < begin) {
        found->last = begin - 1;
    } else {
        found->first = begin;
        found->rule.kind = RULE_EH_RETURNING;
    }
}

static bool function_begins_at(struct rule_cache *cache, struct known_module *module, uint64_t pc)
{
    const struct cfi_row *row = find_row(cache, module, pc);
    return row && row->function == pc;
}

#define PLT_ENTRY 16 /* bytes */

/* Sets the rule of an address with unwind information, and the other addresses for which it holds: of
 * a PLT entry, none. */
static void set_rule(struct rule_cache *cache, struct known_module *module, uint64_t pc,
                     const struct cfi_row *row, struct rule_range *found)
{
    found->rule = rule_from_row(row, pc);
    if (row->cfa_expr) {
        found->rule.begins = found->rule.kind == RULE_CFA_SP && (pc + 1) % PLT_ENTRY == 0;
    } else {
        found->first = row->start;
        found->last = row->end - 1;
    }
    if (eh_return_may_follow(row))
        split_at_eh_return(cache, module, pc, found);
}

static struct rule_range look_up(struct rule_cache *cache, uint64_t pc)
{
    struct rule_range found = {.rule.kind = RULE_NO_FDE, .first = pc, .last = pc};
    struct known_module *module = find_module(cache, pc);
    if (!module) { /* modules begin and end at pages, so there is none in the whole block */
        found.first = 0;
        found.last = UINT64_MAX;
        return found;
    }
    const struct cfi_row *row = find_row(cache, module, pc);
    uint64_t end = row ? row->function_end : pc + 1;
    if (row)
        set_rule(cache, module, pc, row, &found);
    else if (is_entry_code(pc, module))
        found.rule.kind = RULE_OUTERMOST;
    if (pc + 1 == end) {
        found.first = pc;
        found.rule.begins |= function_begins_at(cache, module, end);
    } else if (found.last + 1 == end) {
        found.last--;
    }
    found.rule.hidden = module->own;
    return found;
}

static void clear(struct rule_cache *cache)
{
    memset(cache->set, 0, sizeof cache->set);
    memset(cache->rule_index, 0, sizeof cache->rule_index);
    memset(cache->module, 0, sizeof cache->module);
    memset(cache->call, 0, sizeof cache->call);
    memset(&cache->scratch, 0, sizeof cache->scratch);
    learned_clear(&cache->learned);
    cache->rule_count = 0;
}

void rule_cache_renew(struct rule_cache *cache, uint32_t generation)
{
    if (cache->generation != generation)
        clear(cache);
    cache->generation = generation;
}

/* The index of a rule in the table of distinct rules; adds it if it is new. */
static unsigned rule_index_of(struct rule_cache *cache, struct rule rule)
{
    uint64_t word;
    memcpy(&word, &rule, sizeof word);
    if (cache->rule_count == RULE_DISTINCT)
        clear(cache);
    unsigned i = (unsigned)(word * 0x9e3779b97f4a7c15u >> 32) % (2 * RULE_DISTINCT);
    for (; cache->rule_index[i]; i = (i + 1) % (2 * RULE_DISTINCT))
        if (memcmp(&cache->rule[cache->rule_index[i] - 1], &rule, sizeof rule) == 0)
            return cache->rule_index[i] - 1u;
    cache->rule[cache->rule_count] = rule;
    cache->rule_index[i] = (uint16_t)++cache->rule_count;
    return cache->rule_count - 1;
}

/* Puts the new entry first, and drops the oldest. */
static void insert(struct rule_set *set, uint64_t way)
{
    for (unsigned i = RULE_WAYS - 1; i > 0; i--)
        set->way[i] = set->way[i - 1];
    set->way[0] = way;
}

struct rule rule_cache_fill(struct rule_cache *cache, uint64_t pc)
{
    struct rule_range found = look_up(cache, pc);
    uint64_t number = rule_index_of(cache, found.rule);
    uint64_t block = pc >> RULE_BLOCK_BITS, block_start = block << RULE_BLOCK_BITS;
    uint64_t block_last = block_start + (1u << RULE_BLOCK_BITS) - 1;
    uint64_t first = found.first > block_start ? found.first - block_start : 0;
    uint64_t last = (found.last < block_last ? found.last : block_last) - block_start;
    uint64_t tag = pc << 17 >> (17 + RULE_BLOCK_BITS + RULE_SET_BITS);
    insert(&cache->set[block & ((1u << RULE_SET_BITS) - 1)],
           tag << 36 | first << 28 | last << 20 | (number + 1));
    return found.rule;
}
