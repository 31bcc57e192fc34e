/* Signal handler. */
#include "hpcrun/logical/agent-names.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/logical/agent-table.h"

#include "lib/utf8.h"

#include <string.h>

#define CHAINS (1u << 14)

/* Names and their copies lie in blocks, which are never freed. A process that makes code without end,
 * as some template engines do, gets no further names after MOST_BLOCKS: 64 MiB. */
#define BLOCK_BYTES (1u << 18)
#define MOST_BLOCKS 256

struct block {
    _Atomic uint32_t used;
    _Alignas(16) uint8_t bytes[BLOCK_BYTES - 16];
};

static struct {
    _Atomic(_Atomic(struct named_code *) *) chains; /* CHAINS of them; NULL at first */
    _Atomic(struct named_code *) newest;
    _Atomic(struct block *) block; /* the last one, which may have room */
    _Atomic uint32_t blocks, count;
} names;

static void *first_of_two(void *_Atomic *place, void *made, size_t bytes)
{
    void *other = NULL;
    if (!made || atomic_compare_exchange_strong(place, &other, made))
        return made;
    sys_pages_free(made, bytes); /* another thread was quicker */
    return other;
}

static _Atomic(struct named_code *) *chains(void)
{
    size_t bytes = CHAINS * sizeof(*names.chains);
    void *known = atomic_load(&names.chains);
    return known ? known : first_of_two((void *_Atomic *)&names.chains, sys_pages(bytes), bytes);
}

/* The block that follows `full`: a new one, or the one that another thread has added in the meantime; NULL
 * without memory. */
static struct block *next_block(struct block *full)
{
    if (atomic_load(&names.blocks) >= MOST_BLOCKS)
        return NULL;
    struct block *made = sys_pages(sizeof *made);
    if (!made)
        return NULL;
    if (atomic_compare_exchange_strong(&names.block, &full, made)) {
        atomic_fetch_add(&names.blocks, 1);
        return made;
    }
    sys_pages_free(made, sizeof *made);
    return full;
}

/* Zeroed memory; large pieces get pages of their own. NULL without memory. */
static void *allocate(size_t bytes)
{
    uint32_t rounded = ((uint32_t)bytes + 15) / 16 * 16;
    if (rounded > BLOCK_BYTES / 4) {
        if (atomic_fetch_add(&names.blocks, rounded / BLOCK_BYTES + 1) >= MOST_BLOCKS)
            return NULL;
        return sys_pages(rounded);
    }
    struct block *block = atomic_load(&names.block);
    for (;;) {
        if (block) {
            uint32_t at = atomic_fetch_add(&block->used, rounded);
            if (at <= sizeof block->bytes - rounded)
                return block->bytes + at;
            atomic_store(&block->used, sizeof block->bytes); /* so that it never overflows */
        }
        block = next_block(block);
        if (!block)
            return NULL;
    }
}

/* ---- copies ---- */

/* NUL and what is no code point, as half of a surrogate pair, become '?'. */
static uint32_t valid_code(uint32_t c)
{
    return c == 0 || c >= 0x110000 || (c >= 0xd800 && c < 0xe000) ? '?' : c;
}

static bool has_width(const struct agent_text *text)
{
    return text->width == 1 || text->width == 2 || text->width == 4;
}

/* Bytes of a character in UTF-8, at most. */
static uint32_t most_bytes(uint32_t width)
{
    return width == 1 ? 2 : width == 2 ? 3 : 4;
}

/* Writes the first `length` characters of a text, or as many as there is room for; false: it cannot be read. */
static bool put_text(char *to, size_t room, const struct agent_text *text, uint32_t length,
                     struct memory *memory)
{
    const char *end = to + room - 1;
    bool is_full = false;
    uint32_t width = text->width;
    for (uint32_t i = 0; i < length && !is_full;) {
        uint8_t part[256];
        uint32_t left = length - i, n = sizeof part / width < left ? sizeof part / width : left;
        if (!memory_read_guarded(memory, text->at + (uint64_t)i * width, part, (size_t)n * width))
            return false;
        for (uint32_t k = 0; k < n && !is_full; k++) {
            uint32_t c = 0;
            char utf8[4];
            memcpy(&c, part + (size_t)k * width, width);
            size_t bytes = utf8_encode(valid_code(c), utf8);
            is_full = bytes > (size_t)(end - to);
            for (size_t b = 0; b < bytes && !is_full; b++)
                *to++ = utf8[b];
        }
        i += n;
    }
    *to = '\0';
    return true;
}

