#include "hpcprof/overhead.h"

bool overhead_measurable(const struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->files.n; i++)
        if (inputs->files.at[i].m->workers.n)
            return true;
    for (size_t i = 0; i < inputs->modules.all.n; i++) {
        const struct structure *s = inputs->modules.all.at[i].structure;
        if (s && s->has_overhead)
            return true;
    }
    return false;
}

/* What the walk makes of a frame. */
enum kind {
    FRAME_OVERHEAD, /* the sample is overhead */
    FRAME_OF_USER,  /* it is not, for all that this frame says */
    FRAME_OF_OTHERS /* look at the caller */
};

static bool is_tagged(const struct inputs *inputs, uint32_t module, uint64_t address)
{
    const struct structure *s = inputs->modules.all.at[module].structure;
    const struct structure_statement *statement =
        s && s->has_overhead ? structure_find(s, address) : NULL;
    return statement && statement->is_overhead;
}

static enum kind kind_of_frame(const struct inputs *inputs, const struct input *input,
                               const struct measurement_node *node)
{
    if (node->association == ASSOC_1_0 || node->association == ASSOC_M_0)
        return FRAME_OVERHEAD;
    if (node->ip_space == MEASUREMENT_NO_NOTE)
        return FRAME_OF_OTHERS;
    if (node->ip_space >= input->m->modules.n)
        return FRAME_OF_USER;
    if (is_tagged(inputs, input->module_of[node->ip_space], node->ip_offset))
        return FRAME_OVERHEAD;
    uint64_t flags = input->m->modules.at[node->ip_space].flags;
    return flags & (MODULE_LIBC | MODULE_VDSO) ? FRAME_OF_OTHERS : FRAME_OF_USER;
}

void overhead_mark(const struct inputs *inputs, const struct input *input,
                   const struct measurement_thread *thread, bool *marks)
{
    for (size_t i = MEASUREMENT_ROOT; i < thread->nodes.n; i++) {
        const struct measurement_node *node = &thread->nodes.at[i];
        enum kind kind = i == MEASUREMENT_ROOT ? FRAME_OF_USER : kind_of_frame(inputs, input, node);
        marks[i] = kind == FRAME_OF_OTHERS ? marks[node->parent] : kind == FRAME_OVERHEAD;
    }
}
