/* Handler. */
#include "agents/python/python-names.h"

#include "agents/python/python-objects.h"

#define READ(address) agent_u64(r->host, r->cursor, (address))

enum { CODE, NAME, FILE, LINES, FIRST_LINE, NAME_HASH, LINES_SIZE, LINES_BEGIN };

_Static_assert(LINES_BEGIN + 1 == AGENT_NAME_KEY, "all words of a key");

#define CODE_KEY (FIRST_LINE + 1) /* words that the code object itself has: the first ones */

static uint32_t half_in(const uint64_t *words, uint32_t offset)
{
    return (uint32_t)(words[offset / 8] >> 8 * (offset % 8));
}

/* Reads the words of a code object itself, and its version. */
static bool read_code(const struct python_reader *r, uint64_t code, uint64_t *key,
                      uint32_t *version)
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
    key[FIRST_LINE] = half_in(words, at->code_first_line - from);
    *version = at->code_version ? half_in(words, at->code_version - from) : 0;
    return true;
}

/* Reads the words of the objects that it refers to. */
static bool read_details(const struct python_reader *r, uint64_t *key)
{
    uint64_t words[BYTES_WORDS];
    key[NAME_HASH] = READ(key[NAME] + r->layout->text_hash);
    if (!r->host->read(r->cursor, key[LINES] + r->layout->bytes_size, words, sizeof words))
        return false;
    key[LINES_SIZE] = words[0];
    key[LINES_BEGIN] = words[BYTES_WORDS - 1];
    return true;
}

#define GOLDEN 0x9e3779b97f4a7c15 /* 2^64 / golden ratio */

/* Differs if one of the words differs; if several do, it is the same once in 2^64 times. */
static uint64_t check_of(const uint64_t *words, unsigned count, uint64_t check)
{
    for (unsigned i = 0; i < count; i++) {
        check = (check ^ words[i]) * GOLDEN;
        check ^= check >> 32;
    }
    return check;
}

/* From outside, a longer table of lines could not be read in time: such code has its first line only. */
#define MOST_ELSEWHERE 16384u

/* 0, too, if something of the name was missing at the sample: a later one has it. */
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
    bool is_missed = r->host->is_elsewhere && !r->host->is_caught(r->cursor);
    return is_missed ? 0 : r->host->name(r->cursor, &name);
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

void python_names_begin(struct python_names *names)
{
    names->sample++;
}

static struct python_name *place_of(struct python_names *names, const struct python_frame *frame)
{
    uint64_t object = frame->function ? frame->function : frame->code;
    return &names->at[object / 16 * GOLDEN >> (64 - PYTHON_NAME_BITS)];
}

static uint32_t version_of(const struct python_reader *r, uint64_t function)
{
    return function ? agent_u32(r->host, r->cursor, function + r->layout->function_version) : 0;
}

/* A frame keeps its function, so that another one can have this address only while the frame ends. */
static bool has_same_version(const struct python_name *name, const struct python_frame *frame, uint32_t version)
{
    return version && name->version == version && name->function == frame->function && name->code == frame->code;
}

/* Whether the frame executes the function's present code: not if that was replaced meanwhile. */
static bool has_code(const struct python_reader *r, const struct python_frame *frame)
{
    return READ(frame->function + r->layout->object_type) == r->layout->types.function &&
           READ(frame->function + r->layout->function_code) == frame->code;
}

static void take_function(const struct python_reader *r, struct python_name *name, const struct python_frame *frame,
                          uint32_t version)
{
    name->function = frame->function;
    name->version = version && has_code(r, frame) ? version : 0;
}

/* Compares the code with that of the name, and makes another name if it differs. False: it can't be read. */
static bool take_code(const struct python_reader *r, struct python_name *name, uint64_t code)
{
    uint64_t key[AGENT_NAME_KEY];
    uint32_t version;
    if (READ(code + r->layout->object_type) != r->layout->code_type || !read_code(r, code, key, &version) ||
        (!version && !read_details(r, key)))
        return false;
    uint64_t check = check_of(key, version ? CODE_KEY : AGENT_NAME_KEY, version);
    if (name->value && name->check == check)
        return true;
    if (version && !read_details(r, key))
        return false;
    name->code = code;
    name->check = check;
    name->first_traceable =
        (int32_t)agent_u32(r->host, r->cursor, code + r->layout->code_first_traceable);
    name->is_hidden = is_of_importlib(r, key[FILE]);
    name->value = value_of(r, key);
    return true;
}

unsigned python_name_reads(const struct python_reader *r, struct python_names *names, const struct python_frame *frame,
                           uint64_t *addresses)
{
    const struct python_layout *at = r->layout;
    const struct python_name *name = place_of(names, frame);
    uint64_t words = frame->code + CODE_FROM + at->object_more;
    unsigned n = 0;
    if (frame->function)
        addresses[n++] = frame->function + at->function_version;
    if (name->value && has_same_version(name, frame, name->version))
        return n;
    addresses[n++] = frame->code + at->object_type;
    addresses[n++] = words;
    addresses[n++] = words + (CODE_WORDS - 1) * sizeof(uint64_t);
    return n;
}

const struct python_name *python_name(const struct python_reader *r, struct python_names *names,
                                      const struct python_frame *frame)
{
    struct python_name *name = place_of(names, frame);
    if (name->value && name->code == frame->code && names->sample && name->sample == names->sample)
        return name;
    uint32_t version = version_of(r, frame->function);
    if (!name->value || !has_same_version(name, frame, version)) {
        if (!take_code(r, name, frame->code))
            return NULL;
        take_function(r, name, frame, version);
    }
    name->sample = names->sample;
    return name->value ? name : NULL;
}
