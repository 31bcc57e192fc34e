#include "agents/common/runtime-copies.h"

#include "agents/common/loaded-modules.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Without locks of its own: if another thread had one during a fork, the child would wait for it forever. */

/* ---- copies ---- */

static struct runtime_copy *find_start(struct runtime_copy *copy, uint64_t start)
{
    while (copy && copy->start != start)
        copy = copy->next;
    return copy;
}

/* Zeroed memory for a copy; NULL: none. */
static struct runtime_copy *allocate(struct runtime_copies *copies)
{
    struct runtime_copy *copy = calloc(1, copies->copy_bytes);
    bool is_taken = copy || atomic_exchange(&copies->is_reserve_taken, true);
    return is_taken ? copy : copies->reserve;
}

/* Gives back the memory of a copy that was not added to the list. */
static void discard(struct runtime_copies *copies, struct runtime_copy *copy)
{
    if (copy != copies->reserve) {
        free(copy);
        return;
    }
    memset(copy, 0, copies->copy_bytes);
    atomic_store(&copies->is_reserve_taken, false);
}

/* Adds a copy, unless another thread was faster: all threads must use the same structure. */
static struct runtime_copy *add_copy(struct runtime_copies *copies, struct runtime_copy *new)
{
    struct runtime_copy *first = atomic_load(&copies->first);
    do {
        struct runtime_copy *copy = find_start(first, new->start);
        if (copy) {
            discard(copies, new);
            return copy;
        }
        new->next = first;
    } while (!atomic_compare_exchange_weak(&copies->first, &first, new));
    return new;
}

/* The copy in a module. */
static struct runtime_copy *copy_in(struct runtime_copies *copies,
                                    const struct pinned_module *module)
{
    struct runtime_copy *known = find_start(atomic_load(&copies->first), module->range.start);
    struct runtime_copy *copy = known ? NULL : allocate(copies);
    if (!copy)
        return known;
    copies->fill(copy, module->map, module->library);
    copy->start = module->range.start;
    copy->end = module->range.end;
    return add_copy(copies, copy);
}

struct runtime_copy *copy_of_module(struct runtime_copies *copies, uint64_t address)
{
    struct pinned_module module;
    if (!module_pin(address, NULL, &module))
        return NULL;
    const void *function = dlsym(module.library, copies->symbol);
    bool defines = is_in_range((uint64_t)function, module.range);
    struct runtime_copy *found = defines ? copy_in(copies, &module) : NULL;
    module_unpin(&module);
    return found;
}

struct runtime_copy *copy_at(struct runtime_copies *copies, uint64_t address)
{
    struct runtime_copy *copy = atomic_load(&copies->first);
    while (copy && !is_in_range(address, (struct code_range){copy->start, copy->end}))
        copy = copy->next;
    return copy;
}

struct runtime_copy *copy_any(struct runtime_copies *copies)
{
    struct runtime_copy *copy = atomic_load(&copies->first);
    while (copy && copy->end <= 1)
        copy = copy->next;
    return copy;
}

/* ---- callers ---- */

/* Never changed or freed once published: another thread may be reading it. */
struct known_caller {
    uint64_t address;
    struct runtime_copy *copy;
};

#define MAX_PROBES 16 /* a caller that finds no slot is looked up at each call */

static unsigned slot_of(uint64_t address, unsigned probe)
{
    return ((unsigned)((address * 0x9e3779b97f4a7c15u) >> 48) + probe) % CALLER_SLOTS;
}

static void publish(struct runtime_copies *copies, struct known_caller *caller)
{
    for (unsigned i = 0; i < MAX_PROBES; i++) {
        const struct known_caller *none = NULL;
        if (atomic_compare_exchange_strong(&copies->callers[slot_of(caller->address, i)], &none,
                                           caller))
            return;
    }
    free(caller);
}

/* The function to which the dynamic linker would have bound a reference of the caller's module without
 * this library; 0: none. */
static uint64_t bound_function(const char *symbol, const struct pinned_module *caller)
{
    uint64_t next = (uint64_t)dlsym(RTLD_NEXT, symbol);
    uint64_t own = caller->library ? (uint64_t)dlsym(caller->library, symbol) : 0;
    bool is_own = own && is_in_range(own, caller->range);
    return is_own || !next ? own : next;
}

/* The copy that the dynamic linker says. A caller in the agent is none: a body of the program ended
 * with a jump to the library. */
static struct runtime_copy *bound_copy(struct runtime_copies *copies, uint64_t address)
{
    struct pinned_module caller, none = {0};
    bool is_pinned = module_pin(address, NULL, &caller);
    bool is_module = is_pinned && !is_in_range((uint64_t)bound_copy, caller.range);
    uint64_t bound = bound_function(copies->symbol, is_module ? &caller : &none);
    struct runtime_copy *copy = bound ? copy_at(copies, bound) : NULL;
    if (bound && !copy)
        copy = copy_of_module(copies, bound);
    if (is_pinned)
        module_unpin(&caller);
    return copy || (is_module && !bound) ? copy : copy_any(copies);
}

/* First without the dynamic linker (loaded-modules.h), which suffices for the library's own calls, and if the process
 * has one copy: the caller may execute a part of a region of a library's constructor. */
static struct runtime_copy *look_up(struct runtime_copies *copies, uint64_t address)
{
    struct code_range range;
    struct runtime_copy *known = copy_at(copies, address);
    if (!known && only_definition(copies->symbol, (uint64_t)look_up, address, &range))
        known = copy_at(copies, range.start);
    return known ? known : bound_copy(copies, address);
}

static struct runtime_copy *add_caller(struct runtime_copies *copies, uint64_t address)
{
    struct runtime_copy *copy = look_up(copies, address);
    struct known_caller *caller = copy ? malloc(sizeof *caller) : NULL;
    if (caller) {
        *caller = (struct known_caller){address, copy};
        publish(copies, caller);
    }
    return copy;
}

struct runtime_copy *copy_of_caller(struct runtime_copies *copies, uint64_t address)
{
    for (unsigned i = 0; i < MAX_PROBES; i++) {
        const struct known_caller *caller =
            atomic_load_explicit(&copies->callers[slot_of(address, i)], memory_order_acquire);
        if (caller && caller->address == address)
            return caller->copy;
    }
    return add_caller(copies, address);
}

/* ---- unloading ---- */

void copies_forget_module(struct runtime_copies *copies, uint64_t start, uint64_t end)
{
    const struct code_range range = {start, end};
    for (unsigned i = 0; i < CALLER_SLOTS; i++) {
        const struct known_caller *caller = atomic_load(&copies->callers[i]);
        if (caller &&
            (is_in_range(caller->address, range) || is_in_range(caller->copy->start, range)))
            atomic_store(&copies->callers[i], NULL);
    }
    for (struct runtime_copy *copy = atomic_load(&copies->first); copy; copy = copy->next)
        if (is_in_range(copy->start, range)) {
            copy->end = 1; /* first: no address is between an old start and this */
            copy->start = 1;
        }
}
