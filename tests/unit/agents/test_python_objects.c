/* agents/python/python-objects.h: attributes of instances, in the ways of the versions, read from memory that a
 * test has built. */
#include "tests/unit/cmocka_suite.h"

#include "agents/python/python-objects.h"

enum { MANAGED_DICT = 1 << 4, INLINE_VALUES = 1 << 2, ASCII = 1 << 2 | 1 << 5 | 1 << 6 };

struct text {
    uint64_t header[2], length, state;
    char data[32];
};

/* Two keys; a table of 8 bytes lies before them. */
struct keys {
    uint8_t pad[9], index_bytes, kind, more[5];
    uint64_t usable, count, table, entries[6];
};

struct dict {
    uint64_t header[4], keys, values;
};

static struct type {
    uint64_t header[4], basic_size, pad[16], flags, more[91], keys;
} type;

/* 24 bytes before the object is its dict, 32 before its values; it has two fields of its own. */
static struct {
    uint64_t values, dict, collector[2];
    uint64_t count, type, fields[2];
    uint64_t inline_prefix, inline_values[2];
} instance;

static struct python_layout layout = {
    .object_type = 8,
    .text_length = offsetof(struct text, length),
    .text_state = offsetof(struct text, state),
    .text_kind_bit = 2,
    .text_ascii = offsetof(struct text, data),
    .type_keys = offsetof(struct type, keys),
};

static bool read_memory(const struct agent_cursor *cursor, uint64_t address, void *to, size_t size)
{
    if (address < 4096)
        return false;
    memcpy(to, (const void *)(uintptr_t)address, size);
    return true;
}

static const struct agent_host host = {.read = read_memory};
static const struct agent_cursor cursor;
static const struct python_reader reader = {&host, &cursor, &layout};

static uint64_t address(const void *of)
{
    return (uint64_t)(uintptr_t)of;
}

static struct text first = {.length = 4, .state = ASCII, .data = "more"};
static struct text second = {.length = 5, .state = ASCII, .data = "_name"};
static struct text longer = {.length = 9, .state = ASCII, .data = "_name_too"};
static struct keys keys;
static struct dict dict;
static uint64_t values[3]; /* the first one is of the prefix of 3.13 */

enum { MORE = 0x5000, NAME = 0x6000 };

STEP(begin)
{
    memset(&instance, 0, sizeof instance);
    keys = (struct keys){.index_bytes = 3, .count = 2, .kind = 2};
    keys.entries[0] = address(&first);
    keys.entries[2] = address(&second);
    type = (struct type){.basic_size = 32, .flags = MANAGED_DICT, .keys = address(&keys)};
    instance.type = address(&type);
    dict = (struct dict){.keys = address(&keys)};
    memcpy(values, (uint64_t[]){0, MORE, NAME}, sizeof values);
    layout.values_start = 0;
}

static void check_attributes(void)
{
    uint64_t object = address(&instance.count);
    assert_int_equal(python_attribute(&reader, object, "_name"), NAME);
    assert_int_equal(python_attribute(&reader, object, "more"), MORE);
    assert_int_equal(python_attribute(&reader, object, "_none"), 0);
    keys.entries[2] = address(&longer);
    assert_int_equal(python_attribute(&reader, object, "_name"), 0);
    keys.entries[2] = address(&second);
    type.flags = 0; /* as of a class with slots */
    assert_int_equal(python_attribute(&reader, object, "_name"), 0);
}

TEST(values_of_3_11)
{
    layout.minor = 11;
    instance.values = address(&values[1]);
    check_attributes();
}

TEST(values_of_3_12)
{
    layout.minor = 12;
    instance.dict = address(&values[1]) - 1;
    check_attributes();
}

TEST(values_of_3_13)
{
    layout.minor = 13;
    layout.values_start = 8;
    type.flags |= INLINE_VALUES;
    memcpy(instance.inline_values, &values[1], sizeof instance.inline_values);
    check_attributes();
}

TEST(dicts)
{
    for (layout.minor = 11; layout.minor <= 13; layout.minor++) {
        begin(NULL);
        instance.dict = address(&dict);
        layout.values_start = layout.minor == 13 ? 8 : 0;
        dict.values = address(&values[layout.minor == 13 ? 0 : 1]);
        check_attributes();
        begin(NULL);
        instance.dict = address(&dict);
        keys.kind = 1; /* with values */
        keys.entries[1] = MORE;
        keys.entries[3] = NAME;
        check_attributes();
        begin(NULL);
        instance.dict = address(&dict);
        keys.kind = 0; /* with hashes, too */
        memcpy(keys.entries, (uint64_t[]){1, address(&first), MORE, 2, address(&second), NAME},
               sizeof keys.entries);
        assert_int_equal(python_attribute(&reader, address(&instance.count), "_name"), NAME);
        assert_int_equal(python_attribute(&reader, address(&instance.count), "more"), MORE);
    }
}

EACH_TEST(begin, NULL);