/* Copies a text; NULL if it cannot be read, or without memory. */
static const char *copy_text(const struct agent_text *text, struct memory *memory)
{
    uint32_t length = text->length < NAMED_CODE_CHARACTERS ? text->length : NAMED_CODE_CHARACTERS;
    size_t room = length * most_bytes(text->width) + 1;
    char *copy = allocate(room);
    return copy && put_text(copy, room, text, length, memory) ? copy : NULL;
}

void agent_names_copy(const struct agent_text *text, struct memory *memory, char *to, size_t room)
{
    if (!has_width(text) || !put_text(to, room, text, text->length, memory))
        *to = '\0';
}

static uint32_t table_bytes(const struct agent_name *name)
{
    return name->lines && name->table_bytes <= AGENT_MAX_TABLE_BYTES ? name->table_bytes : 0;
}

static bool can_read(struct memory *memory, uint64_t address, uint64_t bytes)
{
    uint8_t part[1024];
    for (uint64_t done = 0, n; done < bytes; done += n) {
        n = bytes - done < sizeof part ? bytes - done : sizeof part;
        if (!memory_read_guarded(memory, address + done, part, n))
            return false;
    }
    return true;
}

/* Without memory for its line table, the name has its first line only. */
static void copy_table(struct named_code *to, const struct agent_name *name, struct memory *memory)
{
    uint32_t bytes = table_bytes(name);
    uint8_t *copy = bytes ? allocate(bytes) : NULL;
    if (copy && memory_read_guarded(memory, name->table, copy, bytes)) {
        to->table = copy;
        to->table_bytes = bytes;
    }
}

/* ---- the table ---- */

static uint64_t hash(unsigned agent, const struct agent_name *name)
{
    uint64_t h = agent;
    for (unsigned i = 0; i < AGENT_NAME_KEY; i++)
        h = (h ^ name->key[i]) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
    return h;
}

/* Memory is not given back. So a name gets none while it is not readable, however often it is asked for. From outside
 * a sample may have its texts, since they are next to other data, but not its line table, which a later one has. */
static struct named_code *make(unsigned agent, const struct agent_name *name, struct memory *memory)
{
    bool is_readable = has_width(&name->procedure) && has_width(&name->file) &&
                       can_read(memory, name->table, table_bytes(name));
    struct named_code *made = is_readable ? allocate(sizeof *made) : NULL;
    if (!made)
        return NULL;
    made->procedure = copy_text(&name->procedure, memory);
    made->file = made->procedure ? copy_text(&name->file, memory) : NULL;
    if (!made->file)
        return NULL;
    copy_table(made, name, memory);
    memcpy(made->key, name->key, sizeof made->key);
    made->agent = agent;
    made->line = name->line;
    made->lines = name->lines;
    made->number = atomic_fetch_add(&names.count, 1) + 1;
    return made;
}

static void publish(struct named_code *made, _Atomic(struct named_code *) *chain)
{
    made->older = atomic_load(&names.newest);
    while (!atomic_compare_exchange_weak(&names.newest, &made->older, made))
        continue;
    made->next = atomic_load(chain);
    while (!atomic_compare_exchange_weak(chain, &made->next, made))
        continue;
    atomic_fetch_add(&agents.news, 1);
}

uint32_t agent_names_number(unsigned agent, const struct agent_name *name, struct memory *memory)
{
    _Atomic(struct named_code *) *chain = chains();
    if (!chain)
        return 0;
    chain += hash(agent, name) % CHAINS;
    for (struct named_code *at = atomic_load(chain); at; at = at->next)
        if (at->agent == agent && memcmp(at->key, name->key, sizeof at->key) == 0)
            return at->number;
    struct named_code *made = make(agent, name, memory);
    if (!made)
        return 0;
    publish(made, chain);
    return made->number;
}

const struct named_code *agent_names_newest(void)
{
    return atomic_load(&names.newest);
}
