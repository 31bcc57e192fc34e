#include "hpcprof/threads/creation-point.h"

#include "lib/source-names.h"

/* Deeper nests lose their outermost scopes; the calls then seem to have none in common
 * (POINT_CALLER). */
#define MAX_SCOPES 256

/* The scopes around an address, innermost first. */
struct scope_chain {
    const struct structure *structure;
    const struct structure_statement *statement; /* NULL: unknown */
    uint32_t n, scope[MAX_SCOPES];
};

static void find_chain(struct scope_chain *chain, const struct structure *structure,
                       uint64_t address)
{
    chain->structure = structure;
    chain->statement = structure ? structure_find(structure, address) : NULL;
    chain->n = 0;
    for (uint32_t scope = chain->statement ? chain->statement->scope : STRUCTURE_NONE;
         scope != STRUCTURE_NONE && chain->n < MAX_SCOPES;
         scope = structure->scopes.at[scope].parent)
        chain->scope[chain->n++] = scope;
}

/* The scope at a depth, 0 being the procedure. */
static const struct structure_scope *scope_at(const struct scope_chain *chain, uint32_t depth)
{
    return &chain->structure->scopes.at[chain->scope[chain->n - 1 - depth]];
}

/* Compares scopes by content: the parts of a function that the compiler split have equal scopes. */
static bool is_same(const struct structure_scope *a, const struct structure_scope *b)
{
    if (a->kind != b->kind || a->file != b->file || a->line != b->line)
        return false;
    return a->kind == SCOPE_LOOP ? a->line != 0 || a->address == b->address
                                 : a->function == b->function;
}

static uint32_t count_common(const struct scope_chain *a, const struct scope_chain *b)
{
    uint32_t common = 0;
    while (common < a->n && common < b->n && is_same(scope_at(a, common), scope_at(b, common)))
        common++;
    return common;
}

static bool is_of_library(const struct structure *structure, const struct structure_scope *scope)
{
    const char *name =
        strtab_string(&structure->names, structure->functions.at[scope->function].name);
    return cxx_name_is_std(name);
}

/* The depth of the first inlined procedure from `depth` on; chain->n if there is none. */
static uint32_t find_inlined(const struct scope_chain *chain, uint32_t depth)
{
    while (depth < chain->n && scope_at(chain, depth)->kind != SCOPE_INLINED)
        depth++;
    return depth;
}

static bool all_of_library(const struct scope_chain *chain, uint32_t depth)
{
    for (; depth < chain->n; depth++)
        if (scope_at(chain, depth)->kind != SCOPE_LOOP &&
            !is_of_library(chain->structure, scope_at(chain, depth)))
            return false;
    return true;
}

static struct creation_point in_scope(const struct scope_chain *chain, uint32_t depth,
                                      uint32_t file, uint32_t line)
{
    return (struct creation_point){.kind = POINT_SCOPE,
                                   .scope = chain->scope[chain->n - 1 - depth],
                                   .file = file,
                                   .line = line};
}

static struct creation_point in_common(const struct scope_chain *created,
                                       const struct scope_chain *joined, uint32_t common)
{
    const struct structure_statement *a = created->statement, *b = joined->statement;
    bool same_line =
        common == created->n && common == joined->n && a->file == b->file && a->line == b->line;
    return in_scope(created, common - 1, a->file, same_line ? a->line : 0);
}

struct creation_point creation_point_find(const struct symbol_table *symbols, uint32_t module,
                                          uint64_t created, uint64_t joined, bool is_direct)
{
    const struct structure *structure = symbols_structure(symbols, module);
    struct scope_chain of_creation, of_join;
    find_chain(&of_creation, structure, created);
    find_chain(&of_join, structure, joined);
    if (!of_creation.statement || !of_join.statement)
        return (struct creation_point){.kind = POINT_CALL};
    uint32_t common = count_common(&of_creation, &of_join);
    if (common == 0)
        return (struct creation_point){.kind = POINT_CALLER};
    uint32_t inlined = find_inlined(&of_creation, common);
    if (!is_direct || !all_of_library(&of_creation, inlined))
        return in_common(&of_creation, &of_join, common);
    if (inlined == of_creation.n)
        return (struct creation_point){.kind = POINT_CALL};
    const struct structure_scope *call = scope_at(&of_creation, inlined);
    return in_scope(&of_creation, inlined - 1, call->file, call->line);
}

bool is_cxx_library(const struct symbol_table *symbols, uint32_t module, uint64_t address)
{
    struct scope_chain chain;
    find_chain(&chain, symbols_structure(symbols, module), address);
    return chain.statement && all_of_library(&chain, 0);
}
