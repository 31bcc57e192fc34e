#include "hpcprof/attribution/path-attribution.h"

#include "hpcprof/attribution/start-routine.h"
#include "hpcprof/attribution/thread-root.h"

#include <stdlib.h>

#define NOT_NEEDED IDMAP_NONE

/* Marks the nodes with amounts at or below them, as CONTEXT_ROOT. The others would become contexts
 * without values. */
static void mark_needed(struct attribution *attribution, const struct measurement_thread *thread)
{
    attribution->context_of.n = 0;
    vec_reserve(&attribution->context_of, thread->nodes.n);
    attribution->context_of.n = thread->nodes.n;
    uint32_t *context_of = attribution->context_of.at;
    for (size_t i = 0; i < thread->nodes.n; i++)
        context_of[i] = NOT_NEEDED;
    for (size_t i = 0; i < thread->values.n; i++)
        if (thread->values.at[i].amount)
            context_of[thread->values.at[i].node] = CONTEXT_ROOT;
    for (size_t i = thread->nodes.n - 1; i > MEASUREMENT_ROOT; i--)
        if (context_of[i] != NOT_NEEDED)
            context_of[thread->nodes.at[i].parent] = CONTEXT_ROOT;
}

static void mark_start(struct attribution *attribution, struct context_builder *builder)
{
    const struct thread_ref *thread = &attribution->thread;
    const struct start_routine start = start_routine_of(builder->analysis, thread, builder->kind);
    attribution->start_function = thread_start_function(builder, thread);
    attribution->marks.n = 0;
    vec_reserve(&attribution->marks, thread->thread->nodes.n);
    attribution->marks.n = thread->thread->nodes.n;
    start_routine_mark(&start, attribution->marks.at);
    if (builder->kind == PROJECTION_LOGICAL)
        stack_owners_mark(&builder->owners, builder->analysis, thread, attribution->marks.at);
}

/* The context of a node whose parent's context is `parent`. A node without a note in this
 * projection has the context of the nearest ancestor with one, or CONTEXT_ROOT. */
static uint32_t context_of_node(struct attribution *attribution, struct context_builder *builder,
                                size_t index, uint32_t parent)
{
    const struct thread_ref *thread = &attribution->thread;
    const struct measurement_node *node = &thread->thread->nodes.at[index];
    const struct note note = note_of(node, builder->kind);
    uint8_t mark = attribution->marks.at[index];
    if (parent == CONTEXT_ROOT)
        parent = context_of_owner(builder, thread, node, 0);
    if (note.space == MEASUREMENT_NO_NOTE || mark == BORROWED)
        return parent;
    if (parent == CONTEXT_ROOT)
        parent = context_above(builder, thread, node, &note, 0);
    if (mark == BELOW_START)
        parent = call_below(builder, parent, attribution->start_function);
    return mark == OUTSIDE ? parent : note_below(builder, thread->file, parent, &note);
}

/* Parents come before their children, so one pass suffices. */
void attribute_thread(struct attribution *attribution, struct context_builder *builder,
                      const struct thread_ref *thread)
{
    attribution->thread = *thread;
    mark_needed(attribution, thread->thread);
    mark_start(attribution, builder);
    uint32_t *context_of = attribution->context_of.at;
    for (size_t i = MEASUREMENT_ROOT + 1; i < thread->thread->nodes.n; i++)
        if (context_of[i] != NOT_NEEDED)
            context_of[i] = context_of_node(attribution, builder, i,
                                            context_of[thread->thread->nodes.at[i].parent]);
}

uint32_t attributed_context(const struct attribution *attribution, struct context_builder *builder,
                            uint32_t node)
{
    uint32_t context = attribution->context_of.at[node];
    if (context == CONTEXT_ROOT)
        return thread_entry(builder, &attribution->thread);
    if (attribution->marks.at[node] == OUTSIDE)
        return call_below(builder, context, attribution->start_function);
    return context;
}

void attribution_free(struct attribution *attribution)
{
    vec_free(&attribution->context_of);
    vec_free(&attribution->marks);
}
