#include "hpcstruct/elf/go-program.h"

#include "lib/bytes.h"
#include "lib/diag.h"

#include <elf.h>

/* Words of Go's runtime.moduledata. Its first ones are the addresses of the table and of its names. The address of the
 * data of functions is one of the words from MODULE_TYPES on: 38 in Go 1.18, 40 from 1.20 on, 43 from 1.27 on. */
enum { MODULE_TABLE, MODULE_NAMES, MODULE_TEXT = 22, MODULE_TYPES = 36, MODULE_END = 48 };

/* Functions with inlined calls that show whether an address of the data is right. */
#define FUNCTIONS_TO_CHECK 16

/* ---- what the runtime's own description of the program says ---- */

static uint64_t word_at(const struct go_program *go, const struct relocations *relocations,
                        uint64_t address)
{
    uint64_t word = 0;
    relocations_pointer(relocations, go->image, address, &word);
    return word;
}

static bool is_module_data(const struct go_program *go, const struct relocations *relocations,
                           uint64_t at)
{
    return word_at(go, relocations, at + 8 * MODULE_TABLE) == go->address &&
           elf_loaded(go->image, word_at(go, relocations, at + 8 * MODULE_NAMES)).at ==
               go->table.names.at;
}

/* The address of runtime.moduledata; 0: it is not found. */
static uint64_t find_module_data(const struct go_program *go, const struct relocations *relocations)
{
    for (size_t i = 0; i < relocations->pointers.n; i++)
        if (relocations->pointers.at[i].value == go->address &&
            is_module_data(go, relocations, relocations->pointers.at[i].address))
            return relocations->pointers.at[i].address;
    for (size_t i = 0; i < go->image->segments.n; i++) {
        const struct elf_segment *segment = &go->image->segments.at[i];
        if (segment->type != PT_LOAD || !(segment->flags & PF_W))
            continue;
        for (size_t at = -segment->address % 8; at + 8 <= segment->stored.size; at += 8)
            if (get_u64(segment->stored.at + at) == go->address &&
                is_module_data(go, relocations, segment->address + at))
                return segment->address + at;
    }
    return 0;
}

static bool calls_are_valid(const struct go_program *go)
{
    struct go_function function;
    struct go_call call;
    unsigned valid = 0;
    for (uint64_t i = 0; i < go->table.count && valid < FUNCTIONS_TO_CHECK; i++)
        if (go_program_function(go, i, &function) && function.call_values && function.calls) {
            if (!go_program_call(go, &function, 0, &call))
                return false;
            valid++;
        }
    return valid > 0;
}

static void read_module_data(struct go_program *go, const struct relocations *relocations)
{
    uint64_t module = go->table.version == GO_1_16 ? 0 : find_module_data(go, relocations);
    if (!module)
        return;
    go->table.text = word_at(go, relocations, module + 8 * MODULE_TEXT);
    for (unsigned i = MODULE_TYPES; i < MODULE_END; i++) {
        go->table.data = word_at(go, relocations, module + 8 * i);
        if (calls_are_valid(go))
            return;
    }
    go->table.data = 0;
}

/* ---- finding it ---- */

/* False if it is no table, or if its first function is not where the program has code. */
static bool take_table(struct go_program *go, struct elf_bytes bytes, uint64_t address,
                       const struct relocations *relocations)
{
    struct go_function first;
    go->address = address;
    if (go_table_open(&go->table, bytes.at, bytes.size)) {
        read_module_data(go, relocations);
        if (go_program_function(go, 0, &first))
            return true;
    }
    go->table.count = 0;
    return false;
}

static bool search_segment(struct go_program *go, const struct elf_segment *segment,
                           const struct relocations *relocations)
{
    struct elf_bytes bytes = segment->stored;
    for (size_t at = -segment->address % 8; at + 8 <= bytes.size; at += 8) {
        const struct elf_bytes rest = {bytes.at + at, bytes.size - at};
        if (go_table_begins(rest.at) && take_table(go, rest, segment->address + at, relocations))
            return true;
    }
    return false;
}

void go_program_find(struct go_program *go, const struct elf_image *image,
                     const struct relocations *relocations)
{
    *go = (struct go_program){.image = image};
    const struct elf_section *section = elf_section(image, ".gopclntab");
    if (!section)
        section = elf_section(image, ".data.rel.ro.gopclntab");
    if (section && section->coding == ELF_PLAIN && section->stored.size &&
        !take_table(go, section->stored, section->address, relocations))
        diag_note(image->path,
                  "%s is damaged, or of an unknown version of Go: Go's functions may lack names",
                  section->name);
    /* The system's linker merges the section with others in programs that are position-independent. */
    bool may_be_anywhere = image->sections.n == 0 || (!section && elf_section(image, ".go.buildinfo"));
    for (size_t i = 0; i < image->segments.n && may_be_anywhere; i++)
        if (image->segments.at[i].type == PT_LOAD &&
            search_segment(go, &image->segments.at[i], relocations))
            return;
}

/* ---- functions ---- */

bool go_program_function(const struct go_program *go, uint64_t i, struct go_function *function)
{
    if (!go_table_function(&go->table, i, function))
        return false;
    const struct elf_code *code = elf_code_at(go->image, function->begin);
    return code && function->end <= code->end;
}

void go_program_add_symbols(const struct go_program *go, struct symbol_table *symbols)
{
    struct go_function function;
    for (uint64_t i = 0; i < go->table.count; i++)
        if (go_program_function(go, i, &function))
            vec_push(&symbols->symbols, (struct symbol){.address = function.begin,
                                                        .size = function.end - function.begin,
                                                        .name = function.name,
                                                        .local = true,
                                                        .function = true});
}

bool go_program_call(const struct go_program *go, const struct go_function *function, int64_t i,
                     struct go_call *call)
{
    if (!function->calls || i < 0 || i > INT32_MAX)
        return false;
    struct elf_bytes bytes =
        elf_loaded(go->image, function->calls + go_table_call_size(&go->table) * (uint64_t)i);
    return go_table_call(&go->table, function, (struct go_bytes){bytes.at, bytes.size}, call);
}
