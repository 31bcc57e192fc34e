/* Handler. */
#include "agents/python/python-objects.h"

/* In structures of all versions that the agent knows, of builds with a GIL. */
enum {
    TYPE_BASIC_SIZE = 32,
    TYPE_FLAGS = 168,
    MANAGED_DICT = 1 << 4,  /* of these: attributes are in a dict or in an array of values */
    INLINE_VALUES = 1 << 2, /* 3.13: the array follows the object's fields */
    TUPLE_SIZE = 16,
    TUPLE_ITEMS = 24,
    DICT_KEYS = 32,
    DICT_VALUES = 40,
    KEYS_INDEX_BYTES = 9, /* the log2 of the size of a table, which lies before the entries */
    KEYS_KIND = 10,
    KEYS_COUNT = 24,
    KEYS_TABLE = 32,
};

/* Kinds of keys. The entries of the first have a hash, too; those of the last have no value. */
enum { KEYS_GENERAL, KEYS_TEXTS, KEYS_SHARED };

#define MOST_KEYS 8192

uint64_t python_word(const struct python_reader *r, uint64_t address)
{
    return agent_u64(r->host, r->cursor, address);
}

uint64_t python_type(const struct python_reader *r, uint64_t object)
{
    return object ? python_word(r, object + r->layout->object_type) : 0;
}

uint64_t python_field(const struct python_reader *r, uint64_t object, uint32_t offset)
{
    return python_word(r, object + r->layout->object_more + offset);
}

uint64_t python_item(const struct python_reader *r, uint64_t tuple, uint32_t i)
{
    return i < python_field(r, tuple, TUPLE_SIZE) ? python_field(r, tuple, TUPLE_ITEMS + 8 * i) : 0;
}

/* Bits of a str's state, after `interned`: 3 of `kind` (bytes of a character), `compact`, `ascii`. */
#define KIND(state)       ((state)&7)
#define IS_COMPACT(state) ((state) >> 3 & 1)
#define IS_ASCII(state)   ((state) >> 4 & 1)

/* A str that is not compact, as one of a subclass, has a pointer to its characters after the fields of
 * the compact form. */
struct agent_text python_text(const struct python_reader *r, uint64_t text)
{
    uint32_t state =
        agent_u32(r->host, r->cursor, text + r->layout->text_state) >> r->layout->text_kind_bit;
    uint32_t data = IS_ASCII(state) ? r->layout->text_ascii : r->layout->text_compact;
    return (struct agent_text){
        .at = IS_COMPACT(state) ? text + data : python_word(r, text + r->layout->text_compact),
        .length = (uint32_t)python_word(r, text + r->layout->text_length),
        .width = KIND(state),
    };
}

bool python_text_is(const struct python_reader *r, uint64_t text, const char *expected)
{
    char found[32] = {0};
    size_t length = __builtin_strlen(expected), words = (length + 7) / 8 * 8;
    return text && python_word(r, text + r->layout->text_length) == length &&
           r->host->read(r->cursor, text + r->layout->text_ascii, found, words) &&
           __builtin_memcmp(found, expected, length) == 0;
}

static uint8_t byte_at(const struct python_reader *r, uint64_t address)
{
    uint8_t byte;
    return r->host->read(r->cursor, address, &byte, sizeof byte) ? byte : 0;
}

/* `values`: the array of values; 0: the entries have them. */
static struct python_items items_of(const struct python_reader *r, uint64_t keys, uint64_t values)
{
    if (!keys)
        return (struct python_items){0};
    return (struct python_items){
        .entries = keys + KEYS_TABLE + ((uint64_t)1 << (byte_at(r, keys + KEYS_INDEX_BYTES) & 31)),
        .key_at = byte_at(r, keys + KEYS_KIND) == KEYS_GENERAL ? 8 : 0,
        .count = python_word(r, keys + KEYS_COUNT),
        .values = values};
}

struct python_items python_items(const struct python_reader *r, uint64_t dict)
{
    uint64_t values = dict ? python_field(r, dict, DICT_VALUES) : 0;
    return items_of(r, dict ? python_field(r, dict, DICT_KEYS) : 0,
                    values ? values + r->layout->values_start : 0);
}

/* Before an object are 2 words of the garbage collector, and before these the addresses of its dict and, in
 * 3.11, of its array of values. 3.12 has only one of them: that of the array less 1. Free-threaded builds have
 * only that of the dict. */
static struct python_items attributes_of(const struct python_reader *r, uint64_t object)
{
    uint64_t type = python_type(r, object), flags = type ? python_field(r, type, TYPE_FLAGS) : 0;
    if (!(flags & MANAGED_DICT))
        return (struct python_items){0};
    uint64_t dict = python_word(r, object - (r->layout->object_more ? 8 : 24));
    uint64_t values = 0;
    if (r->layout->minor == 11)
        values = python_word(r, object - 32);
    else if (r->layout->minor == 12)
        values = dict & 1 ? dict + 1 : 0;
    else if (flags & INLINE_VALUES && !dict)
        values = object + python_field(r, type, TYPE_BASIC_SIZE) + r->layout->values_start;
    return values ? items_of(r, python_word(r, type + r->layout->type_keys), values)
                  : python_items(r, dict);
}

uint64_t python_value(const struct python_reader *r, const struct python_items *items, uint64_t i)
{
    uint64_t entry = items->entries + (items->key_at + 16) * i;
    return python_word(r, items->values ? items->values + 8 * i : entry + items->key_at + 8);
}

uint64_t python_value_of(const struct python_reader *r, const struct python_items *items,
                         const char *name)
{
    uint64_t key = items->entries + items->key_at;
    for (uint64_t i = 0; i < items->count && i < MOST_KEYS; i++, key += items->key_at + 16)
        if (python_text_is(r, python_word(r, key), name))
            return python_value(r, items, i);
    return 0;
}

uint64_t python_attribute(const struct python_reader *r, uint64_t object, const char *name)
{
    struct python_items its = attributes_of(r, object);
    return python_value_of(r, &its, name);
}

uint64_t python_first_argument(const struct python_reader *r, uint64_t frame, const char *function)
{
    uint64_t at = frame;
    struct python_frame its = python_frame_next(r, &at);
    bool is = python_type(r, its.code) == r->layout->code_type &&
              python_text_is(r, python_word(r, its.code + r->layout->code_name), function);
    return is ? python_word(r, frame + r->layout->frame_locals) & ~PYTHON_TAGS : 0;
}
