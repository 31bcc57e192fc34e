#include "agents/common/linked-runtime.h"

#include "agents/common/elf-symbols.h"

#include <stdlib.h>
#include <string.h>

/* A function of the program that is visible outside its source file. */
struct function {
    uint64_t start, end;
    bool is_runtimes;
};

struct search {
    const char *const *names;
    struct function *at;
    size_t count, room;
    bool is_out_of_memory;
};

static bool is_listed(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names;
}

static void see(const struct symbol *symbol, void *data)
{
    struct search *search = data;
    if (!symbol->is_function || !symbol->is_global || search->is_out_of_memory)
        return;
    if (search->count == search->room) {
        search->room = search->room * 2 + 256;
        struct function *more = realloc(search->at, search->room * sizeof *more);
        search->is_out_of_memory = !more;
        if (!more)
            return;
        search->at = more;
    }
    search->at[search->count++] =
        (struct function){symbol->address, symbol->address + symbol->size,
                          symbol->size > 0 && is_listed(search->names, symbol->name)};
}

/* Aliases of a function: the runtime's last. */
static int compare(const void *a, const void *b)
{
    const struct function *first = a, *second = b;
    if (first->start != second->start)
        return (first->start > second->start) - (first->start < second->start);
    return first->is_runtimes - second->is_runtimes;
}

/* Makes ranges of the functions, in their place: each goes on to the next if that is the runtime's,
 * too, and then is one with it. */
static size_t join(struct function *at, size_t count)
{
    size_t ranges = 0;
    for (size_t i = 0; i < count; i++) {
        if (!at[i].is_runtimes)
            continue;
        if (i > 0 && at[i - 1].is_runtimes)
            at[ranges - 1].end = at[i].end;
        else
            at[ranges++] = at[i];
    }
    return ranges;
}

struct agent_claim *linked_runtime(const struct agent_module *module, const char *const *functions,
                                   uint32_t mark, size_t *count)
{
    struct search search = {.names = functions};
    struct agent_claim *claims = NULL;
    if (symbols_visit(module->path, see, &search) && !search.is_out_of_memory && search.count > 0) {
        qsort(search.at, search.count, sizeof *search.at, compare);
        *count = join(search.at, search.count);
        claims = *count ? malloc(*count * sizeof *claims) : NULL;
    }
    for (size_t i = 0; claims && i < *count; i++)
        claims[i] = (struct agent_claim){module->bias + search.at[i].start,
                                         module->bias + search.at[i].end, mark};
    free(search.at);
    return claims;
}
