#include "agents/gomp/gomp-copies.h"

#include "agents/common/dynamic-entries.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gomp_program gomp_program;

/* ---- a copy's functions ---- */

/* Never freed: threads may be in functions of a copy. */
static struct copy {
    struct gomp_functions functions;
    const char *why_not_traced; /* NULL: it is traced */
    void *critical;             /* the mutex of the critical section without a name */
    struct copy *next;
} *copies; /* changed and read under `lock` */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Stands for functions that a copy lacks, and for libgomp in a process without it, where a lock
 * need not lock: a program that finds omp_set_lock by a weak reference has one thread. */
static long missing(void)
{
    return 0;
}

static void *find_function(void *library, const char *name, const char *version)
{
    void *found = NULL;
    if (library)
        found = version ? dlvsym(library, name, version) : dlsym(library, name);
    return found ? found : (void *)(uintptr_t)missing;
}

static void fill(struct gomp_functions *to, void *library)
{
    void *function;
#define F(type, name, parameters)                                                                  \
    function = find_function(library, #name, NULL);                                                \
    memcpy(&to->name, &function, sizeof function);
    GOMP_FUNCTIONS(F)
#undef F
#define F(name, field, test_name, version)                                                         \
    function = find_function(library, #name, version);                                             \
    memcpy(&to->field, &function, sizeof function);                                                \
    function = find_function(library, #test_name, version);                                        \
    memcpy(&to->test_##field, &function, sizeof function);
    GOMP_LOCKS(F)
#undef F
    function = find_function(library, "omp_get_max_threads", NULL);
    memcpy(&to->get_max_threads, &function, sizeof function);
    function = find_function(library, "GOMP_critical_name_end", NULL);
    memcpy(&to->critical_name_end, &function, sizeof function);
}

/* ---- versions ---- */

/* Whether a version name is that of an interface which the agent knows: up to GOMP_5.1.x, which has
 * been libgomp's since gcc 12. */
static bool is_known_version(const char *name)
{
    int major = 0, minor = 0;
    return sscanf(name, "GOMP_%d.%d", &major, &minor) != 2 || major < 5 ||
           (major == 5 && minor <= 1);
}

static bool has_unknown_version(const struct link_map *map)
{
    const char *names = (const char *)dynamic_entry(map, DT_STRTAB);
    const char *at = (const char *)dynamic_entry(map, DT_VERDEF);
    bool more = at && names;
    while (more) {
        const ElfW(Verdef) *definition = (const void *)at;
        const ElfW(Verdaux) *name = (const void *)(at + definition->vd_aux);
        if (!is_known_version(names + name->vda_name))
            return true;
        more = definition->vd_next != 0;
        at += definition->vd_next;
    }
    return false;
}

static const char *why_not_traced(const struct link_map *map, void *library)
{
    if (dlsym(library, "__kmpc_fork_call"))
        return "GOMP_parallel is LLVM libomp's";
    if (has_unknown_version(map))
        return "libgomp is newer than the agent knows";
    return NULL;
}

const char *gomp_why_not_traced(const struct gomp_functions *functions)
{
    return ((const struct copy *)functions)->why_not_traced;
}

/* ---- copies ---- */

static bool is_in(uint64_t address, uint64_t start, uint64_t end)
{
    return address >= start && address < end;
}

struct range {
    const struct link_map *map;
    uint64_t start, end;
};

static int find_range(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct range *range = data;
    if (info->dlpi_addr != range->map->l_addr || strcmp(info->dlpi_name, range->map->l_name) != 0)
        return 0;
    range->start = UINT64_MAX;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type != PT_LOAD)
            continue;
        range->start = start < range->start ? start : range->start;
        range->end = start + header->p_memsz > range->end ? start + header->p_memsz : range->end;
    }
    return 1;
}

/* A process without libgomp. */
static const struct gomp_functions *no_copy(void)
{
    static struct copy none = {.why_not_traced = "libgomp was not found"};
    if (!none.functions.GOMP_parallel)
        fill(&none.functions, NULL);
    return &none.functions;
}

/* Under `lock`. The copy that begins at an address, if it was found before. */
static struct copy *find_copy(uint64_t start)
{
    struct copy *copy = copies;
    while (copy && copy->functions.start != start)
        copy = copy->next;
    return copy;
}

static const struct gomp_functions *known_copy(uint64_t start)
{
    pthread_mutex_lock(&lock);
    const struct copy *found = find_copy(start);
    pthread_mutex_unlock(&lock);
    return found ? &found->functions : NULL;
}

/* Adds what was found, unless another thread was faster: all must use one mutex. */
static const struct gomp_functions *add_copy(struct copy *new)
{
    pthread_mutex_lock(&lock);
    struct copy *copy = find_copy(new->functions.start);
    if (!copy) {
        copy = new;
        copy->next = copies;
        copies = copy;
    }
    pthread_mutex_unlock(&lock);
    if (copy != new)
        free(new);
    return &copy->functions;
}

/* The copy that defines a function. The lock is not held when the dynamic linker is called: that
 * has a lock of its own, and hpcrun's dlclose announces modules to this agent. */
static const struct gomp_functions *copy_with(const void *function)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (!function || !dladdr1(function, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return no_copy();
    struct range range = {.map = map};
    dl_iterate_phdr(find_range, &range);
    const struct gomp_functions *known = known_copy(range.start);
    void *library = known ? NULL : dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
    struct copy *copy = library ? calloc(1, sizeof *copy) : NULL;
    if (!copy)
        return known ? known : no_copy();
    copy->why_not_traced = why_not_traced(map, library);
    fill(&copy->functions, library);
    copy->functions.start = range.start;
    copy->functions.end = range.end;
    copy->functions.is_traced = !copy->why_not_traced;
    copy->functions.critical = &copy->critical;
    const struct gomp_functions *added = add_copy(copy);
    dlclose(library);
    return added;
}

const struct gomp_functions *gomp_copy_at(uint64_t address)
{
    pthread_mutex_lock(&lock);
    const struct copy *copy = copies;
    while (copy && !is_in(address, copy->functions.start, copy->functions.end))
        copy = copy->next;
    pthread_mutex_unlock(&lock);
    return copy ? &copy->functions : NULL;
}

const struct gomp_functions *gomp_copy_of(const char *path)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    const void *function = library ? dlsym(library, "GOMP_parallel") : NULL;
    const struct gomp_functions *found = function ? copy_with(function) : NULL;
    if (library)
        dlclose(library);
    return found;
}

/* ---- callers ---- */

/* A return address and the functions for it. Never changed or freed once published: another thread
 * may be reading it. */
struct caller {
    uint64_t address;
    const struct gomp_functions *functions;
};

#define CALLER_SLOTS 1024 /* power of two */
#define MAX_CALLERS  65536

static _Atomic(const struct caller *) callers[CALLER_SLOTS];
static struct caller caller_store[MAX_CALLERS];
static unsigned caller_count;

static unsigned slot_of(uint64_t address)
{
    return (unsigned)((address * 0x9e3779b97f4a7c15u) >> 54) % CALLER_SLOTS;
}

/* The function to which the dynamic linker would have bound a module's reference without this
 * library: the next one in the global scope, else the one in the module's own tree. */
static const void *bound_function(uint64_t caller)
{
    Dl_info info;
    struct link_map *map = NULL;
    const void *found = dlsym(RTLD_NEXT, "GOMP_parallel");
    if (found || !dladdr1((const void *)caller, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return found;
    void *module = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
    found = module ? dlsym(module, "GOMP_parallel") : NULL;
    if (module)
        dlclose(module);
    return found;
}

/* Publishes the main program's range last: readers take no lock. */
static void learn_program(uint64_t caller, const struct gomp_functions *functions)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (!functions->start ||
        !dladdr1((const void *)caller, &info, (void **)&map, RTLD_DL_LINKMAP) || !map ||
        map->l_name[0])
        return;
    struct range range = {.map = map};
    dl_iterate_phdr(find_range, &range);
    pthread_mutex_lock(&lock);
    if (!gomp_program.size) {
        gomp_program.functions = functions;
        gomp_program.start = range.start;
        atomic_thread_fence(memory_order_release);
        gomp_program.size = range.end - range.start;
    }
    pthread_mutex_unlock(&lock);
}

static const struct gomp_functions *add_caller(uint64_t address)
{
    const struct gomp_functions *functions = copy_with(bound_function(address));
    learn_program(address, functions);
    pthread_mutex_lock(&lock);
    if (caller_count < MAX_CALLERS && functions->start) {
        struct caller *caller = &caller_store[caller_count++];
        *caller = (struct caller){address, functions};
        atomic_store_explicit(&callers[slot_of(address)], caller, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return functions;
}

const struct gomp_functions *gomp_find_functions(uint64_t address)
{
    const struct caller *caller =
        atomic_load_explicit(&callers[slot_of(address)], memory_order_acquire);
    if (caller && caller->address == address)
        return caller->functions;
    return add_caller(address);
}

void gomp_forget_module(uint64_t start, uint64_t end)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < CALLER_SLOTS; i++) {
        const struct caller *caller = atomic_load(&callers[i]);
        if (caller &&
            (is_in(caller->address, start, end) || is_in(caller->functions->start, start, end)))
            atomic_store(&callers[i], NULL);
    }
    for (struct copy *copy = copies; copy; copy = copy->next)
        if (is_in(copy->functions.start, start, end))
            copy->functions.start = copy->functions.end = 1;
    pthread_mutex_unlock(&lock);
}
