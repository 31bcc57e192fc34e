/* Decodes the instructions that compilers emit most, five times as fast as Zydis: 97 % of the
 * instructions of large C++ libraries. All others are left to Zydis, also those that may be
 * invalid: prefixes are combined and opcodes are accepted only where every following byte makes an
 * instruction. */
#ifndef HPCSTRUCT_QUICK_DECODE_H
#define HPCSTRUCT_QUICK_DECODE_H

#include <stddef.h>
#include <stdint.h>

enum quick_kind {
    QUICK_UNKNOWN,      /* ask Zydis */
    QUICK_PLAIN,        /* continues with the next instruction; neither of the following */
    QUICK_ADDRESS_LOAD, /* lea DISPLACEMENT(%rip), REGISTER */
    QUICK_JUMP,         /* to an address relative to the next instruction */
    QUICK_BRANCH,       /* conditional */
    QUICK_CALL,
    QUICK_RETURN,
};

struct quick_instruction {
    uint8_t kind;         /* enum quick_kind */
    uint8_t length;       /* in bytes; 0 if unknown */
    int32_t displacement; /* of a jump, branch or call: from the next instruction to the target */
};

/* Decodes the instruction at the start of `size` bytes. */
struct quick_instruction quick_decode(const uint8_t *bytes, size_t size);

#endif
