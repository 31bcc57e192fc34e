/* Linear decoding of machine code (Zydis), kept down to what steers control flow.
 *
 * Bytes that are no instruction count as instructions of one byte that do nothing: data between
 * functions is never reached. Thread-safe with one decoder per thread. */
#ifndef HPCSTRUCT_DECODE_H
#define HPCSTRUCT_DECODE_H

#include "hpcstruct/code/code-map.h"
#include "hpcstruct/elf/dynamic-linking.h"

#include <Zydis/Zydis.h>

enum flow_kind {
    FLOW_JUMP,          /* to the target */
    FLOW_BRANCH,        /* to the target or on */
    FLOW_CALL,          /* of the target */
    FLOW_JUMP_INDIRECT, /* to one of the targets of its table, or to nobody knows where */
    FLOW_CALL_INDIRECT,
    FLOW_RETURN,
    FLOW_STOP, /* traps: ud2, hlt */
};

/* An instruction that steers control flow. */
struct flow {
    uint32_t offset; /* of its first byte in the fragment */
    /* Direct ones: the target's offset from the start of the fragment, which may lie outside.
     * Indirect jumps: index in tables, or FLOW_NO_TABLE. */
    int32_t target;
    uint8_t length;
    uint8_t kind;       /* enum flow_kind */
    bool never_returns; /* of calls (see hpcstruct/no-return.h) */
    bool reached;       /* mark of hpcstruct/no-return.c */
};

#define FLOW_NO_TABLE (-1)

/* The jump table of an indirect jump, and its targets: a range of flows.targets. */
struct flow_table {
    uint64_t address;
    uint32_t first, count;
    uint8_t entry_size; /* in bytes */
    bool bounded;       /* the code says how many entries there are */
};

/* The control flow of a fragment. */
struct flows {
    VEC(struct flow) all; /* by offset */
    VEC(struct flow_table) tables;
    /* Addresses. Of a table at first: those of all entries that were read, in their order, and
     * FLOW_NOWHERE for entries that lead nowhere. After flows_settle: sorted and distinct. */
    VEC(uint64_t) targets;
    /* How the code waits (wait-code.h): offsets of `pause`, and of system calls. */
    VEC(uint32_t) pauses;
    VEC(uint32_t) waits;
};

#define FLOW_NOWHERE UINT64_MAX

/* A thread's tools for decoding. */
struct decoder {
    ZydisDecoder zydis;
    /* The fragment at hand: offsets of its instructions, and which of these are indirect jumps
     * and which load an address (lea DISPLACEMENT(%rip), REGISTER): indices in offsets. */
    VEC(uint32_t) offsets;
    VEC(uint32_t) indirect_jumps;
    VEC(uint32_t) address_loads;
};

void decoder_init(struct decoder *decoder);
void decoder_free(struct decoder *decoder);

/* What decoding of one fragment needs to know of the others. */
struct decode_context {
    const struct code_map *map;
    const struct elf_image *image;
    const struct relocations *relocations;
};

/* Decodes a fragment; `flows` is empty before. */
void decode_fragment(struct decoder *decoder, const struct decode_context *context,
                     const struct code_fragment *fragment, struct flows *flows);

void flows_free(struct flows *flows);

/* Where a direct jump, branch or call goes. */
static inline uint64_t flow_target(const struct code_fragment *fragment, const struct flow *flow)
{
    return fragment->begin + (uint64_t)(int64_t)flow->target;
}

#endif
