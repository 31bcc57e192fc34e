/* Gives the functions of all units their numbers and names in debug_info.functions.
 *
 * Functions that are the same in the source occur in many units. They are recognized by the strings
 * that name them, which linkers share, so that each name is looked at once. Members of two instances of a
 * template differ in their prefix only: `box<int>::`, `box<char>::`. */
#ifndef HPCSTRUCT_FUNCTION_TABLE_H
#define HPCSTRUCT_FUNCTION_TABLE_H

#include "hpcstruct/dwarf/unit-scopes.h"

/* A string in the debug information. */
struct raw_name {
    const char *text;
    bool is_linkage; /* it may be mangled */
};

struct table_function {
    uint32_t name; /* in raw_names */
    uint32_t file, line;
    uint32_t prefix; /* in prefixes; NO_PREFIX: none */
    bool is_local;   /* it is not declared: its name does not identify it */
};

/* A function whose prefix is that of an entry in another unit. */
struct foreign_prefix {
    uint32_t function; /* in `all` */
    uint32_t source;
    uint64_t offset;
};

struct function_table {
    VEC(struct table_function) all;
    VEC(struct raw_name) raw_names;
    struct idmap name_ids;  /* address of a string, is_linkage -> raw_names */
    struct idmap by_name;   /* name and file, prefix and line -> all */
    struct idmap by_entry;  /* the same for functions of other units: offset and source -> all */
    struct strtab prefixes; /* "NAMESPACE::CLASS::" */
    struct idmap nested;    /* offset and source of an entry -> prefixes */
    VEC(struct foreign_prefix) foreign;
};

/* Adds the namespaces and classes of a unit, which functions of other units refer to. */
void function_table_add_prefixes(struct function_table *table, const struct unit_scopes *scopes,
                                 uint32_t source);

/* Adds the functions of a unit, and sets numbers[i] to the number of the i-th in `all`. */
void function_table_add(struct function_table *table, const struct unit_scopes *scopes,
                        uint32_t *numbers);

/* Adds all functions to `info`, and replaces the numbers in info->scopes by theirs. */
void function_table_finish(struct function_table *table, struct debug_info *info, unsigned workers);

void function_table_free(struct function_table *table);

#endif
