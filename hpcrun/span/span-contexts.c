#include "hpcrun/span/span-contexts.h"

#include "hpcrun/base/sys.h"

static struct span_context *contexts;
static _Atomic uint32_t end;
static atomic_bool overflowed;

bool span_contexts_init(void)
{
    contexts = sys_pages(SPAN_CONTEXTS * sizeof *contexts);
    end = CONTEXT_PROGRAM + 1;
    return contexts != NULL;
}

const struct span_context *span_context(uint32_t id)
{
    return &contexts[id];
}

uint32_t span_contexts_end(void)
{
    uint32_t used = atomic_load(&end);
    return used < SPAN_CONTEXTS ? used : SPAN_CONTEXTS;
}

bool span_contexts_overflowed(void)
{
    return atomic_load(&overflowed);
}

/* The innermost context of the procedure among `from` and its callers, or CONTEXT_NONE. */
static uint32_t find_recursion(uint32_t from, uint64_t procedure)
{
    for (uint32_t at = from; at != CONTEXT_PROGRAM; at = contexts[at].parent)
        if (contexts[at].procedure == procedure)
            return at;
    return CONTEXT_NONE;
}

/* The context among the children from `first` to before `last`, or CONTEXT_NONE. */
static uint32_t find_child(uint32_t first, uint32_t last, uint64_t procedure, uint64_t site)
{
    for (uint32_t at = first; at != last; at = contexts[at].next)
        if (contexts[at].procedure == procedure && contexts[at].site == site)
            return at;
    return CONTEXT_NONE;
}

/* Adds a child. `seen` is the first child that the caller compared with. Another worker may add the
 * same one at the same time. Then the second of them finds it among the children before `seen`, and
 * the id that it took stays unused. */
static uint32_t add_child(uint32_t parent, uint32_t seen, uint64_t procedure, uint64_t site)
{
    uint32_t id = atomic_load(&end) < SPAN_CONTEXTS ? atomic_fetch_add(&end, 1) : SPAN_CONTEXTS;
    if (id >= SPAN_CONTEXTS) {
        atomic_store(&overflowed, true);
        return parent;
    }
    contexts[id].parent = parent;
    contexts[id].procedure = procedure;
    contexts[id].site = site;
    for (uint32_t first = seen;;) {
        contexts[id].next = first;
        uint32_t before = first;
        if (atomic_compare_exchange_strong(&contexts[parent].first_child, &first, id))
            return id;
        uint32_t other = find_child(first, before, procedure, site);
        if (other != CONTEXT_NONE)
            return other;
    }
}

uint32_t span_context_of(uint32_t parent, uint64_t procedure, uint64_t site)
{
    uint32_t found = find_recursion(parent, procedure);
    if (found != CONTEXT_NONE)
        return found;
    uint32_t first = atomic_load(&contexts[parent].first_child);
    found = find_child(first, CONTEXT_PROGRAM, procedure, site);
    return found != CONTEXT_NONE ? found : add_child(parent, first, procedure, site);
}
