#include "hpcprof/modules/structure.h"

#include "lib/binary-search.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Whether a procedure is code of the linker that jumps to another module's function. */
static bool is_stub_procedure(const struct structure *s, const struct structure_scope *procedure)
{
    static const char ending[] = "@plt";
    const struct structure_function *function = &s->functions.at[procedure->function];
    const char *name = strtab_string(&s->names, function->name);
    size_t length = strlen(name), tail = sizeof ending - 1;
    return function->file == STRUCTURE_NONE && length > tail &&
           strcmp(name + length - tail, ending) == 0;
}

/* Parents come before their children. No procedure is sampled yet. */
static void mark_stubs(struct structure *s)
{
    for (size_t i = 0; i < s->scopes.n; i++) {
        struct structure_scope *scope = &s->scopes.at[i];
        scope->is_sampled = false;
        scope->is_stub = scope->parent == STRUCTURE_NONE ? is_stub_procedure(s, scope)
                                                         : s->scopes.at[scope->parent].is_stub;
    }
}

static size_t bucket_of(const struct structure *s, uint64_t address)
{
    return (size_t)((address - s->statements.at[0].begin) >> s->bucket_bits);
}

void structure_index(struct structure *s)
{
    mark_stubs(s);
    size_t n = s->statements.n, bucket = 0;
    if (n == 0)
        return;
    uint64_t last = s->statements.at[n - 1].end - 1;
    while (bucket_of(s, last) >= n && s->bucket_bits < 63)
        s->bucket_bits++;
    size_t n_buckets = bucket_of(s, last) + 1;
    s->first_of = mem_alloc((n_buckets + 1) * sizeof *s->first_of);
    for (size_t i = 0; i < n; i++)
        while (bucket <= bucket_of(s, s->statements.at[i].begin))
            s->first_of[bucket++] = (uint32_t)i;
    while (bucket <= n_buckets)
        s->first_of[bucket++] = (uint32_t)n;
}

const struct structure_statement *structure_find(const struct structure *s, uint64_t address)
{
    const struct structure_statement *all = s->statements.at;
    size_t n = s->statements.n;
    if (n == 0 || address < all[0].begin || address >= all[n - 1].end)
        return NULL;
    size_t bucket = bucket_of(s, address), low = s->first_of[bucket];
    size_t end = low + partition_point(i, s->first_of[bucket + 1] - low,
                                       all[low + i].begin <= address);
    return end > 0 && address < all[end - 1].end ? &all[end - 1] : NULL;
}

uint32_t structure_procedure(const struct structure *s, uint32_t scope)
{
    assert(scope < s->scopes.n);
    while (s->scopes.at[scope].parent != STRUCTURE_NONE)
        scope = s->scopes.at[scope].parent;
    return scope;
}

/* Functions begin where the first of their sampled procedures does. */
static void find_entries(struct structure *s)
{
    for (size_t i = 0; i < s->functions.n; i++)
        s->functions.at[i].entry = 0;
    for (size_t i = 0; i < s->scopes.n; i++) {
        const struct structure_scope *scope = &s->scopes.at[i];
        if (!scope->is_sampled)
            continue;
        uint64_t *entry = &s->functions.at[scope->function].entry;
        if (*entry == 0 || scope->address < *entry)
            *entry = scope->address;
    }
}

void structure_mark_sampled(struct structure *s, const uint64_t *addresses, size_t n,
                            bool others_matter)
{
    for (size_t i = 0; i < n; i++) {
        const struct structure_statement *statement = structure_find(s, addresses[i]);
        if (statement)
            s->scopes.at[structure_procedure(s, statement->scope)].is_sampled = true;
    }
    if (!others_matter)
        find_entries(s);
}

bool structure_waits_at(const struct structure *s, uint64_t address)
{
    size_t n = partition_point(i, s->waits.n, s->waits.at[i].begin <= address);
    return n > 0 && address < s->waits.at[n - 1].end;
}

bool structure_is_stub(const struct structure *s, const struct structure_statement *statement)
{
    return s->scopes.at[statement->scope].is_stub;
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
    free(s->first_of);
    vec_free(&s->waits);
    vec_free(&s->calls);
    free(s);
}
