#include "hpcstruct/code/code-map.h"

#include "hpcstruct/code/quick-decode.h"
#include "hpcstruct/elf/sorted-addresses.h"

#include "lib/parallel.h"

#include <Zydis/Zydis.h>
#include <assert.h>
#include <stdlib.h>

/* A possible owner, and all addresses that its source gives it, before overlaps are resolved. */
struct candidate {
    uint64_t begin, end;
    struct code_owner owner;
    enum { FROM_SYMBOL, FROM_FRAME, FROM_GAP } source;
};

struct candidates {
    VEC(struct candidate) all;
};

static uint64_t clip_end(const struct elf_code *code, uint64_t begin, uint64_t size)
{
    return size > code->end - begin ? code->end : begin + size;
}

static void add_candidate(struct candidates *candidates, uint64_t begin, uint64_t end,
                          struct code_owner owner, int source)
{
    owner.begin = begin;
    const struct candidate new = {begin, end, owner, source};
    if (begin < end)
        vec_push(&candidates->all, new);
}

/* ---- symbols, stubs and frame description entries ---- */

static void add_symbols(struct candidates *candidates, const struct code_sources *from)
{
    for (size_t i = 0; i < from->symbols->symbols.n; i++) {
        const struct symbol *symbol = &from->symbols->symbols.at[i];
        if (!symbol->function || symbol->size == 0)
            continue;
        const struct elf_code *code = elf_code_at(from->image, symbol->address);
        const struct code_owner owner = {.name = symbol->name};
        add_candidate(candidates, symbol->address, clip_end(code, symbol->address, symbol->size),
                      owner, FROM_SYMBOL);
    }
}

static void add_stubs(struct candidates *candidates, const struct code_sources *from)
{
    for (size_t i = 0; i < from->stubs->all.n; i++) {
        const struct plt_stub *stub = &from->stubs->all.at[i];
        const struct code_owner owner = {.name = stub->name, .is_stub = true};
        add_candidate(candidates, stub->begin, stub->end, owner, FROM_SYMBOL);
    }
}

static void add_frames(struct candidates *candidates, const struct code_sources *from)
{
    for (size_t i = 0; i < from->frames->entries.n; i++) {
        const struct frame_entry *entry = &from->frames->entries.at[i];
        const struct code_owner owner = {.has_frame = true,
                                         .begins_mid_function = entry->begins_mid_function};
        add_candidate(candidates, entry->begin, entry->end, owner, FROM_FRAME);
    }
}

static int by_begin(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->source > y->source) - (x->source < y->source);
}

static void sort(struct candidates *candidates)
{
    vec_sort(&candidates->all, by_begin);
}

/* Names an owner after the best-known symbol at its address. */
static void take_best_name(struct code_owner *owner, const struct symbol_table *symbols)
{
    size_t i = symbols_lower_bound(symbols, owner->begin);
    if (i < symbols->symbols.n && symbols->symbols.at[i].address == owner->begin)
        owner->name = symbols->symbols.at[i].name;
}

/* Sorts the candidates and merges those that begin at the same address. */
static void merge_equal_begins(struct candidates *candidates, const struct symbol_table *symbols)
{
    sort(candidates);
    size_t kept = 0;
    for (size_t i = 0; i < candidates->all.n; i++) {
        const struct candidate *next = &candidates->all.at[i];
        struct candidate *last = kept ? &candidates->all.at[kept - 1] : NULL;
        if (!last || last->begin != next->begin) {
            candidates->all.at[kept++] = *next;
            take_best_name(&candidates->all.at[kept - 1].owner, symbols);
            continue;
        }
        if (next->end > last->end)
            last->end = next->end;
        last->owner.has_frame |= next->owner.has_frame;
        last->owner.begins_mid_function |= next->owner.begins_mid_function;
    }
    candidates->all.n = kept;
}

/* ---- uncovered code ---- */

static bool is_prefix(uint8_t byte)
{
    switch (byte) {
    case 0x26:
    case 0x2e:
    case 0x36:
    case 0x3e:
    case 0x64:
    case 0x65:
    case 0x66:
    case 0x67:
    case 0xf2:
    case 0xf3: return true;
    }
    return (byte & 0xf0) == 0x40; /* REX */
}

/* The length of the no-operation of several bytes that some code begins with; 0: none. */
static size_t long_nop_length(const uint8_t *bytes, size_t size)
{
    const uint8_t nop = 0x90, two_byte_opcode = 0x0f;
    ZydisDecoder decoder;
    ZydisDecodedInstruction instruction;
    size_t opcode = 0;
    while (opcode < size && is_prefix(bytes[opcode]))
        opcode++;
    if (opcode == size || (bytes[opcode] != nop && bytes[opcode] != two_byte_opcode))
        return 0;
    if (bytes[opcode] == two_byte_opcode && opcode + 1 < size && bytes[opcode + 1] == 0x1f) {
        struct quick_instruction quick = quick_decode(bytes, size);
        if (quick.kind == QUICK_PLAIN)
            return quick.length;
    }
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes, size, &instruction)) ||
        instruction.mnemonic != ZYDIS_MNEMONIC_NOP)
        return 0;
    return instruction.length;
}

