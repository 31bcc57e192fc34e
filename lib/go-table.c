#include "lib/go-table.h"

#include "lib/bytes.h"

/* Tables of a function, by number. */
enum { VALUES_OF_CALLS = 2, DATA_OF_CALLS = 3 };

#define NO_DATA UINT32_MAX

/* Flags of a function, from 1.17 on. */
enum { FLAG_OUTERMOST = 1, FLAG_CHANGES_STACK = 2 };

/* What follows the first bytes: 0, 0, the smallest size of an instruction, the size of a pointer. */
#define ABOUT_X86_64 0x08010000u

static const uint32_t first_bytes[GO_VERSIONS] = {0xfffffffa, 0xfffffff0, 0xfffffff1};

/* ---- reading ---- */

/* A position in bytes of the table. `failed` is set, and stays set, by a read beyond their end. */
struct cursor {
    struct go_bytes bytes;
    uint64_t at;
    bool failed;
};

static void skip(struct cursor *c, uint64_t size)
{
    if (c->at > c->bytes.size || size > c->bytes.size - c->at)
        c->failed = true;
    else
        c->at += size;
}

static uint64_t take(struct cursor *c, unsigned size)
{
    uint64_t value = 0, at = c->at;
    skip(c, size);
    if (!c->failed)
        memcpy(&value, c->bytes.at + at, size);
    return value;
}

static struct go_bytes part(struct go_bytes of, uint64_t offset)
{
    if (offset >= of.size)
        return (struct go_bytes){0};
    return (struct go_bytes){of.at + offset, of.size - offset};
}

/* The string there; "" if it does not end within the bytes. */
static const char *string_at(struct go_bytes bytes, uint64_t offset)
{
    struct go_bytes text = part(bytes, offset);
    return text.at && memchr(text.at, '\0', text.size) ? (const char *)text.at : "";
}

static unsigned address_size(const struct go_table *table)
{
    return table->version == GO_1_16 ? 8 : 4;
}

/* ---- the header ---- */

static enum go_version version_of(const uint8_t *bytes)
{
    enum go_version version = GO_1_16;
    while (version < GO_VERSIONS &&
           (first_bytes[version] != get_u32(bytes) || get_u32(bytes + 4) != ABOUT_X86_64))
        version++;
    return version;
}

bool go_table_begins(const uint8_t *bytes)
{
    return version_of(bytes) < GO_VERSIONS;
}

/* Otherwise functions could share their code and tables, and be far more than the bytes of the table. */
static bool functions_ascend(const struct go_table *table)
{
    unsigned size = address_size(table);
    struct cursor c = {.bytes = table->functions};
    uint64_t last = take(&c, size);
    for (uint64_t i = 0; i < table->count; i++) {
        skip(&c, size);
        uint64_t next = take(&c, size);
        if (next <= last)
            return false;
        last = next;
    }
    return !c.failed;
}

bool go_table_open(struct go_table *table, const uint8_t *bytes, size_t size)
{
    struct go_bytes all = {bytes, size};
    struct cursor c = {.bytes = all};
    struct go_bytes *parts[] = {&table->names, &table->units, &table->files, &table->values,
                                &table->functions};
    *table = (struct go_table){0};
    skip(&c, 8);
    if (c.failed || !go_table_begins(bytes))
        return false;
    table->version = version_of(bytes);
    table->count = take(&c, 8);
    skip(&c, 8); /* the number of files */
    table->text = table->version == GO_1_16 ? 0 : take(&c, 8);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        *parts[i] = part(all, take(&c, 8));
    return !c.failed && table->count > 0 &&
           table->count < table->functions.size / (2 * address_size(table)) &&
           functions_ascend(table); /* the last one is followed by its end */
}

/* ---- functions ---- */

/* The cursor is after the fields of the description. */
static void read_calls(const struct go_table *table, struct cursor c, uint64_t value_tables,
                       uint64_t data_tables, struct go_function *function)
{
    unsigned size = address_size(table);
    if (value_tables <= VALUES_OF_CALLS || data_tables <= DATA_OF_CALLS)
        return;
    uint64_t after = c.at + 4 * value_tables;
    skip(&c, 4 * VALUES_OF_CALLS);
    function->call_values = (uint32_t)take(&c, 4);
    c.at = (after + size - 1) & ~(uint64_t)(size - 1);
    skip(&c, (uint64_t)size * DATA_OF_CALLS);
    uint64_t data = take(&c, size);
    if (table->version == GO_1_16)
        function->calls = data;
    else if (table->data && data != NO_DATA && !c.failed)
        function->calls = table->data + data;
}

