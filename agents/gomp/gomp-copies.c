#include "agents/gomp/gomp-copies.h"

#include "agents/common/body-links.h"
#include "agents/common/loaded-modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct gomp_program gomp_program;

/* ---- a copy's functions ---- */

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

static void find_functions(struct gomp_functions *to, void *library)
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
#define F(name, field, version)                                                                    \
    function = find_function(library, #name, version);                                             \
    memcpy(&to->field, &function, sizeof function);
    GOMP_UNLOCKS(F)
#undef F
    function = find_function(library, "omp_get_max_threads", NULL);
    memcpy(&to->get_max_threads, &function, sizeof function);
}

/* ---- versions ---- */

/* Whether a version name is that of an interface which the agent knows: up to GOMP_6.0.x, which is
 * libgomp's in gcc 16. */
static bool is_known_version(const char *name)
{
    int major = 0, minor = 0;
    return sscanf(name, "GOMP_%d.%d", &major, &minor) != 2 || major < 6 ||
           (major == 6 && minor == 0);
}

static bool has_unknown_version(const struct link_map *map)
{
    const char *names = (const char *)dynamic_entry(map->l_ld, map->l_addr, DT_STRTAB);
    const char *at = (const char *)dynamic_entry(map->l_ld, map->l_addr, DT_VERDEF);
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

static void find_version(struct gomp_functions *functions, const struct link_map *map,
                         void *library)
{
    bool is_libomp = dlsym(library, "__kmpc_fork_call") != NULL;
    functions->may_take_more = !is_libomp && has_unknown_version(map);
    if (is_libomp)
        functions->why_not_traced = "GOMP_parallel is LLVM libomp's";
    else if (functions->may_take_more)
        functions->why_not_traced = "libgomp is newer than the agent knows";
    functions->is_traced = !functions->why_not_traced;
}

/* ---- copies ---- */

struct copy {
    struct gomp_functions functions;
    void *critical, *atomic; /* mutexes */
};

static void fill(struct runtime_copy *new, const struct link_map *map, void *library)
{
    struct copy *copy = (struct copy *)new;
    struct gomp_functions *functions = &copy->functions;
    find_functions(functions, library);
    find_version(functions, map, library);
    functions->critical = &copy->critical;
    functions->atomic = &copy->atomic;
}

static struct copy reserve;
static struct runtime_copies copies = {
    .symbol = "GOMP_parallel",
    .copy_bytes = sizeof reserve,
    .reserve = &reserve,
    .fill = fill,
};

const struct gomp_functions *gomp_copy_at(uint64_t address)
{
    return (const struct gomp_functions *)copy_at(&copies, address);
}

struct gomp_functions *gomp_copy_of(uint64_t address)
{
    return (struct gomp_functions *)copy_of_module(&copies, address);
}

void gomp_forget_module(uint64_t start, uint64_t end)
{
    copies_forget_module(&copies, start, end);
}

/* ---- callers ---- */

/* A process without libgomp. */
static struct gomp_functions no_copy;
static pthread_once_t no_copy_once = PTHREAD_ONCE_INIT;

static void fill_no_copy(void)
{
    no_copy.why_not_traced = "libgomp was not found";
    find_functions(&no_copy, NULL);
}

/* One thread does. It publishes the main program's range last. */
static void learn_program(uint64_t caller, const struct gomp_functions *functions)
{
    static atomic_flag is_known = ATOMIC_FLAG_INIT;
    struct code_range range;
    if (!is_in_program(caller, &range) || atomic_flag_test_and_set(&is_known))
        return;
    gomp_program.functions = functions;
    gomp_program.start = range.start;
    atomic_thread_fence(memory_order_release);
    gomp_program.size = range.end - range.start;
}

/* A body whose last statement is a call of libgomp may jump there. The wrapper then returns to the
 * trampoline that called the body, and that to the copy that is meant.
 *
 * wrapper: the wrapper's frame. */
static uint64_t caller_of_trampoline(const void *wrapper)
{
    const void *const *trampoline = *(const void *const *)wrapper;
    return (uint64_t)trampoline[1];
}

__attribute__((noinline)) const struct gomp_functions *gomp_find_functions(uint64_t caller)
{
    if (is_trampoline(caller))
        caller = caller_of_trampoline(*(const void *const *)__builtin_frame_address(0));
    const struct runtime_copy *copy = copy_of_caller(&copies, caller);
    if (!copy) {
        pthread_once(&no_copy_once, fill_no_copy);
        return &no_copy;
    }
    if (!gomp_program.size)
        learn_program(caller, (const struct gomp_functions *)copy);
    return (const struct gomp_functions *)copy;
}
