#include "hpcstruct/structure/module-structure.h"

#include "lib/parallel.h"

#include <stdlib.h>
#include <string.h>

/* Bytes of the instruction `syscall`. */
#define SYSCALL_SIZE 2

void procedure_record_free(struct procedure_record *record)
{
    free(record->name);
    free(record->linkage_name);
    procedure_scopes_free(&record->scopes);
    record->name = record->linkage_name = NULL;
    record->scopes = (struct procedure_scopes){0};
}

/* ---- waits ---- */

/* A sample taken in the kernel has the address of the system call if that is restarted, else the address
 * after it: each range extends from the first byte of the system call to the first byte after it,
 * inclusive. */
struct wait_ranges structure_waits(const struct structure *structure, const struct procedure *procedure)
{
    struct wait_ranges waits = {0};
    for (uint32_t i = 0; i < procedure->fragment_count; i++) {
        uint32_t number = structure_fragment(structure, procedure, i);
        const struct fragment_flow *flow = &structure->code->flows[number];
        for (size_t k = 0; k < flow->waits.n; k++) {
            uint64_t at = structure->code->map.fragments.at[number].begin + flow->waits.at[k];
            vec_push(&waits, (__typeof__(*waits.at)){at, at + SYSCALL_SIZE + 1});
        }
    }
    return waits;
}

/* ---- order ---- */

/* A procedure in the order of writing. */
struct ordered_procedure {
    const char *file; /* NULL: unknown; sorted last */
    uint32_t number;
};

static int by_file(const void *a, const void *b)
{
    const struct ordered_procedure *x = a, *y = b;
    if (!x->file != !y->file)
        return x->file ? -1 : 1;
    int order = x->file ? strcmp(x->file, y->file) : 0;
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* ---- parts ---- */

/* Procedures that are built by one worker, and then written. */
#define PART_SIZE 16

struct procedure_writer {
    const struct structure *from;
    VEC(struct ordered_procedure) order;
    procedure_write *write;
    void *context;
};

static size_t end_of_part(const struct procedure_writer *w, size_t begin)
{
    return begin + PART_SIZE < w->order.n ? begin + PART_SIZE : w->order.n;
}

static void build_part(void *context, unsigned worker, size_t part)
{
    struct procedure_writer *w = context;
    size_t begin = part * PART_SIZE;
    for (size_t i = begin; i < end_of_part(w, begin); i++)
        w->from->build(w->from->context, worker, w->order.at[i].number);
}

static void write_part(void *context, size_t part)
{
    struct procedure_writer *w = context;
    size_t begin = part * PART_SIZE;
    for (size_t i = begin; i < end_of_part(w, begin); i++) {
        struct procedure_record *record = &w->from->procedures[w->order.at[i].number];
        w->write(w->context, record);
        procedure_record_free(record);
    }
}

void structure_write_procedures(const struct structure *structure, unsigned workers,
                                procedure_write *write, void *context)
{
    struct procedure_writer w = {.from = structure, .write = write, .context = context};
    for (uint32_t i = 0; i < structure->code->procedures.all.n; i++) {
        uint32_t file = structure->procedures[i].file;
        if (structure->is_wanted && !structure->is_wanted[i])
            continue;
        const char *name = file == DEBUG_NONE ? NULL : strtab_string(&structure->info->files, file);
        vec_push(&w.order, (struct ordered_procedure){name, i});
    }
    vec_sort(&w.order, by_file);
    parallel_in_order((w.order.n + PART_SIZE - 1) / PART_SIZE, workers, build_part, write_part, &w);
    vec_free(&w.order);
}
