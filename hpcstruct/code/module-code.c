#include "hpcstruct/code/module-code.h"

#include "hpcstruct/code/called-functions.h"
#include "hpcstruct/code/jump-table.h"
#include "hpcstruct/elf/sorted-addresses.h"

#include "lib/diag.h"
#include "lib/parallel.h"

#include <stdlib.h>

/* ---- decoding ---- */

struct decode_job {
    struct decode_context context;
    struct fragment_flow *flows;
    struct decoder *decoders;
    bool with_gaps;
};

static void decode_one(void *argument, unsigned worker, size_t fragment)
{
    struct decode_job *job = argument;
    const struct code_fragment *wanted = &job->context.map->fragments.at[fragment];
    bool is_wanted = job->with_gaps || !job->context.map->owners.at[wanted->owner].is_gap;
    if (is_wanted && job->flows[fragment].transfers.n == 0) {
        decode_fragment(&job->decoders[worker], &job->context, wanted, &job->flows[fragment]);
        jump_tables_resolve(&job->decoders[worker], &job->context, wanted, &job->flows[fragment]);
        diag_progress_add((wanted->end - wanted->begin) / 2); /* building procedures is the other half */
    }
}

/* Decodes the fragments that are not decoded yet. */
static void decode_all(struct module_code *code, bool with_gaps, unsigned workers)
{
    struct decode_job job = {
        .context = {&code->map, code->image, &code->relocations},
        .flows = code->flows,
        .decoders = code->decoders,
        .with_gaps = with_gaps,
    };
    parallel_for_many(code->map.fragments.n, workers, decode_one, &job);
}

/* ---- the map ---- */

/* Moves the flows of the fragments that are in both maps to a new array; frees the others. */
static struct fragment_flow *move_flows(struct fragment_flow *flows, const struct code_map *before,
                                        const struct code_map *after)
{
    const struct code_fragment *fragments = after->fragments.at;
    size_t count = after->fragments.n, k = 0;
    struct fragment_flow *kept = mem_alloc(count * sizeof *kept);
    for (size_t i = 0; i < before->fragments.n; i++) {
        const struct code_fragment *fragment = &before->fragments.at[i];
        while (k < count && fragments[k].begin < fragment->begin)
            k++;
        if (k < count && fragments[k].begin == fragment->begin && fragments[k].end == fragment->end)
            kept[k] = flows[i];
        else
            fragment_flow_free(&flows[i]);
    }
    free(flows);
    return kept;
}

/* Divides the code into fragments and decodes them. If calls reveal functions in gaps, divides it
 * again there. */
static void read_map(struct module_code *code, unsigned workers)
{
    struct code_sources sources = {
        .image = code->image,
        .symbols = &code->symbols,
        .frames = &code->frames,
        .stubs = &code->stubs,
    };
    code->decoders = mem_alloc(workers * sizeof *code->decoders);
    code->decoder_count = workers;
    for (unsigned i = 0; i < workers; i++)
        decoder_init(&code->decoders[i]);
    code_map_build(&code->map, &sources, workers);
    code->flows = mem_alloc(code->map.fragments.n * sizeof *code->flows);
    decode_all(code, false, workers);
    struct address_list called = {0};
    called_functions_find(&called, &code->map, code->flows, workers);
    if (called.all.n) {
        struct code_map old = code->map;
        code->map = (struct code_map){0};
        sources.called = called.all.at;
        sources.called_count = called.all.n;
        code_map_build(&code->map, &sources, workers);
        code->flows = move_flows(code->flows, &old, &code->map);
        code_map_free(&old);
    }
    decode_all(code, true, workers);
    vec_free(&called.all);
    jump_tables_finish(code->flows, code->map.fragments.n, workers);
}

/* ---- tables of the binary ---- */

struct table_job {
    struct module_code *code;
    const struct elf_image *debug; /* or NULL */
};

static void read_symbols(const struct table_job *job)
{
    struct module_code *code = job->code;
    symbols_add(&code->symbols, code->image, code->image);
    if (job->debug)
        symbols_add(&code->symbols, job->debug, code->image);
}

/* Those that need no other one. */
enum table { TABLE_RELOCATIONS, TABLE_SYMBOLS, TABLE_FRAME_ENTRIES, TABLES };

static void read_table(void *context, unsigned worker, size_t which)
{
    const struct table_job *job = context;
    (void)worker;
    switch ((enum table)which) {
    case TABLE_RELOCATIONS: relocations_read(&job->code->relocations, job->code->image); break;
    case TABLE_SYMBOLS: read_symbols(job); break;
    case TABLE_FRAME_ENTRIES: frame_entries_read(&job->code->frames, job->code->image); break;
    case TABLES: break;
    }
}

/* ---- the whole ---- */

void module_code_read(struct module_code *code, const struct elf_image *image,
                      const struct elf_image *debug, unsigned workers)
{
    *code = (struct module_code){.image = image};
    struct table_job tables = {code, debug};
    parallel_for(TABLES, workers, read_table, &tables);
    go_program_find(&code->go, image, &code->relocations);
    go_program_add_symbols(&code->go, &code->symbols);
    symbols_sort(&code->symbols);
    plt_read(&code->stubs, image, &code->relocations, &code->symbols);
    read_map(code, workers);
    const struct flow_sources sources = {&code->map, code->flows, image, &code->frames};
    cross_jumps_find(&code->cross_jumps, &sources, workers);
}

void module_code_join(struct module_code *code, const struct code_link *links, size_t link_count)
{
    procedures_build(&code->procedures, &code->map, &code->cross_jumps, links, link_count);
    cross_jumps_free(&code->cross_jumps);
}

void module_code_free(struct module_code *code)
{
    procedures_free(&code->procedures);
    cross_jumps_free(&code->cross_jumps);
    for (size_t i = 0; i < code->map.fragments.n; i++)
        fragment_flow_free(&code->flows[i]);
    free(code->flows);
    for (unsigned i = 0; i < code->decoder_count; i++)
        decoder_free(&code->decoders[i]);
    free(code->decoders);
    code_map_free(&code->map);
    frame_entries_free(&code->frames);
    plt_free(&code->stubs);
    relocations_free(&code->relocations);
    symbols_free(&code->symbols);
}

void module_code_landing_pads(const struct module_code *code, const struct procedure *procedure,
                              struct landing_pads *pads)
{
    const struct frame_entries *frames = &code->frames;
    for (uint32_t i = 0; i < procedure->fragment_count; i++) {
        uint32_t number = code->procedures.fragments.at[procedure->first_fragment + i];
        const struct code_fragment *fragment = &code->map.fragments.at[number];
        for (size_t k = sorted_below(&frames->entries, begin, fragment->begin);
             k < frames->entries.n && frames->entries.at[k].begin < fragment->end; k++)
            landing_pads_read(pads, code->image, &frames->entries.at[k]);
    }
}
