#include "hpcstruct/code/code-map.h"

#include "hpcstruct/elf/sorted-addresses.h"

#include <Zydis/Zydis.h>
#include <stdlib.h>

/* An owner before it is known which addresses others take from it. */
struct claim {
    uint64_t begin, end;
    struct code_owner owner;
    enum { CLAIM_NAMED, CLAIM_FRAME, CLAIM_REST } kind;
};

struct claims {
    VEC(struct claim) all;
};

static uint64_t clip_end(const struct elf_code *code, uint64_t begin, uint64_t size)
{
    return size > code->end - begin ? code->end : begin + size;
}

static void claim(struct claims *claims, uint64_t begin, uint64_t end, struct code_owner owner,
                  int kind)
{
    owner.begin = begin;
    const struct claim new = {begin, end, owner, kind};
    if (begin < end)
        vec_push(&claims->all, new);
}

/* ---- claims of known size ---- */

static void claim_symbols(struct claims *claims, const struct code_sources *from)
{
    for (size_t i = 0; i < from->symbols->symbols.n; i++) {
        const struct symbol *symbol = &from->symbols->symbols.at[i];
        if (!symbol->function || symbol->size == 0)
            continue;
        const struct elf_code *code = elf_code_at(from->image, symbol->address);
        const struct code_owner owner = {.name = symbol->name};
        claim(claims, symbol->address, clip_end(code, symbol->address, symbol->size), owner,
              CLAIM_NAMED);
    }
}

static void claim_stubs(struct claims *claims, const struct code_sources *from)
{
    for (size_t i = 0; i < from->stubs->all.n; i++) {
        const struct plt_stub *stub = &from->stubs->all.at[i];
        const struct code_owner owner = {.name = stub->name, .is_stub = true};
        claim(claims, stub->begin, stub->end, owner, CLAIM_NAMED);
    }
}

static void claim_frames(struct claims *claims, const struct code_sources *from)
{
    for (size_t i = 0; i < from->frames->entries.n; i++) {
        const struct frame_entry *entry = &from->frames->entries.at[i];
        const struct code_owner owner = {.has_frame = true, .begins_mid_function = entry->begins_mid_function};
        claim(claims, entry->begin, entry->end, owner, CLAIM_FRAME);
    }
}

static int by_begin(const void *a, const void *b)
{
    const struct claim *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

static void sort(struct claims *claims)
{
    if (claims->all.n)
        qsort(claims->all.at, claims->all.n, sizeof *claims->all.at, by_begin);
}

/* The name that people know best among the symbols at an address. */
static void take_best_name(struct code_owner *owner, const struct symbol_table *symbols)
{
    size_t i = symbols_lower_bound(symbols, owner->begin);
    if (i < symbols->symbols.n && symbols->symbols.at[i].address == owner->begin)
        owner->name = symbols->symbols.at[i].name;
}

/* Makes one claim of those that begin at the same address. Sorts. */
static void unite_equal_begins(struct claims *claims, const struct symbol_table *symbols)
{
    sort(claims);
    size_t kept = 0;
    for (size_t i = 0; i < claims->all.n; i++) {
        const struct claim *next = &claims->all.at[i];
        struct claim *last = kept ? &claims->all.at[kept - 1] : NULL;
        if (!last || last->begin != next->begin) {
            claims->all.at[kept++] = *next;
            take_best_name(&claims->all.at[kept - 1].owner, symbols);
            continue;
        }
        if (next->end > last->end)
            last->end = next->end;
        last->owner.has_frame |= next->owner.has_frame;
        last->owner.begins_mid_function |= next->owner.begins_mid_function;
    }
    claims->all.n = kept;
}

/* ---- claims on what is left ---- */

size_t padding_length(const uint8_t *bytes, size_t size)
{
    ZydisDecoder decoder;
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    const uint8_t nop = 0x90, int3 = 0xcc;
    size_t at = 0;
    while (at < size) {
        ZydisDecodedInstruction instruction;
        if (bytes[at] == nop || bytes[at] == int3 || bytes[at] == 0)
            at++;
        else if (ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder, NULL, bytes + at, size - at,
                                                            &instruction)) &&
                 instruction.mnemonic == ZYDIS_MNEMONIC_NOP)
            at += instruction.length;
        else
            break;
    }
    return at;
}

/* The first address after `start` at which a label stands or a call goes, at most `end`. */
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

static void claim_uncovered(struct claims *claims, const struct code_sources *from,
                            const struct elf_code *code, uint64_t begin, uint64_t end)
{
    begin += padding_length(code->bytes + (begin - code->begin), end - begin);
    while (begin < end) {
        uint64_t next = next_start(from, begin, end);
        struct code_owner owner = {.begin = begin, .is_gap = true};
        take_best_name(&owner, from->symbols);
        claim(claims, begin, next, owner, CLAIM_REST);
        begin = next;
    }
}

