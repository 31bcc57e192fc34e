#include "agents/tbb/tbb-copies.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* ---- copies ---- */

/* Never freed: threads may be in functions of a copy. Changed and read under `lock`. */
static struct copy {
    struct tbb_functions functions;
    struct copy *next;
} *copies;

/* Address ranges of loaded libtbb's; start 0: free. Under `lock`. */
#define MAX_MODULES 16
static struct range {
    uint64_t start, end;
} modules[MAX_MODULES];

static void *find(void *library, const char *symbol)
{
    return library ? dlsym(library, symbol) : NULL;
}

static void fill(struct tbb_functions *to, void *library)
{
    void *function;
#define X(result, name, symbol, parameters)                                                        \
    function = find(library, symbol);                                                              \
    memcpy(&to->name, &function, sizeof function);
    TBB_FUNCTIONS(X)
#undef X
    function = find(library, R1("27global_control_active_valueEi"));
    memcpy(&to->active_value, &function, sizeof function);
}

/* Under `lock`. */
static struct copy *known_copy(uint64_t start)
{
    struct copy *copy = copies;
    while (copy && copy->functions.start != start)
        copy = copy->next;
    return copy;
}

static const struct tbb_functions *add_copy(struct copy *new)
{
    pthread_mutex_lock(&lock);
    struct copy *copy = known_copy(new->functions.start);
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

/* ---- what a caller means ---- */

/* The function to which the dynamic linker would have bound a module's reference without this
 * library, by the address of `spawn`. A copy's own references are to itself. */
static void *bound_function(const struct link_map *caller)
{
    static const char spawn[] = R1("5spawnERNS0_2d14taskERNS2_18task_group_contextE");
    void *module = dlopen(caller->l_name, RTLD_LAZY | RTLD_NOLOAD);
    void *own = find(module, spawn), *next = dlsym(RTLD_NEXT, spawn);
    struct link_map *map = NULL;
    Dl_info info;
    bool is_own = own && dladdr1(own, &info, (void **)&map, RTLD_DL_LINKMAP) && map == caller;
    if (module)
        dlclose(module);
    return is_own || !next ? own : next;
}

/* `lock` is not held when the dynamic linker is called: that has a lock of its own. */
static const struct tbb_functions *look_up(uint64_t caller)
{
    Dl_info info;
    struct link_map *map = NULL;
    if (!dladdr1((const void *)caller, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return NULL;
    void *function = bound_function(map);
    if (!function || !dladdr1(function, &info, (void **)&map, RTLD_DL_LINKMAP) || !map)
        return NULL;
    void *library = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD);
    struct copy *copy = library ? calloc(1, sizeof *copy) : NULL;
    if (copy) {
        copy->functions.start = (uint64_t)info.dli_fbase;
        fill(&copy->functions, library);
    }
    if (library)
        dlclose(library);
    return copy ? add_copy(copy) : NULL;
}

/* ---- callers ---- */

/* Never changed or freed once published: another thread may be reading it. */
struct caller {
    uint64_t address;
    const struct tbb_functions *functions;
};

#define CALLER_SLOTS 1024 /* power of two */
#define MAX_PROBES   16   /* a caller that finds no slot is looked up at each call */

static _Atomic(const struct caller *) callers[CALLER_SLOTS];

static unsigned slot_of(uint64_t address, unsigned probe)
{
    return ((unsigned)((address * 0x9e3779b97f4a7c15u) >> 54) + probe) % CALLER_SLOTS;
}

static void publish(struct caller *caller)
{
    for (unsigned i = 0; i < MAX_PROBES; i++) {
        const struct caller *none = NULL;
        if (atomic_compare_exchange_strong(&callers[slot_of(caller->address, i)], &none, caller))
            return;
    }
    free(caller);
}

static const struct tbb_functions *add_caller(uint64_t address)
{
    static const char none[] = "hpcrun: libtbb was not found\n";
    const struct tbb_functions *functions = look_up(address);
    if (!functions) {
        if (write(STDERR_FILENO, none, sizeof none - 1) < 0)
            _exit(1);
        abort();
    }
    struct caller *caller = malloc(sizeof *caller);
    if (caller) {
        *caller = (struct caller){address, functions};
        publish(caller);
    }
    return functions;
}

const struct tbb_functions *tbb_functions_for(uint64_t address)
{
    for (unsigned i = 0; i < MAX_PROBES; i++) {
        const struct caller *caller =
            atomic_load_explicit(&callers[slot_of(address, i)], memory_order_acquire);
        if (caller && caller->address == address)
            return caller->functions;
    }
    return add_caller(address);
}

/* ---- modules ---- */

bool tbb_has_code_at(uint64_t address)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_MODULES; i++)
        found |= address >= modules[i].start && address < modules[i].end;
    pthread_mutex_unlock(&lock);
    return found;
}

void tbb_add_module(uint64_t start, uint64_t end)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < MAX_MODULES; i++)
        if (!modules[i].start) {
            modules[i] = (struct range){start, end};
            break;
        }
    pthread_mutex_unlock(&lock);
}

void tbb_forget_module(uint64_t start, uint64_t end)
{
    pthread_mutex_lock(&lock);
    for (unsigned i = 0; i < CALLER_SLOTS; i++) {
        const struct caller *caller = atomic_load(&callers[i]);
        if (caller && ((caller->address >= start && caller->address < end) ||
                       (caller->functions->start >= start && caller->functions->start < end)))
            atomic_store(&callers[i], NULL);
    }
    for (struct copy *copy = copies; copy; copy = copy->next)
        if (copy->functions.start >= start && copy->functions.start < end)
            copy->functions.start = 1;
    for (int i = 0; i < MAX_MODULES; i++)
        if (modules[i].start == start)
            modules[i] = (struct range){0, 0};
    pthread_mutex_unlock(&lock);
}
