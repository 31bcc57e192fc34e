#include "agents/common/runtime-copies.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The lock is not held when the dynamic linker is called: that has a lock of its own, and hpcrun's
 * dlclose announces modules to agents. */

static bool is_in(uint64_t address, uint64_t start, uint64_t end)
{
    return address >= start && address < end;
}

/* ---- modules ---- */

static struct link_map *module_at(uint64_t address)
{
    Dl_info info;
    struct link_map *map = NULL;
    return dladdr1((const void *)address, &info, (void **)&map, RTLD_DL_LINKMAP) ? map : NULL;
}

static void set_range(const struct dl_phdr_info *info, struct code_range *range)
{
    range->start = UINT64_MAX;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type != PT_LOAD)
            continue;
        range->start = start < range->start ? start : range->start;
        range->end = start + header->p_memsz > range->end ? start + header->p_memsz : range->end;
    }
}

struct search {
    const struct link_map *map;
    struct code_range range;
};

static int find_range(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct search *search = data;
    if (info->dlpi_addr != search->map->l_addr || strcmp(info->dlpi_name, search->map->l_name) != 0)
        return 0;
    set_range(info, &search->range);
    return 1;
}

static struct code_range range_of(const struct link_map *map)
{
    struct search search = {.map = map};
    dl_iterate_phdr(find_range, &search);
    return search.range;
}

static struct code_range program;
static pthread_once_t program_once = PTHREAD_ONCE_INIT;

/* The dynamic linker lists the main program first. */
static int take_first(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    set_range(info, data);
    return 1;
}

static void find_program(void)
{
    dl_iterate_phdr(take_first, &program);
}

bool is_in_program(uint64_t address, struct code_range *range)
{
    pthread_once(&program_once, find_program);
    *range = program;
    return is_in(address, program.start, program.end);
}

/* ---- copies ---- */

/* Under the lock. */
static struct runtime_copy *find_start(const struct runtime_copies *copies, uint64_t start)
{
    struct runtime_copy *copy = copies->first;
    while (copy && copy->start != start)
        copy = copy->next;
    return copy;
}

static struct runtime_copy *known_copy(struct runtime_copies *copies, uint64_t start)
{
    pthread_mutex_lock(&copies->lock);
    struct runtime_copy *found = find_start(copies, start);
    pthread_mutex_unlock(&copies->lock);
    return found;
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
    pthread_mutex_lock(&copies->lock);
    struct runtime_copy *copy = find_start(copies, new->start);
    if (!copy) {
        copy = new;
        copy->next = copies->first;
        copies->first = copy;
    }
    pthread_mutex_unlock(&copies->lock);
    if (copy != new)
        discard(copies, new);
    return copy;
}

/* The copy in a module. */
static struct runtime_copy *copy_in(struct runtime_copies *copies, const struct link_map *map)
{
    struct code_range range = range_of(map);
    struct runtime_copy *known = known_copy(copies, range.start);
    void *library = known ? NULL : dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return known;
    struct runtime_copy *copy = allocate(copies);
    if (copy) {
        copies->fill(copy, map, library);
        copy->start = range.start;
        copy->end = range.end;
        copy = add_copy(copies, copy);
    }
    dlclose(library);
    return copy;
}

struct runtime_copy *copy_of_path(struct runtime_copies *copies, const char *path)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    const void *function = library ? dlsym(library, copies->symbol) : NULL;
    const struct link_map *map = function ? module_at((uint64_t)function) : NULL;
    struct runtime_copy *found = map ? copy_in(copies, map) : NULL;
    if (library)
        dlclose(library);
    return found;
}

struct runtime_copy *copy_at(struct runtime_copies *copies, uint64_t address)
{
    pthread_mutex_lock(&copies->lock);
    struct runtime_copy *copy = copies->first;
    while (copy && !is_in(address, copy->start, copy->end))
        copy = copy->next;
    pthread_mutex_unlock(&copies->lock);
    return copy;
}

struct runtime_copy *copy_any(struct runtime_copies *copies)
{
    pthread_mutex_lock(&copies->lock);
    struct runtime_copy *copy = copies->first;
    while (copy && copy->end <= 1)
        copy = copy->next;
    pthread_mutex_unlock(&copies->lock);
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

/* The module of the function to which the dynamic linker would have bound a reference of the caller's
 * module without this library; NULL: none. */
static const struct link_map *bound_module(const char *symbol, const struct link_map *caller)
{
    const void *next = dlsym(RTLD_NEXT, symbol);
    void *module = caller ? dlopen(caller->l_name, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    const void *own = module ? dlsym(module, symbol) : NULL;
    bool is_own = own && module_at((uint64_t)own) == caller;
    const void *bound = is_own || !next ? own : next;
    if (module)
        dlclose(module);
    return bound ? module_at((uint64_t)bound) : NULL;
}

static struct runtime_copy *look_up(struct runtime_copies *copies, uint64_t address)
{
    const struct link_map *caller = module_at(address);
    if (caller == module_at((uint64_t)look_up))
        caller = NULL;
    const struct link_map *bound = bound_module(copies->symbol, caller);
    if (!bound && caller)
        return NULL;
    struct runtime_copy *copy = bound ? copy_in(copies, bound) : NULL;
    return copy ? copy : copy_any(copies);
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
    pthread_mutex_lock(&copies->lock);
    for (unsigned i = 0; i < CALLER_SLOTS; i++) {
        const struct known_caller *caller = atomic_load(&copies->callers[i]);
        if (caller &&
            (is_in(caller->address, start, end) || is_in(caller->copy->start, start, end)))
            atomic_store(&copies->callers[i], NULL);
    }
    for (struct runtime_copy *copy = copies->first; copy; copy = copy->next)
        if (is_in(copy->start, start, end))
            copy->start = copy->end = 1;
    pthread_mutex_unlock(&copies->lock);
}
