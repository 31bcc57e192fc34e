/* Handler. Objects of Python: their types, and attributes of instances of classes that are written in
 * Python. */
#ifndef AGENTS_PYTHON_OBJECTS_H
#define AGENTS_PYTHON_OBJECTS_H

#include "agents/python/python-frames.h"

/* The word at an address, and the type of an object; 0: it cannot be read. */
uint64_t python_word(const struct python_reader *r, uint64_t address);
uint64_t python_type(const struct python_reader *r, uint64_t object);

/* A field of an object. Its offset is that of a build with a GIL. */
uint64_t python_field(const struct python_reader *r, uint64_t object, uint32_t offset);

/* Item i of a tuple; 0: it has fewer. */
uint64_t python_item(const struct python_reader *r, uint64_t tuple, uint32_t i);

/* The characters of a str. */
struct agent_text python_text(const struct python_reader *r, uint64_t text);

/* Whether a str is this ASCII text, of less than 32 characters. */
bool python_text_is(const struct python_reader *r, uint64_t text, const char *expected);

/* The keys and values of a dict. Entries that were removed have no value. */
struct python_items {
    uint64_t entries, count;
    uint64_t values; /* array of them; 0: the entries have them */
    uint32_t key_at; /* in an entry */
};
struct python_items python_items(const struct python_reader *r, uint64_t dict);

/* Value i, and the value of a name, which is ASCII; 0: there is none. */
uint64_t python_value(const struct python_reader *r, const struct python_items *items, uint64_t i);
uint64_t python_value_of(const struct python_reader *r, const struct python_items *items,
                         const char *name);

/* The value of an instance's attribute; 0: it has none of this name. */
uint64_t python_attribute(const struct python_reader *r, uint64_t object, const char *name);

/* The first argument of a frame's function, if this is its qualified name; else 0. */
uint64_t python_first_argument(const struct python_reader *r, uint64_t frame, const char *function);

#endif
