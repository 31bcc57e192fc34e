/* Handler. */
#include "agents/python/python-names.h"

#define READ(address) agent_u64(r->host, r->cursor, (address))

/* Bits of a str's state, from the lowest one: 2 of `interned`, 3 of `kind` (bytes of a character),
 * `compact`, `ascii`. */
#define KIND(state)       ((state) >> 2 & 7)
#define IS_COMPACT(state) ((state) >> 5 & 1)
#define IS_ASCII(state)   ((state) >> 6 & 1)

static struct agent_text text_at(const struct python_reader *r, uint64_t text)
{
    uint32_t state = agent_u32(r->host, r->cursor, text + r->layout->text_state);
    uint32_t data = IS_ASCII(state) ? r->layout->text_ascii : r->layout->text_compact;
    return (struct agent_text){
        .at = text + data,
        .length = (uint32_t)READ(text + r->layout->text_length),
        .width = IS_COMPACT(state) ? KIND(state) : 0, /* 0 is no width: the copy fails */
    };
}

enum { CODE, NAME, FILE, LINES, FIRST_LINE, NAME_HASH, LINES_SIZE, LINES_BEGIN };

_Static_assert(LINES_BEGIN + 1 == AGENT_NAME_KEY, "all words of a key");

static void read_key(const struct python_reader *r, uint64_t code, uint64_t *key)
{
    const struct python_layout *at = r->layout;
    key[CODE] = code;
    key[NAME] = READ(code + at->code_name);
    key[FILE] = READ(code + at->code_file);
    key[LINES] = READ(code + at->code_lines);
    key[FIRST_LINE] = agent_u32(r->host, r->cursor, code + at->code_first_line);
    key[NAME_HASH] = READ(key[NAME] + at->text_hash);
    key[LINES_SIZE] = READ(key[LINES] + at->bytes_size);
    key[LINES_BEGIN] = READ(key[LINES] + at->bytes_start);
}

static bool is_equal(const uint64_t *a, const uint64_t *b)
{
    uint64_t differences = 0;
    for (unsigned i = 0; i < AGENT_NAME_KEY; i++)
        differences |= a[i] ^ b[i];
    return differences == 0;
}

static uint64_t value_of(const struct python_reader *r, const uint64_t *key)
{
    struct agent_name name = {
        .procedure = text_at(r, key[NAME]),
        .file = text_at(r, key[FILE]),
        .line = (uint32_t)key[FIRST_LINE],
        .lines = AGENT_LINES_PYTHON,
        .table = key[LINES] + r->layout->bytes_start,
        .table_bytes = key[LINES_SIZE] < AGENT_MAX_TABLE_BYTES ? (uint32_t)key[LINES_SIZE] : 0,
    };
    for (unsigned i = 0; i < AGENT_NAME_KEY; i++)
        name.key[i] = key[i];
    return r->host->name(r->cursor, &name);
}

const struct python_name *python_name(const struct python_reader *r, struct python_names *names,
                                      uint64_t code)
{
    struct python_name *name = &names->at[code / 16 * 0x9e3779b1u / 256 % PYTHON_NAMES];
    uint64_t key[AGENT_NAME_KEY];
    read_key(r, code, key);
    if (name->value && is_equal(name->key, key))
        return name;
    name->value = value_of(r, key);
    for (unsigned i = 0; i < AGENT_NAME_KEY; i++)
        name->key[i] = key[i];
    name->first_traceable =
        (int32_t)agent_u32(r->host, r->cursor, code + r->layout->code_first_traceable);
    return name->value ? name : NULL;
}
