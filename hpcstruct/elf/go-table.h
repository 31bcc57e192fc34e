/* The table of functions that Go's linker puts into every program (.gopclntab): Go's runtime prints stacks by
 * it, so stripped programs have it, too. Without section headers it is found by its first bytes.
 *
 *     first bytes   Go           differences
 *     fa ff ff ff   1.16, 1.17   addresses of 8 bytes
 *     f0 ff ff ff   1.18, 1.19   offsets of 4 bytes from the begin of the code
 *     f1 ff ff ff   1.20 on      functions have the line of their declaration
 *
 * Parts of the table, and of what belongs to a function:
 *
 *     functions   for each: its address, the offset of its description; then the descriptions
 *     names, files   strings
 *     units       for each compilation unit: offsets of its files' names
 *     values      tables of what holds from an address on: the file, the line, the inlined call
 *
 * Nothing of it is trusted: a read beyond a part fails. */
#ifndef HPCSTRUCT_GO_TABLE_H
#define HPCSTRUCT_GO_TABLE_H

#include "hpcstruct/elf/byte-reader.h"
#include "hpcstruct/elf/dynamic-linking.h"

enum go_version { GO_1_16, GO_1_18, GO_1_20, GO_VERSIONS };

struct go_table {
    const struct elf_image *image;
    enum go_version version;
    uint64_t address; /* of the table */
    uint64_t count;   /* of functions; 0: the file has no table */
    uint64_t text;    /* what the functions' addresses are relative to */
    uint64_t data;    /* what the addresses of inlined calls are relative to; 0: they are not known */
    struct elf_bytes names, units, files, values, functions; /* each up to the end of the table */
};

struct go_function {
    uint64_t begin, end;
    const char *name;
    uint32_t line; /* of its declaration; 0: unknown */
    uint32_t unit; /* its first file in go_table.units */
    uint32_t file_values, line_values, call_values; /* offsets in go_table.values; 0: none */
    uint64_t calls; /* address of its inlined calls; 0: it has none */
};

/* An inlined call. */
struct go_call {
    const char *name; /* of the called function */
    uint32_t line;    /* of that one's declaration; 0: unknown */
    int32_t parent;   /* the call that it is in; -1: none; from 1.20 on, call_at says it */
    uint64_t call_at; /* from 1.20 on: an address with the place and the parent of the call; else 0 */
    int32_t call_file, call_line; /* before 1.20 */
};

/* A value that holds for addresses. */
struct go_values {
    struct byte_reader bytes;
    uint64_t begin, end, limit;
    int64_t value;
};

/* Finds the table. Prints a note (lib/diag.h) if it is of an unknown version, or damaged. */
void go_table_find(struct go_table *table, const struct elf_image *image,
                   const struct relocations *relocations);

/* Adds a symbol for each function. */
void go_table_add_symbols(const struct go_table *table, struct symbol_table *symbols);

/* Function i. False if it is damaged. */
bool go_table_function(const struct go_table *table, uint64_t i, struct go_function *function);

/* Inlined call i of a function. False if there is none. */
bool go_table_call(const struct go_table *table, const struct go_function *function, int64_t i,
                   struct go_call *call);

/* The name of a file of a function's unit; NULL: none. */
const char *go_table_file(const struct go_table *table, const struct go_function *function,
                          int64_t number);

/* Begins a table of values, in front of the first one. `offset`: one of the function's. */
struct go_values go_values_of(const struct go_table *table, const struct go_function *function,
                              uint32_t offset);

/* Goes on to the next value, whose addresses follow. False if there is none. */
bool go_values_next(struct go_values *values);

/* The value at an address; -1: none. */
int64_t go_value_at(const struct go_table *table, const struct go_function *function,
                    uint32_t offset, uint64_t address);

#endif
