#include "hpcprof/database/id-tuples.h"

const char *const id_kind_names[ID_KINDS] = {
    [ID_SUMMARY] = "SUMMARY", [ID_NODE] = "NODE",     [ID_RANK] = "RANK",
    [ID_PROCESS] = "PROCESS", [ID_THREAD] = "THREAD",
};

/* The tuples are zeroed and filled field by field, so that padding is zero in the file too. */
static void add_id(struct id_tuple *tuple, enum id_kind kind, enum v4_id_flag flags,
                   uint64_t logical, uint64_t physical)
{
    struct v4_id *id = &tuple->ids[tuple->head.n_ids++];
    id->kind = (uint8_t)kind;
    id->flags = (uint16_t)flags;
    id->logical_id = (uint32_t)logical;
    id->physical_id = physical;
}

/* Files are in the order of hosts, so nodes are numbered as they come. */
struct id_tuple *id_tuples(const struct inputs *inputs, const struct fused *fused)
{
    struct id_tuple *tuples = mem_alloc(fused->profiles.n * sizeof *tuples);
    uint64_t node = 0;
    for (size_t i = 0; i < fused->profiles.n; i++) {
        const struct profile *profile = &fused->profiles.at[i];
        const struct measurement *m = inputs->files.at[profile->input].m;
        const struct measurement_process *process = &m->process;
        if (i > 0) {
            uint32_t before = fused->profiles.at[i - 1].input;
            node += !inputs_same_host(m, inputs->files.at[before].m);
        }
        uint32_t thread = m->threads.at[profile->thread].index;
        add_id(&tuples[i], ID_NODE, V4_ID_IS_PHYSICAL, node, process->host_id);
        if (process->rank >= 0)
            add_id(&tuples[i], ID_RANK, 0, (uint64_t)process->rank, (uint64_t)process->rank);
        add_id(&tuples[i], ID_PROCESS, V4_ID_IS_PHYSICAL, profile->input, process->pid);
        add_id(&tuples[i], ID_THREAD, 0, thread, thread);
    }
    return tuples;
}

size_t id_tuple_size(const struct id_tuple *tuple)
{
    return sizeof tuple->head + tuple->head.n_ids * sizeof *tuple->ids;
}
