#include "hpcstruct/elf/go-table.h"

#include "lib/bytes.h"
#include "lib/diag.h"

#include <elf.h>
#include <string.h>

/* Words of Go's runtime.moduledata. Its first ones are the addresses of the table and of its names. */
enum { MODULE_TABLE = 0, MODULE_NAMES = 1, MODULE_TEXT = 22, MODULE_DATA_1_18 = 38, MODULE_DATA = 40 };

/* Tables of a function, by number. */
enum { VALUES_OF_CALLS = 2, DATA_OF_CALLS = 3, NO_DATA = UINT32_MAX };

#define HEADER_WORDS 8 /* at most, of 8 bytes, after the first 8 bytes */

/* ---- the header ---- */

static const uint32_t first_bytes[GO_VERSIONS] = {0xfffffffa, 0xfffffff0, 0xfffffff1};

/* What follows: 0, 0, the smallest size of an instruction, the size of a pointer. */
#define ABOUT_X86_64 0x08010000u

static struct elf_bytes part(struct elf_bytes of, uint64_t offset)
{
    if (offset >= of.size)
        return (struct elf_bytes){0};
    return (struct elf_bytes){of.at + offset, of.size - offset};
}

static unsigned address_size(const struct go_table *table)
{
    return table->version == GO_1_16 ? 8 : 4;
}

static bool read_version(struct go_table *table, struct byte_reader *header)
{
    uint32_t found = (uint32_t)read_uint(header, 4);
    if (read_uint(header, 4) != ABOUT_X86_64)
        return false;
    for (table->version = 0; table->version < GO_VERSIONS; table->version++)
        if (first_bytes[table->version] == found)
            return true;
    return false;
}

static bool read_header(struct go_table *table, struct elf_bytes bytes, uint64_t address)
{
    struct byte_reader header = {.bytes = bytes};
    struct elf_bytes *parts[] = {&table->names, &table->units, &table->files, &table->values,
                                 &table->functions};
    if (!read_version(table, &header))
        return false;
    uint64_t count = read_uint(&header, 8);
    skip_bytes(&header, 8); /* the number of files */
    table->text = table->version == GO_1_16 ? 0 : read_uint(&header, 8);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        *parts[i] = part(bytes, read_uint(&header, 8));
    /* The last function is followed by its end. */
    if (header.failed || count >= table->functions.size / (2 * address_size(table)))
        return false;
    table->address = address;
    table->count = count;
    return true;
}

/* ---- what the runtime's own description of the program says ---- */

static uint64_t word_at(const struct go_table *table, const struct relocations *relocations,
                        uint64_t address)
{
    uint64_t word = 0;
    relocations_pointer(relocations, table->image, address, &word);
    return word;
}

static bool is_module_data(const struct go_table *table, const struct relocations *relocations,
                           uint64_t at)
{
    return word_at(table, relocations, at + 8 * MODULE_TABLE) == table->address &&
           elf_loaded(table->image, word_at(table, relocations, at + 8 * MODULE_NAMES)).at ==
               table->names.at;
}

/* The address of runtime.moduledata; 0: it is not found. */
static uint64_t find_module_data(const struct go_table *table,
                                 const struct relocations *relocations)
{
    for (size_t i = 0; i < relocations->pointers.n; i++)
        if (is_module_data(table, relocations, relocations->pointers.at[i].address))
            return relocations->pointers.at[i].address;
    for (size_t i = 0; i < table->image->segments.n; i++) {
        const struct elf_segment *segment = &table->image->segments.at[i];
        if (segment->type != PT_LOAD || !(segment->flags & PF_W))
            continue;
        for (size_t at = -segment->address % 8; at + 8 <= segment->stored.size; at += 8)
            if (get_u64(segment->stored.at + at) == table->address &&
                is_module_data(table, relocations, segment->address + at))
                return segment->address + at;
    }
    return 0;
}

