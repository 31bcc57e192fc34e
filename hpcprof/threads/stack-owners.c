#include "hpcprof/threads/stack-owners.h"

#include "hpcprof/contexts/note-contexts.h"

#include <stdlib.h>
#include <string.h>

/* As in start-routine.c: two frames of the thread library, and some of sanitizers and the like. */
#define MAX_BORROWED 8

/* Whether two threads hang at the same place. */
static bool hang_alike(const struct measurement_thread *a, const struct measurement_thread *b)
{
    if (a->join.known != b->join.known)
        return false;
    return !a->join.known || (a->creator == b->creator && a->join.node == b->join.node &&
                              a->join.space == b->join.space && a->join.offset == b->join.offset &&
                              a->creation_context == b->creation_context);
}

static struct stack_owner *find(const struct stack_owners *owners, uint32_t function)
{
    for (size_t i = 0; i < owners->list.n; i++)
        if (owners->list.at[i].function == function)
            return &owners->list.at[i];
    return NULL;
}

static uint32_t function_at(const struct analysis *analysis, const struct thread_ref *thread,
                            uint32_t space, uint64_t offset)
{
    const struct start_routine start = {.analysis = analysis, .thread = thread};
    return start_routine_function_at(&start, space, offset);
}

static void add_thread(struct stack_owners *owners, const struct analysis *analysis,
                       const struct thread_ref *of)
{
    const struct measurement_thread *thread = of->thread;
    uint32_t function = function_at(analysis, of, thread->start_space, thread->start_offset);
    struct stack_owner *owner = function == NO_SYMBOL ? NULL : find(owners, function);
    if (owner)
        owner->is_unclear |= !hang_alike(owner->thread, thread);
    else if (function != NO_SYMBOL)
        vec_push(&owners->list, (struct stack_owner){.function = function, .thread = thread});
}

static void change_file(struct stack_owners *owners, const struct analysis *analysis,
                        const struct thread_ref *thread)
{
    struct thread_ref of = *thread;
    owners->m = thread->m;
    owners->list.n = 0;
    for (size_t i = 0; i < of.m->threads.n; i++) {
        of.thread = &of.m->threads.at[i];
        add_thread(owners, analysis, &of);
    }
}

void stack_owners_free(struct stack_owners *owners)
{
    vec_free(&owners->list);
}

const struct stack_owner *stack_owner_at(struct stack_owners *owners,
                                         const struct analysis *analysis,
                                         const struct thread_ref *thread, uint32_t space,
                                         uint64_t value)
{
    if (owners->m != thread->m)
        change_file(owners, analysis, thread);
    uint32_t function = owners->list.n ? function_at(analysis, thread, space, value) : NO_SYMBOL;
    return function == NO_SYMBOL ? NULL : find(owners, function);
}

/* ---- frames outside of a start routine ---- */

const struct measurement_thread *stack_owner_named(const struct measurement *m,
                                                   const struct measurement_node *node)
{
    return node_names_owner(node)
               ? measurement_find_thread(m, node->lip_value - PLACEHOLDER_STACK_OF)
               : NULL;
}

/* The nodes outside of a node. */
struct outside {
    uint32_t notes; /* 1 + their notes; 0: the search has ended in one of them */
    uint32_t owner; /* 1 + position in the file of the thread that they name; 0: none */
};

/* What a node is, as seen from outside. */
enum frame { END, OUTSIDE_OR_NOT, WITHOUT_NOTE, START };

/* Whether a node is a frame of the start routine of the thread on whose stack its path begins. */
static bool is_start(struct stack_owners *owners, const struct analysis *analysis,
                     const struct thread_ref *thread, const struct measurement_node *node,
                     struct outside outside)
{
    if (!outside.owner)
        return stack_owner_at(owners, analysis, thread, node->lip_space, node->lip_value);
    const struct measurement_thread *owner = &thread->m->threads.at[outside.owner - 1];
    uint32_t start = function_at(analysis, thread, owner->start_space, owner->start_offset);
    return start != NO_SYMBOL &&
           start == function_at(analysis, thread, node->lip_space, node->lip_value);
}

static enum frame frame_of(struct stack_owners *owners, const struct analysis *analysis,
                           const struct thread_ref *thread, uint32_t index, struct outside outside)
{
    const struct measurement_node *node = &thread->thread->nodes.at[index];
    if (node_names_owner(node))
        return outside.notes == 1 ? WITHOUT_NOTE : END;
    if (node->lip_space == MEASUREMENT_NO_NOTE)
        return WITHOUT_NOTE;
    if (outside.notes > MAX_BORROWED + 1 ||
        (outside.notes == 1 && !path_is_replaced(thread->m, node)))
        return END;
    return is_start(owners, analysis, thread, node, outside) ? START : OUTSIDE_OR_NOT;
}

/* The nodes outside of a child of this node. */
static struct outside outside_of_child(const struct thread_ref *thread, uint32_t index,
                                       enum frame frame, struct outside outside)
{
    const struct measurement_thread *owner =
        stack_owner_named(thread->m, &thread->thread->nodes.at[index]);
    if (frame == END || frame == START)
        return (struct outside){0};
    if (owner)
        outside.owner = (uint32_t)(owner - thread->m->threads.at) + 1;
    outside.notes += frame == OUTSIDE_OR_NOT;
    return outside;
}

/* Marks the notes around a node. */
static void mark_around(const struct measurement_thread *thread, uint32_t node, uint8_t *marks)
{
    while ((node = thread->nodes.at[node].parent) != MEASUREMENT_ROOT && marks[node] != BORROWED)
        if (thread->nodes.at[node].lip_space != MEASUREMENT_NO_NOTE)
            marks[node] = BORROWED;
}

void stack_owners_mark(struct stack_owners *owners, const struct analysis *analysis,
                       const struct thread_ref *thread, uint8_t *marks)
{
    const struct measurement_thread *t = thread->thread;
    if (!measurement_has_agent(thread->m))
        return;
    autofree struct outside *of_child = mem_alloc(t->nodes.n * sizeof *of_child); /* of each node */
    of_child[MEASUREMENT_ROOT].notes = 1;
    for (uint32_t i = MEASUREMENT_LOST_NODE + 1; i < t->nodes.n; i++) {
        struct outside outside = of_child[t->nodes.at[i].parent];
        enum frame frame = outside.notes ? frame_of(owners, analysis, thread, i, outside) : END;
        if (frame == START)
            mark_around(t, i, marks);
        of_child[i] = outside_of_child(thread, i, frame, outside);
    }
}
