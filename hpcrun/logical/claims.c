#include "hpcrun/logical/claims.h"

#include "hpcrun/base/sys.h"
#include "lib/binary-search.h"

#include <stdatomic.h>
#include <string.h>

struct claim {
    uint64_t start, end;
    uint32_t agent, tag;
};

/* Sorted and immutable: a change makes a new table. The old one is never freed, since handlers may
 * be reading it; claims change only when runtimes are loaded, a few times in a process's life. */
struct claims {
    size_t count;
    struct claim at[];
};

static _Atomic(const struct claims *) current;

/* The first claim that ends after `address`. */
static size_t position(const struct claims *claims, uint64_t address)
{
    return partition_point(i, claims->count, claims->at[i].end <= address);
}

/* The claim that covers an address, or NULL. */
static const struct claim *claim_at(uint64_t pc)
{
    const struct claims *claims = atomic_load_explicit(&current, memory_order_acquire);
    size_t at = claims ? position(claims, pc) : 0;
    return claims && at < claims->count && claims->at[at].start <= pc ? &claims->at[at] : NULL;
}

int claims_agent(uint64_t pc)
{
    const struct claim *claim = claim_at(pc);
    return claim ? (int)claim->agent : -1;
}

bool claims_find(unsigned index, uint64_t pc, struct agent_claim *found)
{
    const struct claim *claim = claim_at(pc);
    if (!claim || claim->agent != index)
        return false;
    *found = (struct agent_claim){claim->start, claim->end, claim->tag};
    return true;
}

static struct claims *new_claims(size_t count)
{
    return sys_pages(sizeof(struct claims) + count * sizeof(struct claim));
}

/* Inserts into a table with room. False if the range is empty or overlaps another claim. */
static bool insert(struct claims *claims, const struct claim *claim)
{
    size_t at = position(claims, claim->start);
    if (claim->start >= claim->end || (at < claims->count && claims->at[at].start < claim->end))
        return false;
    memmove(claims->at + at + 1, claims->at + at, (claims->count - at) * sizeof *claim);
    claims->at[at] = *claim;
    claims->count++;
    return true;
}

bool claims_add(unsigned index, const struct agent_claim *ranges, size_t count)
{
    static const struct claims none;
    const struct claims *old = atomic_load(&current);
    if (!old)
        old = &none;
    struct claims *claims = new_claims(old->count + count);
    if (!claims)
        return false;
    memcpy(claims, old, sizeof *old + old->count * sizeof *old->at);
    for (size_t i = 0; i < count; i++)
        if (!insert(claims,
                    &(struct claim){ranges[i].start, ranges[i].end, index, ranges[i].tag})) {
            sys_pages_free(claims, sizeof *claims + (old->count + count) * sizeof *claims->at);
            return false;
        }
    atomic_store_explicit(&current, claims, memory_order_release);
    return true;
}

void claims_remove(uint64_t start, uint64_t end)
{
    const struct claims *old = atomic_load(&current);
    struct claims *claims = old ? new_claims(old->count) : NULL;
    if (!claims)
        return;
    for (size_t i = 0; i < old->count; i++)
        if (old->at[i].end <= start || old->at[i].start >= end)
            claims->at[claims->count++] = old->at[i];
    if (claims->count < old->count)
        atomic_store_explicit(&current, claims, memory_order_release);
    else
        sys_pages_free(claims, sizeof(struct claims) + old->count * sizeof(struct claim));
}
