#include "agents/tbb/tbb-copies.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void fill(struct runtime_copy *copy, const struct link_map *map, void *library)
{
    (void)map;
    struct tbb_functions *to = (struct tbb_functions *)copy;
    void *function;
#define X(result, name, symbol, parameters)                                                        \
    function = dlsym(library, symbol);                                                             \
    memcpy(&to->name, &function, sizeof function);
    TBB_FUNCTIONS(X)
#undef X
    function = dlsym(library, R1("27global_control_active_valueEi"));
    memcpy(&to->active_value, &function, sizeof function);
}

static struct tbb_functions reserve;
static struct runtime_copies copies = {
    .symbol = R1("5spawnERNS0_2d14taskERNS2_18task_group_contextE"),
    .copy_bytes = sizeof reserve,
    .reserve = &reserve,
    .fill = fill,
};

/* Without a libtbb, a call can neither be passed on nor be left out. */
static _Noreturn void end_process(void)
{
    static const char why[] = "hpcrun: a function of libtbb was called, but there is no libtbb\n";
    if (write(STDERR_FILENO, why, sizeof why - 1) < 0)
        _exit(1);
    abort();
}

const struct tbb_functions *tbb_functions_for(uint64_t caller)
{
    const struct runtime_copy *copy = copy_of_caller(&copies, caller);
    if (!copy)
        copy = copy_any(&copies);
    if (!copy)
        end_process();
    return (const struct tbb_functions *)copy;
}

bool tbb_has_code_at(uint64_t address)
{
    return copy_at(&copies, address) != NULL;
}

void tbb_add_module(uint64_t address)
{
    copy_of_module(&copies, address);
}

void tbb_forget_module(uint64_t start, uint64_t end)
{
    copies_forget_module(&copies, start, end);
}
