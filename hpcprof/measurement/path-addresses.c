#include "hpcprof/measurement/path-addresses.h"

#include "hpcprof/team/team.h"

#include "lib/parallel.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* What a worker finds. */
struct address_search {
    struct module_addresses found;
    struct idmap known; /* (module, address) */
    const struct measurement_file *file;
};

static void add(struct address_search *search, uint32_t space, uint64_t address)
{
    if (space >= search->file->m->modules.n)
        return;
    uint32_t module = search->file->module_of[space];
    if (idmap_get(&search->known, module, address) != IDMAP_NONE)
        return;
    idmap_put(&search->known, module, address, 0);
    vec_push(&search->found.of_module[module].all, address);
}

static void add_thread(struct address_search *search, const struct measurement_thread *thread)
{
    add(search, thread->start_space, thread->start_offset);
    if (thread->join.known)
        add(search, thread->join.space, thread->join.offset);
    for (size_t i = MEASUREMENT_LOST_NODE + 1; i < thread->nodes.n; i++) {
        const struct measurement_node *node = &thread->nodes.at[i];
        add(search, node->ip_space, node->ip_offset);
        add(search, node->lip_space, node->lip_value);
        if (node->has_site)
            add(search, node->lip_space, node->site);
    }
}

/* ---- all ranks of a team ---- */

/* For each module the number of its addresses, then these. */
static void pack(void *data, struct team_bytes *bytes)
{
    const struct module_addresses *addresses = data;
    bytes->n = 0;
    for (size_t i = 0; i < addresses->n; i++) {
        const struct address_set *set = &addresses->of_module[i];
        uint64_t count = set->all.n;
        team_bytes_add(bytes, &count, sizeof count);
        team_bytes_add(bytes, set->all.at, count * sizeof *set->all.at);
    }
}

static void merge(void *data, const uint8_t *bytes, size_t size)
{
    struct module_addresses *addresses = data;
    const uint8_t *at = bytes;
    for (size_t i = 0; i < addresses->n; i++) {
        struct address_set *set = &addresses->of_module[i];
        uint64_t count;
        memcpy(&count, at, sizeof count);
        vec_reserve(&set->all, count);
        if (count)
            memcpy(set->all.at + set->all.n, at + sizeof count, count * sizeof *set->all.at);
        set->all.n += count;
        at += sizeof count + count * sizeof *set->all.at;
        address_set_finish(set);
    }
    assert(at == bytes + size);
}

static void merge_ranks(struct module_addresses *addresses)
{
    autofree struct team_bytes bytes = {0};
    team_reduce(addresses, pack, merge);
    pack(addresses, &bytes);
    team_broadcast(&bytes, 0);
    merge(addresses, bytes.at, bytes.n);
}

struct listed_thread {
    const struct measurement_file *file;
    const struct measurement_thread *thread;
};

struct search_job {
    VEC(struct listed_thread) threads;
    struct address_search *searches; /* per worker */
};

static void search_thread(void *context, unsigned worker, size_t index)
{
    const struct search_job *job = context;
    struct address_search *search = &job->searches[worker];
    search->file = job->threads.at[index].file;
    add_thread(search, job->threads.at[index].thread);
}

static void list_threads(struct search_job *job, const struct measurements *measurements)
{
    for (size_t i = 0; i < measurements->files.n; i++) {
        const struct measurement_file *file = &measurements->files.at[i];
        for (size_t k = 0; k < file->m->threads.n; k++)
            vec_push(&job->threads, (struct listed_thread){file, &file->m->threads.at[k]});
    }
}

static struct module_addresses no_addresses(size_t modules)
{
    return (struct module_addresses){mem_alloc(modules * sizeof(struct address_set)), modules};
}

void path_addresses_find(struct module_addresses *addresses,
                         const struct measurements *measurements, unsigned workers)
{
    size_t n = measurements->modules.all.n;
    struct search_job job = {.searches = mem_alloc(workers * sizeof *job.searches)};
    *addresses = no_addresses(n);
    for (unsigned k = 0; k < workers; k++)
        job.searches[k].found = no_addresses(n);
    list_threads(&job, measurements);
    parallel_for(job.threads.n, workers, search_thread, &job);
    for (unsigned k = 0; k < workers; k++) {
        for (size_t i = 0; i < n; i++)
            address_set_add(&addresses->of_module[i], &job.searches[k].found.of_module[i]);
        module_addresses_free(&job.searches[k].found);
        idmap_free(&job.searches[k].known);
    }
    free(job.searches);
    vec_free(&job.threads);
    for (size_t i = 0; i < n; i++)
        address_set_finish(&addresses->of_module[i]);
    if (!team_is_alone())
        merge_ranks(addresses);
}