/* Headers from Go 1.26 on do not say where the code begins, nor do those that the loader relocates. */
static void read_module_data(struct go_table *table, const struct relocations *relocations)
{
    uint64_t module = table->version == GO_1_16 ? 0 : find_module_data(table, relocations);
    unsigned data = table->version == GO_1_18 ? MODULE_DATA_1_18 : MODULE_DATA;
    if (!module)
        return;
    table->text = word_at(table, relocations, module + 8 * MODULE_TEXT);
    table->data = word_at(table, relocations, module + 8 * data);
}

/* ---- finding it ---- */

/* Whether it is a table; it has no functions then if none is where the program has code. */
static bool take_table(struct go_table *table, struct elf_bytes bytes, uint64_t address,
                       const struct relocations *relocations)
{
    struct go_function first;
    if (!read_header(table, bytes, address))
        return false;
    read_module_data(table, relocations);
    if (!go_table_function(table, 0, &first))
        table->count = 0;
    return table->count > 0;
}

static bool search_segment(struct go_table *table, const struct elf_segment *segment,
                           const struct relocations *relocations)
{
    for (size_t at = -segment->address % 8; at + 8 * HEADER_WORDS < segment->stored.size; at += 8)
        if (get_u32(segment->stored.at + at + 4) == ABOUT_X86_64 &&
            take_table(table, part(segment->stored, at), segment->address + at, relocations))
            return true;
    return false;
}

void go_table_find(struct go_table *table, const struct elf_image *image,
                   const struct relocations *relocations)
{
    *table = (struct go_table){.image = image};
    const struct elf_section *section = elf_section(image, ".gopclntab");
    if (!section)
        section = elf_section(image, ".data.rel.ro.gopclntab");
    if (section && section->coding == ELF_PLAIN && section->stored.size &&
        !take_table(table, section->stored, section->address, relocations))
        diag_note(image->path, "%s is damaged, or of an unknown version of Go: functions of Go may lack "
                               "their names", section->name);
    for (size_t i = 0; i < image->segments.n && image->sections.n == 0; i++)
        if (image->segments.at[i].type == PT_LOAD &&
            search_segment(table, &image->segments.at[i], relocations))
            return;
}

/* ---- functions ---- */

/* The reader is in front of what follows the description's fields. */
static void read_calls(const struct go_table *table, struct byte_reader *r, uint64_t value_tables,
                       uint64_t data_tables, struct go_function *function)
{
    struct byte_reader values = sub_reader(r, 4 * value_tables);
    if (value_tables <= VALUES_OF_CALLS || data_tables <= DATA_OF_CALLS)
        return;
    skip_bytes(&values, 4 * VALUES_OF_CALLS);
    function->call_values = (uint32_t)read_uint(&values, 4);
    unsigned size = address_size(table);
    skip_bytes(r, -r->at % size);
    skip_bytes(r, (uint64_t)size * DATA_OF_CALLS);
    uint64_t data = read_uint(r, size);
    if (table->version == GO_1_16)
        function->calls = data;
    else if (table->data && data != NO_DATA)
        function->calls = table->data + data;
}

bool go_table_function(const struct go_table *table, uint64_t i, struct go_function *function)
{
    unsigned size = address_size(table);
    struct byte_reader r = {.bytes = table->functions, .at = (size_t)(2 * size * i)};
    *function = (struct go_function){.begin = table->text + read_uint(&r, size)};
    uint64_t description = read_uint(&r, size);
    function->end = table->text + read_uint(&r, size);
    r.at = description;
    skip_bytes(&r, size); /* its address again */
    function->name = elf_string(table->names, read_uint(&r, 4));
    skip_bytes(&r, 12); /* arguments, deferreturn, values of the stack's depth */
    function->file_values = (uint32_t)read_uint(&r, 4);
    function->line_values = (uint32_t)read_uint(&r, 4);
    uint64_t value_tables = read_uint(&r, 4);
    function->unit = (uint32_t)read_uint(&r, 4);
    if (table->version >= GO_1_20)
        function->line = (uint32_t)read_uint(&r, 4);
    skip_bytes(&r, 3); /* an id, flags, 0 */
    uint64_t data_tables = read_uint(&r, 1);
    bool is_read = !r.failed;
    read_calls(table, &r, value_tables, data_tables, function);
    const struct elf_code *code = elf_code_at(table->image, function->begin);
    return is_read && function->name[0] && code && function->begin < function->end &&
           function->end <= code->end;
}

