/* Which copy of a library a caller means: agents/common/runtime-copies.h, as libgomp's and libtbb's
 * agents use it. The library is simulated-copy.c, not linked to this program. */
#include "tests/unit/cmocka_suite.h"

#include "agents/common/loaded-modules.h"
#include "agents/gomp/gomp-copies.h"
#include "agents/tbb/tbb-copies.h"

#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define SPAWN R1("5spawnERNS0_2d14taskERNS2_18task_group_contextE")

/* This program is linked with --wrap for these. */
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
static bool has_memory = true;

void *__wrap_calloc(size_t count, size_t size)
{
    return has_memory ? __real_calloc(count, size) : NULL;
}

/* Searches of the dynamic linker's data. dladdr1 reads a module's symbols one by one. */
typedef int module_function(struct dl_phdr_info *info, size_t size, void *data);
int __real_dladdr1(const void *address, Dl_info *info, void **extra, int flags);
int __wrap_dladdr1(const void *address, Dl_info *info, void **extra, int flags);
int __real_dl_iterate_phdr(module_function *function, void *data);
int __wrap_dl_iterate_phdr(module_function *function, void *data);
static unsigned searches;

int __wrap_dladdr1(const void *address, Dl_info *info, void **extra, int flags)
{
    searches++;
    return __real_dladdr1(address, info, extra, flags);
}

int __wrap_dl_iterate_phdr(module_function *function, void *data)
{
    searches++;
    return __real_dl_iterate_phdr(function, data);
}

struct opened {
    const char *path;
    void *library;
    uint64_t spawn, parallel;
    uint64_t inside; /* an address in it */
};

static struct opened open_copy(const char *path, int scope)
{
    struct opened opened = {path, dlopen(path, RTLD_NOW | scope), 0, 0, 0};
    assert_non_null(opened.library);
    opened.spawn = (uint64_t)dlsym(opened.library, SPAWN);
    opened.parallel = (uint64_t)dlsym(opened.library, "GOMP_parallel");
    opened.inside = (uint64_t)dlsym(opened.library, "address_in_copy");
    return opened;
}

/* Code of a JIT compiler: an address in no module. */
static uint64_t generated_code(void)
{
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(page != MAP_FAILED);
    return (uint64_t)page + 64;
}

static uint64_t spawn_for(uint64_t caller)
{
    return (uint64_t)tbb_functions_for(caller)->spawn;
}

static uint64_t parallel_for(uint64_t caller)
{
    return (uint64_t)gomp_functions_for(caller)->GOMP_parallel;
}

/* An unloaded module's addresses, as hpcrun announces them. */
static void forget_all(const struct opened *opened)
{
    const struct runtime_copy *copy = &gomp_copy_at(opened->inside)->copy;
    uint64_t start = copy->start, end = copy->end;
    gomp_forget_module(start, end);
    tbb_forget_module(start, end);
    dlclose(opened->library);
}

/* ---- tests: each in a process of its own, since what is known of copies stays ---- */

static void tbb_without_a_copy_ends_the_process(void)
{
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    assert_non_null(freopen("/dev/null", "w", stderr));
    signal(SIGABRT, SIG_DFL);
    spawn_for(generated_code());
}

static void gomp_without_a_copy_does_nothing(void)
{
    const struct gomp_functions *functions = gomp_functions_for(generated_code());
    assert_false(functions->is_traced);
    functions->GOMP_barrier();
    assert_string_equal(functions->why_not_traced, "libgomp was not found");
}

static void generated_code_means_the_copy_in_the_global_scope(void)
{
    struct opened local = open_copy("simulated-copy-1.so", RTLD_LOCAL);
    tbb_add_module(local.inside);
    assert_non_null(gomp_copy_of(local.inside));
    struct opened global = open_copy("simulated-copy-2.so", RTLD_GLOBAL);
    assert_int_equal(spawn_for(generated_code()), global.spawn);
    assert_int_equal(parallel_for(generated_code()), global.parallel);
}

static void generated_code_means_a_known_copy_if_none_is_global(void)
{
    struct opened local = open_copy("simulated-copy-1.so", RTLD_LOCAL);
    tbb_add_module(local.inside);
    assert_non_null(gomp_copy_of(local.inside));
    uint64_t caller = generated_code();
    assert_int_equal(spawn_for(caller), local.spawn);
    assert_int_equal(parallel_for(caller), local.parallel);
    assert_true(tbb_has_code_at(local.inside));
    assert_ptr_equal(gomp_copy_at(local.inside), gomp_functions_for(caller));

    struct opened other = open_copy("simulated-copy-2.so", RTLD_LOCAL);
    tbb_add_module(other.inside);
    assert_non_null(gomp_copy_of(other.inside));
    forget_all(&local);
    assert_int_equal(spawn_for(caller), other.spawn);
    assert_int_equal(parallel_for(caller), other.parallel);
}

/* libc: a module that knows of no libgomp, so it means none. Calls of libtbb must go somewhere. */
static uint64_t code_of_libc(void)
{
    return (uint64_t)dlsym(RTLD_DEFAULT, "qsort");
}

static void a_module_without_a_copy(void)
{
    struct opened local = open_copy("simulated-copy-1.so", RTLD_LOCAL);
    tbb_add_module(local.inside);
    assert_non_null(gomp_copy_of(local.inside));
    assert_int_equal(spawn_for(code_of_libc()), local.spawn);
    assert_false(gomp_functions_for(code_of_libc())->is_traced);
}

