#include "hpcstruct/structure/openmp-constructs.h"

#include "hpcstruct/code/backward-slice.h"
#include "hpcstruct/elf/sorted-addresses.h"

#include "lib/path.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* ---- functions of the runtimes ---- */

struct runtime_function {
    const char *name;
    uint8_t kind, role;
    bool has_line; /* the compiler gives the call the line of the construct. gcc gives others the
                      line of any code before them: the line of the construct's code is taken */
    ZydisRegister section; /* register with the address of the critical section's mutex; 0: none */
};

static const struct runtime_function runtime_functions[] = {
    {"GOMP_critical_start", CONSTRUCT_CRITICAL, CONSTRUCT_BEGINS, true, 0},
    {"GOMP_critical_name_start", CONSTRUCT_CRITICAL, CONSTRUCT_BEGINS, true, ZYDIS_REGISTER_RDI},
    {"GOMP_critical_end", CONSTRUCT_CRITICAL, CONSTRUCT_ENDS, true, 0},
    {"GOMP_critical_name_end", CONSTRUCT_CRITICAL, CONSTRUCT_ENDS, true, 0},
    {"GOMP_ordered_start", CONSTRUCT_ORDERED, CONSTRUCT_BEGINS, false, 0},
    {"GOMP_ordered_end", CONSTRUCT_ORDERED, CONSTRUCT_ENDS, false, 0},
    {"GOMP_sections_start", CONSTRUCT_SECTIONS, CONSTRUCT_BEGINS, false, 0},
    {"GOMP_sections2_start", CONSTRUCT_SECTIONS, CONSTRUCT_BEGINS, false, 0},
    {"GOMP_sections_end", CONSTRUCT_SECTIONS, CONSTRUCT_ENDS, false, 0},
    {"GOMP_sections_end_nowait", CONSTRUCT_SECTIONS, CONSTRUCT_ENDS, false, 0},
    {"GOMP_sections_end_cancel", CONSTRUCT_SECTIONS, CONSTRUCT_ENDS, false, 0},
    {"GOMP_single_start", CONSTRUCT_SINGLE, CONSTRUCT_CHOOSES, false, 0},
    {"GOMP_single_copy_end", CONSTRUCT_SINGLE, CONSTRUCT_ENDS, false, 0},
    {"GOMP_barrier", CONSTRUCT_SINGLE, CONSTRUCT_ENDS, false, 0}, /* there is none in a single */
    {"__kmpc_critical", CONSTRUCT_CRITICAL, CONSTRUCT_BEGINS, true, ZYDIS_REGISTER_RDX},
    {"__kmpc_critical_with_hint", CONSTRUCT_CRITICAL, CONSTRUCT_BEGINS, true, ZYDIS_REGISTER_RDX},
    {"__kmpc_end_critical", CONSTRUCT_CRITICAL, CONSTRUCT_ENDS, true, 0},
    {"__kmpc_ordered", CONSTRUCT_ORDERED, CONSTRUCT_BEGINS, true, 0},
    {"__kmpc_end_ordered", CONSTRUCT_ORDERED, CONSTRUCT_ENDS, true, 0},
    {"__kmpc_single", CONSTRUCT_SINGLE, CONSTRUCT_CHOOSES, true, 0},
    {"__kmpc_end_single", CONSTRUCT_SINGLE, CONSTRUCT_ENDS, true, 0},
    {"__kmpc_master", CONSTRUCT_MASTER, CONSTRUCT_CHOOSES, true, 0},
    {"__kmpc_end_master", CONSTRUCT_MASTER, CONSTRUCT_ENDS, true, 0},
    {"__kmpc_masked", CONSTRUCT_MASTER, CONSTRUCT_CHOOSES, true, 0},
    {"__kmpc_end_masked", CONSTRUCT_MASTER, CONSTRUCT_ENDS, true, 0},
};

/* The function of this name, or of a stub "NAME@plt"; NULL: none. */
static const struct runtime_function *function_named(const char *name)
{
    size_t length = strcspn(name, "@");
    for (size_t i = 0; i < sizeof runtime_functions / sizeof *runtime_functions; i++) {
        const struct runtime_function *function = &runtime_functions[i];
        if (strncmp(name, function->name, length) == 0 && function->name[length] == '\0')
            return function;
    }
    return NULL;
}

/* ---- search ---- */

/* Where a function of a runtime, or its stub, is called. */
struct call_target {
    uint64_t begin;
    const struct runtime_function *function;
};