void go_table_add_symbols(const struct go_table *table, struct symbol_table *symbols)
{
    struct go_function function;
    for (uint64_t i = 0; i < table->count; i++)
        if (go_table_function(table, i, &function))
            vec_push(&symbols->symbols, (struct symbol){.address = function.begin,
                                                        .size = function.end - function.begin,
                                                        .name = function.name,
                                                        .local = true,
                                                        .function = true});
}

bool go_table_call(const struct go_table *table, const struct go_function *function, int64_t i,
                   struct go_call *call)
{
    bool is_old = table->version < GO_1_20;
    uint64_t size = is_old ? 20 : 16, offset = size * (uint64_t)i;
    if (!function->calls || i < 0 || i > INT32_MAX)
        return false;
    struct byte_reader r = {.bytes = elf_loaded(table->image, function->calls + offset)};
    *call = (struct go_call){.parent = is_old ? (int16_t)read_uint(&r, 2) : -1};
    skip_bytes(&r, is_old ? 2 : 4); /* an id, zeros */
    if (is_old) {
        call->call_file = (int32_t)read_uint(&r, 4);
        call->call_line = (int32_t)read_uint(&r, 4);
    }
    uint64_t name = read_uint(&r, 4);
    uint64_t call_at = function->begin + read_uint(&r, 4);
    call->call_at = is_old ? 0 : call_at;
    call->line = is_old ? 0 : (uint32_t)read_uint(&r, 4);
    call->name = elf_string(table->names, name);
    return !r.failed && call->name[0] && name > 0 && table->names.at[name - 1] == '\0' &&
           call_at < function->end;
}

const char *go_table_file(const struct go_table *table, const struct go_function *function,
                          int64_t number)
{
    if (number < 0 || number > INT32_MAX)
        return NULL;
    uint64_t i = function->unit + (uint64_t)number;
    struct byte_reader r = {.bytes = table->units, .at = (size_t)(4 * i)};
    uint64_t offset = read_uint(&r, 4);
    const char *name = r.failed ? "" : elf_string(table->files, offset);
    bool is_file = name[0] && name[0] != '<'; /* "<autogenerated>" */
    return is_file ? name : NULL;
}

/* ---- values ---- */

struct go_values go_values_of(const struct go_table *table, const struct go_function *function,
                              uint32_t offset)
{
    return (struct go_values){
        .bytes = {.bytes = table->values, .at = offset, .failed = offset == 0},
        .begin = function->begin,
        .end = function->begin,
        .limit = function->end,
        .value = -1,
    };
}

/* Each is the difference to the one before, zigzag-coded, and the number of bytes. A difference of 0 is the end,
 * but for the first. */
bool go_values_next(struct go_values *values)
{
    bool is_first = values->end == values->begin;
    uint64_t difference = read_uleb128(&values->bytes);
    if (values->bytes.failed || (difference == 0 && !is_first) || values->end >= values->limit)
        return false;
    uint64_t size = read_uleb128(&values->bytes), left = values->limit - values->end;
    values->begin = values->end;
    values->end += size < left ? size : left;
    values->value += unzigzag(difference);
    return !values->bytes.failed && size > 0;
}

int64_t go_value_at(const struct go_table *table, const struct go_function *function,
                    uint32_t offset, uint64_t address)
{
    struct go_values values = go_values_of(table, function, offset);
    while (go_values_next(&values))
        if (address < values.end)
            return values.value;
    return -1;
}
