#include "hpcstruct/structure/gaps.h"

#include "lib/alloc.h"
#include "lib/binary-search.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum gap_kind {
    NO_INSTRUCTION,
    NOT_DECLARED,
    INDIRECT_JUMP,
    NO_BOUND,
    SEVERAL_ENTRIES,
    TOO_COMPLEX,
    NO_NAME,
    NO_LINES,
    KINDS
};

static const struct {
    const char *word; /* in the list */
    const char *text; /* in the table */
} kinds[KINDS] = {
    [NO_INSTRUCTION] = {"no-instruction", "procedures with bytes that are no instructions (bytes: these)"},
    [NOT_DECLARED] = {"not-declared", "pieces of code that neither a symbol nor a frame description declares"},
    [INDIRECT_JUMP] = {"indirect-jump", "indirect jumps without a jump table: tail calls, or tables not found"},
    [NO_BOUND] = {"no-bound", "jump tables whose number of entries the code does not check (bytes: different entries)"},
    [SEVERAL_ENTRIES] = {"several-entries", "loops with several entries (irreducible): one of these is the header"},
    [TOO_COMPLEX] = {"too-complex", "procedures whose loops would take too long to find"},
    [NO_NAME] = {"no-name", "procedures without a name"},
    [NO_LINES] = {"no-lines", "procedures without source lines"},
};

struct gap {
    uint64_t address, size;
    uint32_t kind;
    uint32_t procedure; /* index in structure.procedures */
};

struct gap_list {
    const struct structure *of;
    VEC(struct gap) all;
    size_t loops, tables;
    uint64_t code_size;
};

static void add(struct gap_list *list, enum gap_kind kind, uint64_t address, uint64_t size,
                uint32_t procedure)
{
    vec_push(&list->all, (struct gap){address, size, kind, procedure});
}

/* ---- machine code ---- */

static void find_in_jump(struct gap_list *list, uint64_t begin, const struct fragment_flow *flow,
                         const struct transfer *transfer, uint32_t procedure)
{
    if (transfer->target == NO_JUMP_TABLE) {
        add(list, INDIRECT_JUMP, begin + transfer->offset, transfer->length, procedure);
        return;
    }
    const struct jump_table *table = &flow->tables.at[transfer->target];
    list->tables++;
    if (!table->bounded)
        add(list, NO_BOUND, begin + transfer->offset, (uint64_t)table->count * table->entry_size,
            procedure);
}

static void find_in_fragment(struct gap_list *list, uint32_t number, uint32_t procedure)
{
    const struct module_code *code = list->of->code;
    const struct code_fragment *fragment = &code->map.fragments.at[number];
    const struct fragment_flow *flow = &code->flows[number];
    const struct code_owner *owner = &code->map.owners.at[fragment->owner];
    uint64_t begin = fragment->begin;
    list->code_size += fragment->end - begin;
    if (flow->undecoded)
        add(list, NO_INSTRUCTION, begin + flow->first_undecoded, flow->undecoded, procedure);
    if (owner->is_gap)
        add(list, NOT_DECLARED, begin, fragment->end - begin, procedure);
    for (size_t i = 0; i < flow->transfers.n && !owner->is_stub; i++)
        if (flow->transfers.at[i].kind == TRANSFER_JUMP_INDIRECT)
            find_in_jump(list, begin, flow, &flow->transfers.at[i], procedure);
}

/* ---- structure ---- */

static void find_in_scopes(struct gap_list *list, const struct procedure_scopes *scopes,
                           uint32_t procedure, bool *has_lines)
{
    *has_lines = false;
    for (uint32_t i = 0; i < scopes->scope_count; i++) {
        const struct scope *scope = &scopes->scopes[i];
        if (scope->kind == SCOPE_STATEMENT && scope->line)
            *has_lines = true;
        if (scope->kind != SCOPE_LOOP)
            continue;
        list->loops++;
        if (scope->irreducible)
            add(list, SEVERAL_ENTRIES, scope->address, 0, procedure);
    }
}

static void find_in_procedure(struct gap_list *list, uint32_t number)
{
    const struct module_code *code = list->of->code;
    const struct procedure_record *record = &list->of->procedures[number];
    const struct procedure *procedure = record->procedure;
    uint64_t size = 0;
    bool has_lines, is_stub = false;
    for (uint32_t i = 0; i < procedure->fragment_count; i++) {
        uint32_t fragment = code->procedures.fragments.at[procedure->first_fragment + i];
        const struct code_fragment *of = &code->map.fragments.at[fragment];
        find_in_fragment(list, fragment, number);
        size += of->end - of->begin;
        is_stub |= code->map.owners.at[of->owner].is_stub;
    }
    find_in_scopes(list, &record->scopes, number, &has_lines);
    if (record->scopes.is_too_complex)
        add(list, TOO_COMPLEX, procedure->entry, size, number);
    if (!record->linkage_name && record->name[0] == '<')
        add(list, NO_NAME, procedure->entry, size, number);
    if (!has_lines && !is_stub)
        add(list, NO_LINES, procedure->entry, size, number);
}

/* ---- output ---- */

static int by_address(const void *a, const void *b)
{
    const struct gap *x = a, *y = b;
    int order = compare_unsigned(x->address, y->address);
    return order ? order : compare_unsigned(x->kind, y->kind);
}

static void write_table(FILE *out, const struct gap_list *list, const char *path,
                        uint32_t missing_units)
{
    size_t counts[KINDS] = {0};
    uint64_t sizes[KINDS] = {0};
    for (size_t i = 0; i < list->all.n; i++) {
        counts[list->all.at[i].kind]++;
        sizes[list->all.at[i].kind] += list->all.at[i].size;
    }
    fprintf(out, "%s: %" PRIu64 " bytes of code in %zu procedures, %zu loops, %zu jump tables\n",
            path, list->code_size, list->of->code->procedures.all.n, list->loops, list->tables);
    fprintf(out, "%8s %10s  not resolved\n", "count", "bytes");
    for (unsigned kind = 0; kind < KINDS; kind++)
        fprintf(out, "%8zu %10" PRIu64 "  %s\n", counts[kind], sizes[kind], kinds[kind].text);
    fprintf(out, "%8" PRIu32 " %10s  compilation units without their .dwo or .dwp file\n",
            missing_units, "-");
}

bool gaps_write(FILE *out, const struct structure *structure, const char *path,
                uint32_t missing_units)
{
    struct gap_list list = {.of = structure};
    for (uint32_t i = 0; i < structure->code->procedures.all.n; i++)
        find_in_procedure(&list, i);
    vec_sort(&list.all, by_address);
    write_table(out, &list, path, missing_units);
    for (size_t i = 0; i < list.all.n; i++) {
        const struct gap *gap = &list.all.at[i];
        fprintf(out, "%s0x%" PRIx64 " %8" PRIu64 " %-16s %s\n", i == 0 ? "\n" : "", gap->address,
                gap->size, kinds[gap->kind].word, structure->procedures[gap->procedure].name);
    }
    vec_free(&list.all);
    return fflush(out) == 0 && !ferror(out);
}
