#include "agents/cilk5/cilk5-imports.h"

#include "agents/common/elf-symbols.h"

#include <stdlib.h>
#include <string.h>

#define BEGINNING "_cilk_"
#define ENDING    "_import"

struct import {
    char *procedure; /* its name */
    uint64_t procedure_at;
    struct agent_claim code;
};

struct search {
    uint64_t bias;
    struct import *at;
    size_t count;
};

/* The length of f in _cilk_f_import; 0 when the name is no such. */
static size_t procedure_in(const char *name)
{
    size_t length = strlen(name), around = strlen(BEGINNING ENDING);
    if (length <= around || strncmp(name, BEGINNING, strlen(BEGINNING)) != 0 ||
        strcmp(name + length - strlen(ENDING), ENDING) != 0)
        return 0;
    return length - around;
}

static void see_import(const struct symbol *symbol, void *data)
{
    struct search *search = data;
    size_t length = procedure_in(symbol->name);
    if (!symbol->is_function || symbol->size == 0 || length == 0)
        return;
    struct import *more = realloc(search->at, (search->count + 1) * sizeof *more);
    if (!more)
        return;
    uint64_t start = search->bias + symbol->address;
    more[search->count++] =
        (struct import){.procedure = strndup(symbol->name + strlen(BEGINNING), length),
                        .code = {.start = start, .end = start + symbol->size}};
    search->at = more;
}

static void see_procedure(const struct symbol *symbol, void *data)
{
    struct search *search = data;
    for (size_t i = 0; i < search->count && symbol->is_function; i++)
        if (search->at[i].procedure && strcmp(search->at[i].procedure, symbol->name) == 0)
            search->at[i].procedure_at = search->bias + symbol->address;
}

/* Whether there is a call of the procedure. Any byte is looked at as if an instruction began there.
 */
static bool calls_procedure(const struct import *import)
{
    enum { CALL = 0xe8, BYTES = 5 };
    for (uint64_t at = import->code.start; at + BYTES <= import->code.end; at++) {
        int32_t distance;
        memcpy(&distance, (const char *)at + 1, sizeof distance);
        if (*(const uint8_t *)at == CALL &&
            at + BYTES + (uint64_t)(int64_t)distance == import->procedure_at)
            return true;
    }
    return false;
}

struct agent_claim *imports_find(const struct agent_module *module, uint32_t mark, size_t *count)
{
    struct search search = {.bias = module->bias};
    symbols_visit(module->path, see_import, &search);
    if (search.count > 0)
        symbols_visit(module->path, see_procedure, &search);
    struct agent_claim *claims = search.count ? malloc(search.count * sizeof *claims) : NULL;
    *count = 0;
    for (size_t i = 0; i < search.count; i++) {
        if (claims && calls_procedure(&search.at[i]))
            claims[(*count)++] =
                (struct agent_claim){search.at[i].code.start, search.at[i].code.end, mark};
        free(search.at[i].procedure);
    }
    free(search.at);
    if (*count > 0)
        return claims;
    free(claims);
    return NULL;
}