struct construct_search {
    struct construct_calls *calls;
    const struct module_code *code;
    struct debug_info *info;
    const struct elf_image *symbols;
    size_t first_construct;               /* functions of `info` from here on are constructs */
    VEC(struct call_target) targets;      /* sorted */
    const struct code_fragment *fragment; /* the current one, with its instructions if is_decoded */
    bool is_decoded;
    struct decoder decoder;
    struct fragment_flow flow;
};

static void find_targets(struct construct_search *search)
{
    const struct code_map *map = &search->code->map;
    for (size_t i = 0; i < map->owners.n; i++) {
        const char *name = map->owners.at[i].name;
        const struct runtime_function *function = name ? function_named(name) : NULL;
        if (function)
            vec_push(&search->targets, (struct call_target){map->owners.at[i].begin, function});
    }
}

static const struct runtime_function *function_at(const struct construct_search *search,
                                                  uint64_t address)
{
    size_t after = sorted_up_to(&search->targets, begin, address);
    bool is_known = after && search->targets.at[after - 1].begin == address;
    return is_known ? search->targets.at[after - 1].function : NULL;
}

/* ---- instructions ---- */

/* The instruction at an offset of the current fragment; UINT32_MAX: none. */
static uint32_t decoded_index(struct construct_search *search, uint32_t offset)
{
    const struct decode_context context = {&search->code->map, search->code->image,
                                           &search->code->relocations};
    if (!search->is_decoded)
        decode_fragment(&search->decoder, &context, search->fragment, &search->flow);
    search->is_decoded = true;
    return instruction_index(&search->decoder, offset);
}

/* The value of a register before the instruction at an offset; 0: unknown. */
static uint64_t value_before(struct construct_search *search, uint32_t offset, ZydisRegister r)
{
    uint32_t index = decoded_index(search, offset);
    const struct decoded_fragment decoded = {&search->decoder, search->fragment, &search->flow};
    uint64_t value = 0;
    bool is_known = index != UINT32_MAX && register_constant(&decoded, index, r, &value);
    return is_known ? value : 0;
}

/* Where a branch that follows a call goes if the call's result is not 0; 0: unknown. Compilers test
 * the result against itself, 0 or 1, at most after copies. */
static uint64_t branch_if_not_zero(struct construct_search *search, const struct transfer *call)
{
    enum { MOST_INSTRUCTIONS = 6 };
    uint32_t index = decoded_index(search, call->offset);
    const struct decoded_fragment decoded = {&search->decoder, search->fragment, &search->flow};
    struct instruction at;
    bool is_one = false;
    for (uint32_t i = 1; index != UINT32_MAX && i <= MOST_INSTRUCTIONS; i++) {
        if (!instruction_decode(&decoded, index + i, &at))
            return 0;
        if (at.info.mnemonic == ZYDIS_MNEMONIC_CMP)
            is_one = at.operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
                     at.operands[1].imm.value.u == 1;
        bool is_equal = at.info.mnemonic == ZYDIS_MNEMONIC_JZ;
        if (!is_equal && at.info.mnemonic != ZYDIS_MNEMONIC_JNZ)
            continue;
        uint64_t next =
            search->fragment->begin + search->decoder.offsets.at[index + i] + at.info.length;
        return is_equal == is_one ? next + (uint64_t)at.operands[0].imm.value.s : next;
    }
    return 0;
}

/* ---- names ---- */

/* The name of the data symbol at an address that begins with `prefix`, without that; NULL: none. */
static const char *data_name(const struct elf_image *image, uint64_t address, const char *prefix)
{
    size_t length = strlen(prefix);
    for (size_t i = 0; i < image->sections.n; i++) {
        const struct elf_section *section = &image->sections.at[i];
        if ((section->type != SHT_SYMTAB && section->type != SHT_DYNSYM) ||
            section->coding != ELF_PLAIN || section->link >= image->sections.n ||
            image->sections.at[section->link].coding != ELF_PLAIN)
            continue;
        struct elf_bytes strings = image->sections.at[section->link].stored;
        for (size_t at = 0; at + sizeof(Elf64_Sym) <= section->stored.size;
             at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol;
            memcpy(&symbol, section->stored.at + at, sizeof symbol);
            const char *name = elf_string(strings, symbol.st_name);
            if (symbol.st_value == address && strncmp(name, prefix, length) == 0)
                return name + length;
        }
    }
    return NULL;
}

/* "(NAME)" of the critical section that a call enters; "": none. Compilers name the mutex
 * .gomp_critical_user_NAME, clang with ".var" behind it. The caller frees. */
