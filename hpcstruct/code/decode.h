/* Decodes machine code linearly (with Zydis) and keeps the instructions that transfer control.
 *
 * A byte at which no instruction begins counts as an instruction of one byte that does nothing; it
 * is data between functions, which no control flow reaches. Thread-safe with one decoder per
 * thread. */
#ifndef HPCSTRUCT_DECODE_H
#define HPCSTRUCT_DECODE_H

#include "hpcstruct/code/code-map.h"

#include <Zydis/Zydis.h>

enum transfer_kind {
    TRANSFER_JUMP,          /* to the target */
    TRANSFER_BRANCH,        /* to the target or to the next instruction */
    TRANSFER_CALL,          /* of the target */
    TRANSFER_JUMP_INDIRECT, /* to a target of its jump table, or to an unknown address */
    TRANSFER_CALL_INDIRECT,
    TRANSFER_RETURN,
    TRANSFER_STOP, /* ud2, hlt: control does not continue */
};

/* An instruction that transfers control. */
struct transfer {
    uint32_t offset; /* of its first byte in the fragment */
    /* Direct: the offset of the target from the start of the fragment; it may lie outside.
     * Indirect jump: index in fragment_flow.tables, or NO_JUMP_TABLE. */
    int32_t target;
    uint8_t length;
    uint8_t kind;       /* enum transfer_kind */
    bool never_returns; /* a call that does not return (see hpcstruct/flow/no-return.h) */
    bool reached;       /* used by hpcstruct/flow/no-return.c */
};

#define NO_JUMP_TABLE (-1)

/* The jump table of an indirect jump; its targets are a range of fragment_flow.targets. */
struct jump_table {
    uint64_t address;
    uint32_t first, count;
    uint8_t entry_size; /* in bytes */
    bool bounded;       /* the code checks the index against the number of entries */
};

/* The control flow of a fragment. */
struct fragment_flow {
    struct {
        struct transfer *at; /* belongs to the decoder */
        size_t n;
    } transfers; /* sorted by offset */
    VEC(struct jump_table) tables;
    /* Addresses. At first, the targets of a table are those of all entries read, in their order,
     * with INVALID_TARGET for entries that do not point to code. After jump_tables_finish they are
     * sorted and distinct. */
    VEC(uint64_t) targets;
    /* Offsets of instructions by which code waits. Names do not show waiting in stripped runtimes;
     * these instructions do. */
    VEC(uint32_t) pauses; /* `pause`: compilers emit it for _mm_pause and cpu_relax in spin loops; or eight `nop`s */
    VEC(uint32_t) waits;  /* system calls that may wait for a futex */
    /* Bytes at which no instruction begins: their number, and the offset of the first. */
    uint32_t undecoded, first_undecoded;
};

#define INVALID_TARGET UINT64_MAX

/* A direct jump or branch inside of a fragment: offsets of its target and of itself. */
struct jump_within {
    uint32_t target, from;
};

/* A decoder, the instructions of the fragment that it decoded last, and the transfers of all. */
struct decoder {
    ZydisDecoder zydis;
    struct mem_pool kept;           /* transfers of all fragments */
    VEC(struct transfer) transfers; /* of the last one */
    VEC(uint32_t) offsets;          /* of all instructions */
    VEC(uint32_t) indirect_jumps;   /* indices in offsets */
    VEC(uint32_t) address_loads;    /* lea DISPLACEMENT(%rip), REGISTER: indices in offsets */
    VEC(struct jump_within) jumps;  /* sorted; filled when the first one is looked for */
    bool has_jumps;                 /* `jumps` is filled */
};

void decoder_init(struct decoder *decoder);
/* The transfers that it decoded become invalid. */
void decoder_free(struct decoder *decoder);

/* The parts of the module that the decoding of a fragment reads. */
struct decode_context {
    const struct code_map *map;
    const struct elf_image *image;
    const struct relocations *relocations;
};

/* Decodes a fragment into `flow`, which is empty before, but for its jump tables (jump-table.h). */
void decode_fragment(struct decoder *decoder, const struct decode_context *context,
                     const struct code_fragment *fragment, struct fragment_flow *flow);

void fragment_flow_free(struct fragment_flow *flow);

/* The target of a direct jump, branch or call. */
static inline uint64_t transfer_target(const struct code_fragment *fragment,
                                       const struct transfer *transfer)
{
    return fragment->begin + (uint64_t)(int64_t)transfer->target;
}

#endif
