#include "hpcrun/logical/agents.h"

#include "hpcrun/sys.h"

#include <string.h>

struct claim {
    uint64_t start, end;
    unsigned agent;
};

/* Sorted and immutable: a change makes a new one. The old one stays, handlers may be reading it;
 * claims change with the loading of runtimes, a few times in a process's life. */
struct claims {
    size_t count;
    struct claim at[];
};

static _Atomic(const struct claims *) current;

/* The first claim that ends after `address`. */
static size_t position(const struct claims *claims, uint64_t address)
{
    size_t low = 0, high = claims->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (claims->at[middle].end > address)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

int agents_of(uint64_t pc)
{
    const struct claims *claims = atomic_load_explicit(&current, memory_order_acquire);
    if (!claims)
        return -1;
    size_t at = position(claims, pc);
    return at < claims->count && claims->at[at].start <= pc ? (int)claims->at[at].agent : -1;
}

static struct claims *new_claims(size_t count)
{
    return sys_pages(sizeof(struct claims) + count * sizeof(struct claim));
}

bool agents_claim(unsigned index, uint64_t start, uint64_t end)
{
    static const struct claims none;
    const struct claims *old = atomic_load(&current);
    if (!old)
        old = &none;
    size_t at = position(old, start);
    if (start >= end || (at < old->count && old->at[at].start < end))
        return false;
    struct claims *claims = new_claims(old->count + 1);
    if (!claims)
        return false;
    memcpy(claims->at, old->at, at * sizeof *claims->at);
    claims->at[at] = (struct claim){start, end, index};
    memcpy(claims->at + at + 1, old->at + at, (old->count - at) * sizeof *claims->at);
    claims->count = old->count + 1;
    atomic_store_explicit(&current, claims, memory_order_release);
    return true;
}

void agents_give_up(uint64_t start, uint64_t end)
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