static char *section_name(struct construct_search *search, const struct transfer *call,
                          ZydisRegister r)
{
    uint64_t mutex = r ? value_before(search, call->offset, r) : 0;
    const char *name = mutex ? data_name(search->symbols, mutex, ".gomp_critical_user_") : NULL;
    size_t length = name ? strlen(name) : 0;
    if (length >= 4 && strcmp(name + length - 4, ".var") == 0)
        length -= 4;
    return length ? mem_printf("(%.*s)", (int)length, name) : mem_strdup("");
}

/* The number of a construct, the same for all calls of one construct of the source: compilers copy
 * code. */
static uint32_t add_construct(struct construct_search *search, const char *name, uint32_t file,
                              uint32_t line)
{
    struct debug_info *info = search->info;
    uint32_t id = strtab_id(&info->names, name);
    for (size_t i = search->first_construct; i < info->functions.n; i++) {
        const struct debug_function *known = &info->functions.at[i];
        if (known->name == id && known->file == file && known->line == line)
            return (uint32_t)i;
    }
    vec_push(&info->functions, (struct debug_function){id, file, line});
    return (uint32_t)info->functions.n - 1;
}

static uint32_t construct_of(struct construct_search *search, const struct transfer *transfer,
                             const struct construct_call *call,
                             const struct runtime_function *function)
{
    static const char *const kinds[] = {[CONSTRUCT_CRITICAL] = "critical",
                                        [CONSTRUCT_ORDERED] = "ordered",
                                        [CONSTRUCT_SECTIONS] = "sections",
                                        [CONSTRUCT_SINGLE] = "single",
                                        [CONSTRUCT_MASTER] = "master"};
    const struct debug_info *info = search->info;
    bool is_at_call = function->has_line || !call->body;
    uint32_t row = debug_info_line_index(info, is_at_call ? call->address : call->body);
    uint32_t file = row == DEBUG_NONE ? DEBUG_NONE : info->lines.at[row].file;
    uint32_t line = row == DEBUG_NONE ? 0 : info->lines.at[row].line;
    autofree char *suffix = section_name(search, transfer, function->section);
    autofree char *name =
        file == DEBUG_NONE || !line
            ? mem_printf("%s%s", kinds[call->kind], suffix)
            : mem_printf("%s%s @ %s:%u", kinds[call->kind], suffix, path_base(strtab_string(&info->files, file)), line);
    return add_construct(search, name, file, line);
}

/* ---- calls ---- */

static void add_call(struct construct_search *search, const struct transfer *transfer,
                     const struct runtime_function *function)
{
    struct construct_call call = {.address = search->fragment->begin + transfer->offset,
                                  .length = transfer->length,
                                  .kind = function->kind,
                                  .role = function->role,
                                  .function = DEBUG_NONE};
    if (call.role == CONSTRUCT_BEGINS)
        call.body = call.address + call.length;
    if (call.role == CONSTRUCT_CHOOSES)
        call.body = branch_if_not_zero(search, transfer);
    if (call.role != CONSTRUCT_ENDS)
        call.function = construct_of(search, transfer, &call, function);
    vec_push(&search->calls->all, call);
}

static void add_calls_of(struct construct_search *search, const struct code_fragment *fragment,
                         const struct fragment_flow *flow)
{
    search->fragment = fragment;
    search->is_decoded = false;
    for (size_t i = 0; i < flow->transfers.n; i++) {
        const struct transfer *transfer = &flow->transfers.at[i];
        const struct runtime_function *function =
            transfer->kind == TRANSFER_CALL
                ? function_at(search, transfer_target(fragment, transfer))
                : NULL;
        if (function)
            add_call(search, transfer, function);
    }
    fragment_flow_free(&search->flow);
    search->flow = (struct fragment_flow){0};
}

void construct_calls_find(struct construct_calls *calls, const struct module_code *code,
                          struct debug_info *info, const struct elf_image *symbols)
{
    struct construct_search search = {.calls = calls,
                                      .code = code,
                                      .info = info,
                                      .symbols = symbols,
                                      .first_construct = info->functions.n};
    find_targets(&search);
    if (search.targets.n) {
        decoder_init(&search.decoder);
        for (size_t i = 0; i < code->map.fragments.n; i++)
            add_calls_of(&search, &code->map.fragments.at[i], &code->flows[i]);
        decoder_free(&search.decoder);
    }
    vec_free(&search.targets);
}

void construct_calls_free(struct construct_calls *calls)
{
    vec_free(&calls->all);
}