static void read_description(const struct go_table *table, struct cursor *c,
                             struct go_function *function)
{
    skip(c, address_size(table)); /* its address again */
    function->name = string_at(table->names, take(c, 4));
    skip(c, 8); /* arguments, deferreturn */
    function->depth_values = (uint32_t)take(c, 4);
    function->file_values = (uint32_t)take(c, 4);
    function->line_values = (uint32_t)take(c, 4);
    uint64_t value_tables = take(c, 4);
    function->unit = (uint32_t)take(c, 4);
    if (table->version >= GO_1_20)
        function->line = (uint32_t)take(c, 4);
    skip(c, 1); /* an id */
    uint64_t flags = take(c, 1);
    function->is_outermost = flags & FLAG_OUTERMOST;
    function->changes_stack = flags & FLAG_CHANGES_STACK;
    skip(c, 1);
    uint64_t data_tables = take(c, 1);
    read_calls(table, *c, value_tables, data_tables, function);
}

bool go_table_function(const struct go_table *table, uint64_t i, struct go_function *function)
{
    unsigned size = address_size(table);
    struct cursor c = {.bytes = table->functions, .at = 2 * size * i};
    *function = (struct go_function){.begin = table->text + take(&c, size)};
    uint64_t description = take(&c, size);
    function->end = table->text + take(&c, size);
    c.at = description;
    read_description(table, &c, function);
    return !c.failed && function->name[0] && function->begin < function->end;
}

unsigned go_table_call_size(const struct go_table *table)
{
    return table->version < GO_1_20 ? 20 : 16;
}

bool go_table_call(const struct go_table *table, const struct go_function *function,
                   struct go_bytes bytes, struct go_call *call)
{
    bool is_old = table->version < GO_1_20;
    struct cursor c = {.bytes = bytes};
    *call = (struct go_call){.parent = is_old ? (int16_t)take(&c, 2) : -1};
    skip(&c, is_old ? 2 : 4); /* an id, zeros */
    if (is_old) {
        call->call_file = (int32_t)take(&c, 4);
        call->call_line = (int32_t)take(&c, 4);
    }
    uint64_t name = take(&c, 4), call_at = function->begin + take(&c, 4);
    call->call_at = is_old ? 0 : call_at;
    call->line = is_old ? 0 : (uint32_t)take(&c, 4);
    call->name = string_at(table->names, name);
    return !c.failed && call->name[0] && name > 0 && table->names.at[name - 1] == '\0' &&
           call_at < function->end;
}

const char *go_table_file(const struct go_table *table, const struct go_function *function,
                          int64_t number)
{
    if (number < 0 || number > INT32_MAX)
        return NULL;
    struct cursor c = {.bytes = table->units, .at = 4 * (function->unit + (uint64_t)number)};
    uint64_t offset = take(&c, 4);
    const char *name = c.failed ? "" : string_at(table->files, offset);
    bool is_file = name[0] && name[0] != '<'; /* "<autogenerated>" */
    return is_file ? name : NULL;
}

/* ---- values ---- */

struct go_values go_values_of(const struct go_table *table, const struct go_function *function,
                              uint32_t offset)
{
    return (struct go_values){
        .bytes = offset ? part(table->values, offset) : (struct go_bytes){0},
        .begin = function->begin,
        .end = function->begin,
        .limit = function->end,
        .value = -1,
    };
}

static bool take_varint(struct go_bytes *bytes, uint64_t *value)
{
    const uint8_t *begin = bytes->at;
    if (!begin || !get_varint(&bytes->at, begin + bytes->size, value))
        return false;
    bytes->size -= (size_t)(bytes->at - begin);
    return true;
}

/* Each is the difference to the one before, zigzag-coded, and the number of bytes. A difference of 0 is the
 * end, but for the first. */
bool go_values_next(struct go_values *values)
{
    bool is_first = values->end == values->begin;
    uint64_t difference, size, left = values->limit - values->end;
    if (left == 0 || !take_varint(&values->bytes, &difference) || (difference == 0 && !is_first) ||
        !take_varint(&values->bytes, &size) || size == 0)
        return false;
    values->begin = values->end;
    values->end += size < left ? size : left;
    values->value = (int64_t)((uint64_t)values->value + (uint64_t)unzigzag(difference));
    return true;
}