size_t padding_length(const uint8_t *bytes, size_t size)
{
    const uint8_t nop = 0x90, int3 = 0xcc;
    size_t at = 0, length = 1;
    for (; at < size && length; at += length) {
        bool is_short = bytes[at] == nop || bytes[at] == int3 || bytes[at] == 0;
        length = is_short ? 1 : long_nop_length(bytes + at, size - at);
    }
    return at;
}

/* The first address after `start` that has a label or is called, at most `end`. */
static uint64_t next_start(const struct code_sources *from, uint64_t start, uint64_t end)
{
    for (size_t i = symbols_lower_bound(from->symbols, start + 1); i < from->symbols->symbols.n;
         i++) {
        const struct symbol *symbol = &from->symbols->symbols.at[i];
        if (symbol->address >= end)
            break;
        if (symbol->function || !symbol->local) {
            end = symbol->address;
            break;
        }
    }
    size_t called = partition_point(i, from->called_count, from->called[i] <= start);
    return called < from->called_count && from->called[called] < end ? from->called[called] : end;
}

/* Code between candidates. */
struct uncovered {
    uint64_t begin, end;
    const uint8_t *bytes;
    size_t padding; /* the bytes of padding that it begins with */
};

struct uncovered_list {
    VEC(struct uncovered) all;
};

static void add_uncovered(struct uncovered_list *list, const struct elf_code *code, uint64_t begin,
                          uint64_t end)
{
    const struct uncovered new = {begin, end, code->bytes + (begin - code->begin), 0};
    if (begin < end)
        vec_push(&list->all, new);
}

/* Lists what the candidates, which are sorted, do not cover. */
static void find_uncovered(struct uncovered_list *list, const struct candidates *candidates,
                           const struct elf_image *image)
{
    size_t i = 0;
    uint64_t covered = 0;
    for (size_t run = 0; run < image->code.n; run++) {
        const struct elf_code *code = &image->code.at[run];
        uint64_t at = covered > code->begin ? covered : code->begin;
        for (; i < candidates->all.n && candidates->all.at[i].begin < code->end; i++) {
            add_uncovered(list, code, at, candidates->all.at[i].begin);
            if (candidates->all.at[i].end > at)
                at = candidates->all.at[i].end;
        }
        add_uncovered(list, code, at, code->end);
        covered = at;
    }
}

static void measure_padding(void *context, unsigned worker, size_t index)
{
    const struct uncovered_list *list = context;
    struct uncovered *uncovered = &list->all.at[index];
    (void)worker;
    uncovered->padding = padding_length(uncovered->bytes, uncovered->end - uncovered->begin);
}

static void add_gap(struct candidates *candidates, const struct code_sources *from, uint64_t begin,
                    uint64_t end)
{
    while (begin < end) {
        uint64_t next = next_start(from, begin, end);
        struct code_owner owner = {.begin = begin, .is_gap = true};
        take_best_name(&owner, from->symbols);
        add_candidate(candidates, begin, next, owner, FROM_GAP);
        begin = next;
    }
}

/* Adds the code between the candidates so far, which are sorted. */
static void add_gaps(struct candidates *candidates, const struct code_sources *from,
                     unsigned workers)
{
    struct uncovered_list list = {0};
    find_uncovered(&list, candidates, from->image);
    parallel_for_many(list.all.n, workers, measure_padding, &list);
    for (size_t i = 0; i < list.all.n; i++)
        add_gap(candidates, from, list.all.at[i].begin + list.all.at[i].padding,
                list.all.at[i].end);
    vec_free(&list.all);
    sort(candidates);
}

/* ---- the map ---- */

struct sweep {
    struct code_map *map;
    const struct elf_image *image;
    const struct candidates *candidates;
    VEC(size_t) open;       /* candidates that contain `at`, innermost last */
    VEC(uint32_t) owner_of; /* candidate -> owner; UINT32_MAX while it owns nothing */
    uint64_t at;
};

