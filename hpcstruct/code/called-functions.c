#include "hpcstruct/code/called-functions.h"

#include "hpcstruct/code/quick-decode.h"

#include "lib/parallel.h"

#include <stdlib.h>

/* Bytes of a gap that one worker reads at a time. */
#define PIECE_SIZE (1u << 20)
/* A piece is read from so many bytes before it: wherever decoding begins, it comes upon the beginnings of
 * instructions after a few of them. */
#define LEAD_IN 256

/* A part of a fragment: a piece of a gap, or a whole fragment whose flow is known. */
struct code_piece {
    uint32_t fragment;
    uint64_t begin, end;
};

struct call_search {
    const struct code_map *map;
    const struct fragment_flow *flows;
    ZydisDecoder zydis;
    struct address_list gaps; /* their first addresses */
    VEC(struct code_piece) pieces;
    struct address_list *called; /* per worker */
};

static bool is_gap(const struct code_map *map, uint32_t fragment)
{
    return map->owners.at[map->fragments.at[fragment].owner].is_gap;
}

/* Notes a call target that lies in the middle of a gap. */
static void note_target(struct call_search *search, unsigned worker, uint64_t target)
{
    size_t gap = partition_point(i, search->gaps.all.n, search->gaps.all.at[i] <= target);
    if (gap == 0 || search->gaps.all.at[gap - 1] == target)
        return;
    uint32_t fragment = code_map_find(search->map, target);
    if (fragment != UINT32_MAX &&
        search->map->fragments.at[fragment].begin == search->gaps.all.at[gap - 1])
        vec_push(&search->called[worker].all, target);
}

static void read_flow(struct call_search *search, unsigned worker, uint32_t number)
{
    const struct code_fragment *fragment = &search->map->fragments.at[number];
    const struct fragment_flow *flow = &search->flows[number];
    for (size_t i = 0; i < flow->transfers.n; i++)
        if (flow->transfers.at[i].kind == TRANSFER_CALL)
            note_target(search, worker, transfer_target(fragment, &flow->transfers.at[i]));
}

/* The length of an instruction that quick_decode does not know; 1 if there is none. */
static size_t decode_call(const struct call_search *search, const uint8_t *bytes, size_t size,
                          bool *is_call, int64_t *displacement)
{
    ZydisDecodedInstruction instruction;
    if (!ZYAN_SUCCESS(
            ZydisDecoderDecodeInstruction(&search->zydis, NULL, bytes, size, &instruction)))
        return 1;
    *is_call = instruction.meta.category == ZYDIS_CATEGORY_CALL && instruction.raw.imm[0].is_relative;
    *displacement = instruction.raw.imm[0].value.s;
    return instruction.length;
}

static void read_gap(struct call_search *search, unsigned worker, const struct code_piece *piece)
{
    const struct code_fragment *gap = &search->map->fragments.at[piece->fragment];
    uint64_t at = piece->begin - gap->begin < LEAD_IN ? gap->begin : piece->begin - LEAD_IN;
    while (at < piece->end) {
        const uint8_t *bytes = gap->bytes + (at - gap->begin);
        const struct quick_instruction quick = quick_decode(bytes, gap->end - at);
        bool is_call = quick.kind == QUICK_CALL;
        int64_t displacement = quick.displacement;
        size_t length = quick.length;
        if (quick.kind == QUICK_UNKNOWN)
            length = decode_call(search, bytes, gap->end - at, &is_call, &displacement);
        if (is_call && at >= piece->begin)
            note_target(search, worker, at + length + (uint64_t)displacement);
        at += length;
    }
}

static void read_piece(void *context, unsigned worker, size_t index)
{
    struct call_search *search = context;
    const struct code_piece *piece = &search->pieces.at[index];
    if (is_gap(search->map, piece->fragment))
        read_gap(search, worker, piece);
    else
        read_flow(search, worker, piece->fragment);
}

static void list_pieces(struct call_search *search)
{
    const struct code_map *map = search->map;
    for (uint32_t i = 0; i < map->fragments.n; i++) {
        const struct code_fragment *fragment = &map->fragments.at[i];
        uint64_t size = is_gap(map, i) ? PIECE_SIZE : fragment->end - fragment->begin;
        for (uint64_t at = fragment->begin, end; at < fragment->end; at = end) {
            end = fragment->end - at < size ? fragment->end : at + size;
            vec_push(&search->pieces, (struct code_piece){i, at, end});
        }
        if (is_gap(map, i))
            vec_push(&search->gaps.all, fragment->begin);
    }
}

void called_functions_find(struct address_list *called, const struct code_map *map,
                           const struct fragment_flow *flows, unsigned workers)
{
    struct call_search search = {
        .map = map, .flows = flows, .called = mem_alloc(workers * sizeof *search.called)};
    ZydisDecoderInit(&search.zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    list_pieces(&search);
    if (search.gaps.all.n)
        parallel_for_many(search.pieces.n, workers, read_piece, &search);
    for (unsigned i = 0; i < workers; i++) {
        for (size_t k = 0; k < search.called[i].all.n; k++)
            vec_push(&called->all, search.called[i].all.at[k]);
        vec_free(&search.called[i].all);
    }
    sort_addresses(called->all.at, called->all.n);
    size_t n = 0;
    for (size_t i = 0; i < called->all.n; i++)
        if (n == 0 || called->all.at[n - 1] != called->all.at[i])
            called->all.at[n++] = called->all.at[i];
    called->all.n = n;
    free(search.called);
    vec_free(&search.gaps.all);
    vec_free(&search.pieces);
}
