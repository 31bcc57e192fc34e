#include "hpcprof/modules/structure.h"

#include "lib/binary-search.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

const struct structure_statement *structure_find(const struct structure *s, uint64_t address)
{
    size_t n = partition_point(i, s->statements.n, s->statements.at[i].begin <= address);
    return n > 0 && address < s->statements.at[n - 1].end ? &s->statements.at[n - 1] : NULL;
}

uint32_t structure_procedure(const struct structure *s, uint32_t scope)
{
    assert(scope < s->scopes.n);
    while (s->scopes.at[scope].parent != STRUCTURE_NONE)
        scope = s->scopes.at[scope].parent;
    return scope;
}

bool structure_waits_at(const struct structure *s, uint64_t address)
{
    size_t n = partition_point(i, s->waits.n, s->waits.at[i].begin <= address);
    return n > 0 && address < s->waits.at[n - 1].end;
}

bool structure_is_stub(const struct structure *s, const struct structure_statement *statement)
{
    static const char ending[] = "@plt";
    uint32_t procedure = structure_procedure(s, statement->scope);
    const struct structure_function *function = &s->functions.at[s->scopes.at[procedure].function];
    const char *name = strtab_string(&s->names, function->name);
    size_t length = strlen(name), tail = sizeof ending - 1;
    return function->file == STRUCTURE_NONE && length > tail &&
           strcmp(name + length - tail, ending) == 0;
}

void structure_free(struct structure *s)
{
    if (!s)
        return;
    strtab_free(&s->names);
    strtab_free(&s->files);
    strtab_free(&s->directories);
    strtab_free(&s->overhead_kinds);
    vec_free(&s->functions);
    vec_free(&s->scopes);
    vec_free(&s->statements);
    vec_free(&s->waits);
    vec_free(&s->calls);
    free(s);
}