/* Gives the addresses from sweep->at up to `end` to the innermost open candidate. */
static void assign_up_to(struct sweep *sweep, uint64_t end)
{
    if (end <= sweep->at)
        return;
    struct code_map *map = sweep->map;
    size_t index = sweep->open.at[sweep->open.n - 1];
    if (sweep->owner_of.at[index] == UINT32_MAX) {
        sweep->owner_of.at[index] = (uint32_t)map->owners.n;
        struct code_owner owner = sweep->candidates->all.at[index].owner;
        owner.first_fragment = (uint32_t)map->fragments.n;
        vec_push(&map->owners, owner);
    }
    const struct elf_code *code = elf_code_at(sweep->image, sweep->at);
    const struct code_fragment fragment = {sweep->at, end, code->bytes + (sweep->at - code->begin),
                                           sweep->owner_of.at[index]};
    vec_push(&map->fragments, fragment);
    sweep->at = end;
}

static void close_until(struct sweep *sweep, uint64_t address)
{
    while (sweep->open.n) {
        uint64_t end = sweep->candidates->all.at[sweep->open.at[sweep->open.n - 1]].end;
        if (end > address)
            break;
        assign_up_to(sweep, end);
        sweep->open.n--;
    }
}

/* Hand-written assembly may have frame description entries inside a named function; they begin no
 * function of their own. */
static bool belongs_to_open_function(const struct sweep *sweep, const struct candidate *next)
{
    if (!sweep->open.n || next->source != FROM_FRAME || next->owner.name)
        return false;
    const struct candidate *around = &sweep->candidates->all.at[sweep->open.at[sweep->open.n - 1]];
    return around->source == FROM_SYMBOL && next->end <= around->end;
}

static void divide(struct code_map *map, const struct elf_image *image,
                   const struct candidates *candidates)
{
    struct sweep sweep = {.map = map, .image = image, .candidates = candidates};
    for (size_t i = 0; i < candidates->all.n; i++) {
        const struct candidate *next = &candidates->all.at[i];
        vec_push(&sweep.owner_of, UINT32_MAX);
        close_until(&sweep, next->begin);
        if (belongs_to_open_function(&sweep, next))
            continue;
        if (sweep.open.n)
            assign_up_to(&sweep, next->begin);
        if (sweep.at < next->begin)
            sweep.at = next->begin;
        vec_push(&sweep.open, i);
    }
    close_until(&sweep, UINT64_MAX);
    vec_free(&sweep.open);
    vec_free(&sweep.owner_of);
}

/* ---- search ---- */

/* Pieces are as small as PIECE_BITS says, unless these were more than PIECES_PER_FRAGMENT for each
 * fragment: code may lie far apart. */
#define PIECE_BITS          8
#define PIECES_PER_FRAGMENT 4

static void index_fragments(struct code_map *map)
{
    const struct code_fragment *fragments = map->fragments.at;
    size_t count = map->fragments.n;
    if (count == 0)
        return;
    uint64_t begin = fragments[0].begin, size = fragments[count - 1].end - begin;
    map->piece_bits = PIECE_BITS;
    while (size >> map->piece_bits > (uint64_t)PIECES_PER_FRAGMENT * count)
        map->piece_bits++;
    size_t pieces = (size_t)(size >> map->piece_bits) + 2;
    vec_reserve(&map->pieces, pieces);
    uint32_t last = 0;
    for (size_t i = 0; i < pieces; i++) {
        uint64_t offset = (uint64_t)i << map->piece_bits;
        while (last + 1 < count && fragments[last + 1].begin - begin <= offset)
            last++;
        vec_push(&map->pieces, last);
    }
}

uint32_t code_map_find(const struct code_map *map, uint64_t address)
{
    const struct code_fragment *fragments = map->fragments.at;
    if (map->fragments.n == 0 || address < fragments[0].begin)
        return UINT32_MAX;
    uint64_t piece = (address - fragments[0].begin) >> map->piece_bits;
    if (piece + 1 >= map->pieces.n)
        return UINT32_MAX;
    uint32_t first = map->pieces.at[piece], last = map->pieces.at[piece + 1];
    first += (uint32_t)partition_point(i, last - first, fragments[first + 1 + i].begin <= address);
    return address < fragments[first].end ? first : UINT32_MAX;
}

/* ---- the whole ---- */

void code_map_build(struct code_map *map, const struct code_sources *sources, unsigned workers)
{
    assert(map->owners.n == 0 && map->fragments.n == 0);
    struct candidates candidates = {0};
    vec_reserve(&candidates.all,
                sources->symbols->symbols.n + sources->stubs->all.n + sources->frames->entries.n);
    add_symbols(&candidates, sources);
    add_stubs(&candidates, sources);
    add_frames(&candidates, sources);
    merge_equal_begins(&candidates, sources->symbols);
    add_gaps(&candidates, sources, workers);
    divide(map, sources->image, &candidates);
    index_fragments(map);
    vec_free(&candidates.all);
}

void code_map_free(struct code_map *map)
{
    vec_free(&map->owners);
    vec_free(&map->fragments);
    vec_free(&map->pieces);
}
