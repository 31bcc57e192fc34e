#include "agents/openmp/scopes.h"

#include <stdlib.h>

#define BLOCK 32

/* Adds free scopes to those of the thread. They are never freed. */
static void add_block(struct agent_slot *slot)
{
    struct scope *block = calloc(BLOCK, sizeof *block);
    for (int i = 0; block && i < BLOCK; i++)
        scope_give_back(slot, &block[i]);
}

struct scope *scope_take(struct agent_slot *slot)
{
    if (!slot->ompt.kept)
        add_block(slot);
    struct scope *scope = slot->ompt.kept;
    if (scope)
        slot->ompt.kept = scope->next_free;
    return scope;
}

void scope_give_back(struct agent_slot *slot, struct scope *scope)
{
    scope->next_free = slot->ompt.kept;
    slot->ompt.kept = scope;
}
