/* Signal handler: everything here runs in the sampling handler.
 *
 * A thread's cache from pc to unwind rule, filled on a miss from the loader's table, the
 * .eh_frame_hdr and the CFI.
 *
 * Between two samples the program uses the processor's caches for a millisecond or more. So the
 * time of a look-up depends on how few cache lines and pages it touches, and on how rarely it
 * misses:
 *  - A rule holds for a range of addresses, often the whole body of a function. An entry stands for
 *    the part of the range in one block of 256 bytes of code, so a new address hits if its
 * neighbors were seen.
 *  - An entry is one word: part of the block's number, the range within the block, and the index of
 *    the rule in a table of distinct rules, of which programs have a few hundred.
 *  - The entries of a block share one cache line; adjacent blocks have adjacent lines. */
#ifndef HPCRUN_UNWIND_RULE_CACHE_H
#define HPCRUN_UNWIND_RULE_CACHE_H

#include "hpcrun/code/module-ranges.h"
#include "hpcrun/unwind/code-walk.h"
#include "hpcrun/unwind/learned-rules.h"
#include "hpcrun/unwind/memory.h"
#include "hpcrun/unwind/rule.h"

#define RULE_BLOCK_BITS 8
#define RULE_SET_BITS   11
#define RULE_WAYS       8
#define RULE_DISTINCT   4096
#define RULE_MODULES    8

/* A module in which this thread has looked up addresses. */
struct known_module {
    uint64_t start, end, bias, ip_minus_pc;
    bool own, has_index; /* it is hpcrun's library; `index` is open */
    struct cfi_index index;
};

#define RULE_CALLS 16

/* A system call whose number is in its code: the address after the instruction. */
struct known_call {
    uint64_t pc;
    long number;
};

/* Zeroed memory is an empty cache. */
struct rule_cache {
    /* From the most significant bit: the block's number above the set's (28 bits), first and last
     * offset of the range in the block (8 each), number of the rule + 1 (16; 0: empty). */
    struct rule_set {
        _Alignas(64) uint64_t way[RULE_WAYS];
    } set[1u << RULE_SET_BITS];
    struct rule rule[RULE_DISTINCT]; /* the distinct rules, in order of appearance */
    unsigned rule_count;
    uint16_t rule_index[2 * RULE_DISTINCT]; /* hash table of their indices + 1 */
    struct known_module module[RULE_MODULES];
    unsigned next_module; /* index of the module to replace next */
    uint32_t generation;  /* modules_generation() when the entries were made */
    struct cfi_scratch scratch;
    struct known_call call[RULE_CALLS]; /* by pc; for restart/call-number.h */
    struct learned_rules learned;       /* for code without unwind information */
    struct code_walk walk;
    struct memory_pages pages;
};

/* Computes the rule of `pc` and adds it. In a guarded region: it reads modules' sections. */
struct rule rule_cache_fill(struct rule_cache *cache, uint64_t pc);

/* Empties the cache if modules were unloaded since. Before the look-ups of a sample. */
void rule_cache_renew(struct rule_cache *cache, uint32_t generation);

/* The ip of `pc` for the tree. In a guarded region. */
uint64_t rule_cache_ip(struct rule_cache *cache, uint64_t pc);

/* The bounds of the function that contains `pc`, by its FDE; false if it has none. In a guarded region. */
bool rule_cache_code(struct rule_cache *cache, uint64_t pc, uint64_t *begin, uint64_t *end);

/* The begin of the function that contains `pc`, by its FDE; 0 if it has none. In a guarded region.
 */
uint64_t rule_cache_function(struct rule_cache *cache, uint64_t pc);

/* The begin of the first function after `pc` that has an FDE, or the end of the module; 0 in no
 * module. In a guarded region. */
uint64_t rule_cache_next_function(struct rule_cache *cache, uint64_t pc);

/* One of these questions, asked in a guarded region of its own; 0 if the module can't be read, for
 * example because another thread unloads it. `guard` is that of the calling thread (memory.h). */
typedef uint64_t rule_cache_question(struct rule_cache *cache, uint64_t pc);
uint64_t rule_cache_ask(struct guard *guard, rule_cache_question *question,
                        struct rule_cache *cache, uint64_t pc);

/* The rule of `pc`, a code address (return address - 1 for a caller's frame). */
static inline struct rule rule_cache_get(struct rule_cache *cache, uint64_t pc)
{
    uint64_t block = pc >> RULE_BLOCK_BITS;
    const struct rule_set *set = &cache->set[block & ((1u << RULE_SET_BITS) - 1)];
    uint64_t tag = pc << 17 >> (17 + RULE_BLOCK_BITS + RULE_SET_BITS);
    uint64_t offset = pc & ((1u << RULE_BLOCK_BITS) - 1);
    for (unsigned i = 0; i < RULE_WAYS; i++) {
        uint64_t way = set->way[i];
        if (way >> 36 == tag && (way >> 28 & 0xff) <= offset && (way >> 20 & 0xff) >= offset &&
            (way & 0xffff))
            return cache->rule[(way & 0xffff) - 1];
    }
    return rule_cache_fill(cache, pc);
}

#endif
