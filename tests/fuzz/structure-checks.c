#include "tests/fuzz/reader-checks.h"

#include "tests/fuzz/promise.h"

#include "hpcprof/modules/structure.h"

void check_structure(const struct structure *s)
{
    for (size_t i = 0; i < s->functions.n; i++) {
        const struct structure_function *function = &s->functions.at[i];
        PROMISE(function->name < s->names.count);
        PROMISE(function->file == STRUCTURE_NONE || function->file < s->files.count);
    }
    for (size_t i = 0; i < s->scopes.n; i++) {
        const struct structure_scope *scope = &s->scopes.at[i];
        PROMISE((scope->parent == STRUCTURE_NONE) == (scope->kind == SCOPE_PROCEDURE));
        PROMISE(scope->parent == STRUCTURE_NONE || scope->parent < i);
        PROMISE(scope->kind == SCOPE_LOOP || scope->function < s->functions.n);
        PROMISE(scope->file == STRUCTURE_NONE || scope->file < s->files.count);
    }
    for (size_t i = 0; i < s->statements.n; i++) {
        const struct structure_statement *statement = &s->statements.at[i];
        PROMISE(statement->begin < statement->end);
        PROMISE(i == 0 || statement[-1].end <= statement->begin);
        PROMISE(statement->scope < s->scopes.n);
        PROMISE(statement->line == 0 || statement->file < s->files.count);
        PROMISE(structure_find(s, statement->begin) == statement);
        PROMISE(structure_find(s, statement->end - 1) == statement);
        if (i + 1 == s->statements.n || statement[1].begin > statement->end)
            PROMISE(!structure_find(s, statement->end));
        if (i == 0 && statement->begin > 0)
            PROMISE(!structure_find(s, statement->begin - 1));
        uint32_t procedure = structure_procedure(s, statement->scope);
        PROMISE(s->scopes.at[procedure].kind == SCOPE_PROCEDURE);
    }
}