/* Claims the code between the claims so far, which are sorted. */
static void claim_rest(struct claims *claims, const struct code_sources *from)
{
    struct claims rest = {0};
    size_t i = 0;
    uint64_t covered = 0;
    for (size_t run = 0; run < from->image->code.n; run++) {
        const struct elf_code *code = &from->image->code.at[run];
        uint64_t at = covered > code->begin ? covered : code->begin;
        for (; i < claims->all.n && claims->all.at[i].begin < code->end; i++) {
            if (claims->all.at[i].begin > at)
                claim_uncovered(&rest, from, code, at, claims->all.at[i].begin);
            if (claims->all.at[i].end > at)
                at = claims->all.at[i].end;
        }
        if (at < code->end)
            claim_uncovered(&rest, from, code, at, code->end);
        covered = at;
    }
    for (size_t k = 0; k < rest.all.n; k++)
        vec_push(&claims->all, rest.all.at[k]);
    vec_free(&rest.all);
    sort(claims);
}

/* ---- the map ---- */

struct sweep {
    struct code_map *map;
    const struct elf_image *image;
    const struct claims *claims;
    VEC(size_t) open;       /* claims that contain `at`, the one that owns it last */
    VEC(uint32_t) owner_of; /* claim -> owner, UINT32_MAX before it owns anything */
    uint64_t at;
};

/* Gives the addresses from sweep->at up to `end` to the innermost open claim. */
static void give(struct sweep *sweep, uint64_t end)
{
    if (end <= sweep->at)
        return;
    struct code_map *map = sweep->map;
    size_t claim_index = sweep->open.at[sweep->open.n - 1];
    if (sweep->owner_of.at[claim_index] == UINT32_MAX) {
        sweep->owner_of.at[claim_index] = (uint32_t)map->owners.n;
        struct code_owner owner = sweep->claims->all.at[claim_index].owner;
        owner.first_fragment = (uint32_t)map->fragments.n;
        vec_push(&map->owners, owner);
    }
    const struct elf_code *code = elf_code_at(sweep->image, sweep->at);
    const struct code_fragment fragment = {sweep->at, end, code->bytes + (sweep->at - code->begin),
                                           sweep->owner_of.at[claim_index]};
    vec_push(&map->fragments, fragment);
    sweep->at = end;
}

static void close_until(struct sweep *sweep, uint64_t address)
{
    while (sweep->open.n) {
        uint64_t end = sweep->claims->all.at[sweep->open.at[sweep->open.n - 1]].end;
        if (end > address)
            break;
        give(sweep, end);
        sweep->open.n--;
    }
}

/* A frame entry inside a named function, in hand-written code, is not a function of its own. */
static bool belongs_to_open_function(const struct sweep *sweep, const struct claim *next)
{
    if (!sweep->open.n || next->kind != CLAIM_FRAME || next->owner.name)
        return false;
    const struct claim *around = &sweep->claims->all.at[sweep->open.at[sweep->open.n - 1]];
    return around->kind == CLAIM_NAMED && next->end <= around->end;
}

static void cut(struct code_map *map, const struct elf_image *image, const struct claims *claims)
{
    struct sweep sweep = {.map = map, .image = image, .claims = claims};
    for (size_t i = 0; i < claims->all.n; i++) {
        const struct claim *next = &claims->all.at[i];
        vec_push(&sweep.owner_of, UINT32_MAX);
        close_until(&sweep, next->begin);
        if (belongs_to_open_function(&sweep, next))
            continue;
        if (sweep.open.n)
            give(&sweep, next->begin);
        if (sweep.at < next->begin)
            sweep.at = next->begin;
        vec_push(&sweep.open, i);
    }
    close_until(&sweep, UINT64_MAX);
    vec_free(&sweep.open);
    vec_free(&sweep.owner_of);
}

void code_map_build(struct code_map *map, const struct code_sources *sources)
{
    struct claims claims = {0};
    claim_symbols(&claims, sources);
    claim_stubs(&claims, sources);
    claim_frames(&claims, sources);
    unite_equal_begins(&claims, sources->symbols);
    claim_rest(&claims, sources);
    cut(map, sources->image, &claims);
    vec_free(&claims.all);
}

void code_map_free(struct code_map *map)
{
    vec_free(&map->owners);
    vec_free(&map->fragments);
}

uint32_t code_map_find(const struct code_map *map, uint64_t address)
{
    size_t after = sorted_up_to(&map->fragments, begin, address);
    if (after == 0 || address >= map->fragments.at[after - 1].end)
        return UINT32_MAX;
    return (uint32_t)after - 1;
}
