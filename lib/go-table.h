/* The table of functions that Go's linker puts into every program (.gopclntab): Go's runtime walks and prints
 * stacks by it, so stripped programs have it, too.
 *
 *     first bytes   Go           differences
 *     fa ff ff ff   1.16, 1.17   addresses of 8 bytes
 *     f0 ff ff ff   1.18, 1.19   offsets of 4 bytes from the begin of the code
 *     f1 ff ff ff   1.20 on      functions have the line of their declaration
 *
 * Parts of the table, and of what belongs to a function:
 *
 *     functions      for each: its address, the offset of its description; then the descriptions
 *     names, files   strings
 *     units          for each compilation unit: offsets of its files' names
 *     values         tables of what holds from an address on: the depth of the stack, the file, the line, the
 *                    inlined call
 *
 * Nothing of it is trusted: what lies beyond the table can't be read. */
#ifndef LIB_GO_TABLE_H
#define LIB_GO_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum go_version { GO_1_16, GO_1_18, GO_1_20, GO_VERSIONS };

/* Bytes up to the end of the table. */
struct go_bytes {
    const uint8_t *at; /* NULL: none */
    size_t size;
};

struct go_table {
    enum go_version version;
    uint64_t count; /* of functions */
    uint64_t text; /* what the functions' addresses are relative to; the header may say 0 (below) */
    uint64_t data; /* what the addresses of inlined calls are relative to; 0: unknown */
    struct go_bytes names, units, files, values, functions;
};

struct go_function {
    uint64_t begin, end;
    const char *name;
    uint32_t line; /* of its declaration; 0: unknown */
    uint32_t unit; /* its first file in go_table.units */
    /* Offsets of its tables in go_table.values; 0: none. */
    uint32_t depth_values, file_values, line_values, call_values;
    uint64_t calls; /* address of its inlined calls; 0: it has none */
    bool
        is_outermost; /* the first function on a stack, or treated as such: goexit, mstart, mcall */
    bool changes_stack; /* it moves rsp to another stack, as systemstack */
};

/* An inlined call. */
struct go_call {
    const char *name; /* of the called function */
    uint32_t line;    /* of that one's declaration; 0: unknown */
    int32_t parent;   /* the call that it is in; -1: none. From 1.20 on, call_at says it */
    uint64_t
        call_at; /* from 1.20 on: an address with the place and the parent of the call; else 0 */
    int32_t call_file, call_line; /* before 1.20 */
};

/* A value that holds for addresses. */
struct go_values {
    struct go_bytes bytes; /* of the values that follow */
    uint64_t begin, end, limit;
    int64_t value;
};

/* The first bytes of a table; 8 of them are enough to recognize it. */
bool go_table_begins(const uint8_t *bytes);

/* Reads the header. False if it is damaged, of an unknown version, or if addresses of functions don't ascend. From Go 1.26 on it does not say where the
 * code begins, nor does one that the loader relocates: table->text is 0, and the caller finds it. */
bool go_table_open(struct go_table *table, const uint8_t *bytes, size_t size);

/* Function i. False if it is damaged. */
bool go_table_function(const struct go_table *table, uint64_t i, struct go_function *function);

/* The inlined call whose description begins these bytes. False if it is damaged. */
bool go_table_call(const struct go_table *table, const struct go_function *function,
                   struct go_bytes bytes, struct go_call *call);
unsigned go_table_call_size(const struct go_table *table);

/* The name of a file of a function's unit; NULL: none. */
const char *go_table_file(const struct go_table *table, const struct go_function *function,
                          int64_t number);

/* Begins a table of values, in front of the first one. `offset`: one of the function's. */
struct go_values go_values_of(const struct go_table *table, const struct go_function *function,
                              uint32_t offset);

/* Goes on to the next value, whose addresses follow. False if there is none. */
bool go_values_next(struct go_values *values);

#endif