static void a_copy_means_itself(void)
{
    struct opened first = open_copy("simulated-copy-1.so", RTLD_GLOBAL);
    struct opened second = open_copy("simulated-copy-2.so", RTLD_LOCAL);
    assert_int_equal(spawn_for(second.inside), second.spawn);
    assert_int_equal(spawn_for(first.inside), first.spawn);
    assert_int_equal(spawn_for(code_of_libc()), first.spawn);
    assert_int_equal(parallel_for(code_of_libc()), first.parallel);
}

/* A library that is linked to a copy means that one, unless another one is in the global scope. */
static void a_library_means_what_it_is_bound_to(void)
{
    struct opened user = open_copy("simulated-user.so", RTLD_LOCAL);
    struct opened linked = open_copy("simulated-copy-2.so", RTLD_LOCAL);
    tbb_add_module(linked.inside);
    assert_int_equal(spawn_for(user.inside), linked.spawn);
    assert_int_equal(parallel_for(user.inside), linked.parallel);
}

static void a_library_means_the_copy_in_the_global_scope(void)
{
    struct opened global = open_copy("simulated-copy-1.so", RTLD_GLOBAL);
    struct opened user = open_copy("simulated-user.so", RTLD_LOCAL);
    struct opened linked = open_copy("simulated-copy-2.so", RTLD_LOCAL);
    tbb_add_module(linked.inside);
    assert_non_null(gomp_copy_of(linked.inside));
    assert_int_equal(spawn_for(user.inside), global.spawn);
    assert_int_equal(parallel_for(user.inside), global.parallel);
}

/* A library that calls a runtime often, as ImageMagick's calls libgomp. */
static void a_known_caller_costs_no_search(void)
{
    struct opened first = open_copy("simulated-copy-1.so", RTLD_GLOBAL);
    tbb_add_module(first.inside);
    uint64_t callers[] = {first.inside, code_of_libc(), generated_code()};
    size_t count = sizeof callers / sizeof *callers;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(spawn_for(callers[i]), first.spawn);
        assert_int_equal(parallel_for(callers[i]), first.parallel);
    }
    assert_int_not_equal(searches, 0);
    searches = 0;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(spawn_for(callers[i]), first.spawn);
        assert_int_equal(parallel_for(callers[i]), first.parallel);
    }
    assert_int_equal(searches, 0);
}

/* Memory is kept for one copy. A second one is not found, so its calls go to the first. */
static void the_first_copy_needs_no_memory(void)
{
    struct opened first = open_copy("simulated-copy-1.so", RTLD_LOCAL);
    struct opened second = open_copy("simulated-copy-2.so", RTLD_LOCAL);
    has_memory = false;
    assert_int_equal(spawn_for(first.inside), first.spawn);
    assert_int_equal(parallel_for(first.inside), first.parallel);
    assert_int_equal(spawn_for(second.inside), first.spawn);
}

/* A body of the program that ends with a jump to the library: the caller seems to be the agent, which
 * is in this program. */
static void the_agent_means_no_wrapper_of_its_own(void)
{
    struct opened local = open_copy("simulated-copy-1.so", RTLD_LOCAL);
    assert_non_null(gomp_copy_of(local.inside));
    uint64_t caller = (uint64_t)the_agent_means_no_wrapper_of_its_own;
    assert_int_equal(parallel_for(caller), local.parallel);
}

typedef void check_function(void);

static int status_of(check_function *check)
{
    pid_t child = fork();
    if (child == 0) {
        check();
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

/* A module that is closed and opened again may cover the address at which it began. What was learned of
 * the file must not be read from it then. */
static void a_module_is_pinned_by_its_begin(void)
{
    struct opened copy = open_copy("simulated-copy-1.so", RTLD_LOCAL);
    struct pinned_module pinned;
    struct link_map *map;
    assert_int_equal(dlinfo(copy.library, RTLD_DI_LINKMAP, &map), 0);
    assert_true(module_pin(map->l_addr, map->l_name, &pinned));
    assert_int_equal(pinned.range.start, map->l_addr);
    assert_true(is_in_range(copy.inside, pinned.range));
    module_unpin(&pinned);
    assert_false(module_pin(map->l_addr + 16, map->l_name, &pinned));
    assert_false(module_pin(map->l_addr, "/elsewhere", &pinned));
    assert_true(module_pin(map->l_addr + 16, NULL, &pinned));
    module_unpin(&pinned);
}

TEST(each_caller_gets_its_copy)
{
    check_function *const checks[] = {gomp_without_a_copy_does_nothing,
                                      generated_code_means_the_copy_in_the_global_scope,
                                      generated_code_means_a_known_copy_if_none_is_global,
                                      a_module_without_a_copy,
                                      a_copy_means_itself,
                                      a_library_means_what_it_is_bound_to,
                                      a_library_means_the_copy_in_the_global_scope,
                                      the_agent_means_no_wrapper_of_its_own,
                                      a_known_caller_costs_no_search,
                                      the_first_copy_needs_no_memory,
                                      a_module_is_pinned_by_its_begin};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        assert_int_equal(status_of(checks[i]), 0);
}

TEST(only_a_call_without_any_copy_ends_the_process)
{
    int status = status_of(tbb_without_a_copy_ends_the_process);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
