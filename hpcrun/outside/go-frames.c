#include "hpcrun/outside/go-frames.h"

#include "lib/bytes.h"
#include "lib/cfi-decode.h"

#include <stdlib.h>

enum { RBP = 6, RSP = 7, RETURN = 16 }; /* DWARF numbers */

enum {
    CFA_OFFSET = 0x80,
    CFA_RESTORE = 0xc0,
    CFA_ADVANCE4 = 0x04,
    CFA_UNDEFINED = 0x07,
    CFA_DEF_CFA = 0x0c,
    CFA_DEF_CFA_OFFSET = 0x0e,
};

#define MOST_DEPTH (1 << 24)
#define MOST_BYTES (256u << 20)

/* A CIE, which gives FDEs their rules at the begin. */
enum kind { KIND_USUAL, KIND_OUTERMOST, KIND_SIGNAL, KINDS, KIND_NONE };

#define ENTRY_ALIGN 8

struct section {
    uint8_t *at; /* NULL: no memory, or more than a program has */
    size_t size, room;
    size_t cies[KINDS];
};

/* ---- writing ---- */

static void put(struct section *s, const void *bytes, size_t size)
{
    if (s->size + size > s->room) {
        size_t room = 2 * (s->room + size);
        uint8_t *grown = s->at && room <= MOST_BYTES ? realloc(s->at, room) : NULL;
        if (!grown)
            free(s->at);
        s->at = grown;
        s->room = room;
    }
    if (s->at) {
        memcpy(s->at + s->size, bytes, size);
        s->size += size;
    }
}

static void put_number(struct section *s, uint64_t number, unsigned size)
{
    put(s, &number, size);
}

static void put_uleb(struct section *s, uint64_t number)
{
    uint8_t bytes[VARINT_MAX_BYTES];
    put(s, bytes, (size_t)(put_varint(bytes, number) - bytes));
}

/* The length comes when the entry ends. Returns the place of what it is counted from. */
static size_t begin_entry(struct section *s)
{
    put_number(s, 0, 4);
    return s->size;
}

static void end_entry(struct section *s, size_t begin)
{
    static const uint8_t nops[ENTRY_ALIGN];
    put(s, nops, -s->size % ENTRY_ALIGN);
    if (s->at)
        put_u32(s->at + begin - 4, (uint32_t)(s->size - begin));
}

static void put_cie(struct section *s, enum kind kind)
{
    const char *augmentation = kind == KIND_SIGNAL ? "zRS" : "zR";
    const uint8_t fields[] = {1, 0x78, RETURN, 1, PE_ABSPTR}; /* alignments 1, -8 */
    const uint8_t outermost[] = {CFA_UNDEFINED, RETURN};
    const uint8_t usual[] = {CFA_DEF_CFA, RSP, 8, CFA_OFFSET | RETURN, 1};
    s->cies[kind] = s->size;
    size_t begin = begin_entry(s);
    put_number(s, 0, 4);
    put_number(s, 1, 1); /* version */
    put(s, augmentation, strlen(augmentation) + 1);
    put(s, fields, sizeof fields);
    put(s, usual, sizeof usual);
    if (kind == KIND_OUTERMOST)
        put(s, outermost, sizeof outermost);
    end_entry(s, begin);
}

/* ---- functions ---- */

static const struct {
    const char *name;
    enum kind kind;
    int from; /* offset of the first byte that has rules */
} special[] = {
    {"runtime.asmcgocall", KIND_NONE, 0},
    {"runtime.cgocallback", KIND_NONE, 0},
    {"runtime.goexit", KIND_OUTERMOST, 1},
    /* Handlers return there without a call before: it has the rule of the byte before. */
    {"runtime.sigreturn", KIND_SIGNAL, -1},
    {"runtime.sigreturn__sigaction", KIND_SIGNAL, -1},
};

static enum kind kind_of(const struct go_function *function, uint64_t *begin)
{
    *begin = function->begin;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (strcmp(function->name, special[i].name) == 0) {
            *begin += (uint64_t)special[i].from;
            return special[i].kind;
        }
    return function->is_outermost || function->changes_stack ? KIND_OUTERMOST : KIND_USUAL;
}

static bool is_depth(int64_t value)
{
    return value >= 0 && value <= MOST_DEPTH && value % 8 == 0;
}

static void put_depths(struct section *s, const struct go_table *table,
                       const struct go_function *function)
{
    struct go_values depths = go_values_of(table, function, function->depth_values);
    bool has_frame = false;
    for (uint64_t at = function->begin; go_values_next(&depths) && is_depth(depths.value);
         at = depths.begin) {
        if (depths.begin > at) {
            put_number(s, CFA_ADVANCE4, 1);
            put_number(s, depths.begin - at, 4);
        }
        put_number(s, CFA_DEF_CFA_OFFSET, 1);
        put_uleb(s, (uint64_t)depths.value + 8);
        if (has_frame != (depths.value > 0)) {
            has_frame = depths.value > 0;
            put_number(s, (has_frame ? CFA_OFFSET : CFA_RESTORE) | RBP, 1);
            if (has_frame)
                put_uleb(s, 2);
        }
    }
}

/* Where its known depths end: at the padding before the next function. */
static uint64_t end_of_depths(const struct go_table *table, const struct go_function *function)
{
    struct go_values depths = go_values_of(table, function, function->depth_values);
    uint64_t end = function->begin;
    while (go_values_next(&depths) && is_depth(depths.value))
        end = depths.end;
    return end;
}

static void put_fde(struct section *s, const struct go_table *table,
                    const struct go_function *function)
{
    uint64_t from, to = function->end;
    enum kind kind = kind_of(function, &from);
    if (kind == KIND_USUAL)
        to = end_of_depths(table, function);
    if (kind == KIND_NONE || to == function->begin)
        return;
    size_t begin = begin_entry(s);
    put_number(s, begin - s->cies[kind], 4);
    put_number(s, from, 8);
    put_number(s, to - from, 8);
    put_number(s, 0, 1); /* no augmentation data */
    if (kind == KIND_USUAL)
        put_depths(s, table, function);
    end_entry(s, begin);
}

uint8_t *go_frames_make(const struct go_table *table, size_t *bytes)
{
    struct section s = {.at = malloc(1 << 16), .room = 1 << 16};
    struct go_function function;
    for (enum kind kind = 0; kind < KINDS; kind++)
        put_cie(&s, kind);
    for (uint64_t i = 0; i < table->count && s.at; i++)
        if (go_table_function(table, i, &function))
            put_fde(&s, table, &function);
    *bytes = s.size;
    return s.at;
}
