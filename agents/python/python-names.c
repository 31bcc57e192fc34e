/* Handler. */
#include "agents/python/python-names.h"

#include "agents/python/python-objects.h"

#define READ(address) agent_u64(r->host, r->cursor, (address))

enum { CODE, NAME, FILE, LINES, FIRST_LINE, NAME_HASH, LINES_SIZE, LINES_BEGIN };

_Static_assert(LINES_BEGIN + 1 == AGENT_NAME_KEY, "all words of a key");

static bool read_key(const struct python_reader *r, uint64_t code, uint64_t *key)
{
    const struct python_layout *at = r->layout;
    uint64_t words[CODE_WORDS];
    uint32_t from = CODE_FROM + at->object_more;
    if (!r->host->read(r->cursor, code + from, words, sizeof words))
        return false;
    key[CODE] = code;
    key[NAME] = words[(at->code_name - from) / 8];
    key[FILE] = words[(at->code_file - from) / 8];
    key[LINES] = words[(at->code_lines - from) / 8];
    uint64_t half = words[(at->code_first_line - from) / 8];
    key[FIRST_LINE] = at->code_first_line % 8 ? half >> 32 : half & UINT32_MAX;
    key[NAME_HASH] = READ(key[NAME] + at->text_hash);
    if (!r->host->read(r->cursor, key[LINES] + at->bytes_size, words, BYTES_WORDS * 8))
        return false;
    key[LINES_SIZE] = words[0];
    key[LINES_BEGIN] = words[BYTES_WORDS - 1];
    return true;
}

static bool is_equal(const uint64_t *a, const uint64_t *b)
{
    uint64_t differences = 0;
    for (unsigned i = 0; i < AGENT_NAME_KEY; i++)
        differences |= a[i] ^ b[i];
    return differences == 0;
}

/* From outside, a longer table of lines could not be read in time: such code has its first line only. */
#define MOST_ELSEWHERE 16384u

static uint64_t value_of(const struct python_reader *r, const uint64_t *key)
{
    uint32_t most = r->host->is_elsewhere ? MOST_ELSEWHERE : AGENT_MAX_TABLE_BYTES;
    struct agent_name name = {
        .procedure = python_text(r, key[NAME]),
        .file = python_text(r, key[FILE]),
        .line = (uint32_t)key[FIRST_LINE],
        .lines = AGENT_LINES_PYTHON,
        .table = key[LINES] + r->layout->bytes_start,
        .table_bytes = key[LINES_SIZE] < most ? (uint32_t)key[LINES_SIZE] : 0,
    };
    for (unsigned i = 0; i < AGENT_NAME_KEY; i++)
        name.key[i] = key[i];
    return r->host->name(r->cursor, &name);
}

/* Whether code is of importlib, which is between an import and the module's code: its file is
 * "<frozen importlib._bootstrap>" or "<frozen importlib._bootstrap_external>". */
static bool is_of_importlib(const struct python_reader *r, uint64_t file)
{
    static const char begin[] = "<frozen importlib._boots"; /* three words */
    char text[sizeof begin - 1];
    return READ(file + r->layout->text_length) > sizeof text &&
           r->host->read(r->cursor, python_text(r, file).at, text, sizeof text) &&
           __builtin_memcmp(text, begin, sizeof text) == 0;
}

const struct python_name *python_name(const struct python_reader *r, struct python_names *names,
                                      uint64_t code)
{
    struct python_name *name = &names->at[code / 16 * 0x9e3779b1u / 256 % PYTHON_NAMES];
    uint64_t key[AGENT_NAME_KEY];
    if (!read_key(r, code, key))
        return NULL;
    if (name->value && is_equal(name->key, key))
        return name;
    name->value = value_of(r, key);
    for (unsigned i = 0; i < AGENT_NAME_KEY; i++)
        name->key[i] = key[i];
    name->first_traceable =
        (int32_t)agent_u32(r->host, r->cursor, code + r->layout->code_first_traceable);
    name->is_hidden = is_of_importlib(r, key[FILE]);
    return name->value ? name : NULL;
}
