/* Signal handler: everything here may run in the sampling handler; no state, no libc.
 *
 * Decodes x86-64 machine code as far as unwinding needs it: the lengths of instructions, and the
 * fields that tell what they do to the stack pointer. */
#ifndef HPCRUN_UNWIND_INSTRUCTION_H
#define HPCRUN_UNWIND_INSTRUCTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INSTRUCTION_MAX_BYTES 15

/* The map of an opcode: the bytes before it. Vector instructions have their own prefixes. */
enum opcode_map { MAP_ONE_BYTE, MAP_0F, MAP_0F38, MAP_0F3A, MAP_VECTOR };

struct instruction {
    uint8_t length; /* bytes */
    uint8_t map;    /* enum opcode_map */
    uint8_t opcode;
    bool wide;            /* REX.W: operands of 64 bits */
    uint8_t mod, reg, rm; /* fields of the ModRM byte, reg and rm with their REX bits; without a
                               ModRM byte, rm is the register in the opcode */
    uint8_t base, index;  /* fields of the SIB byte, with their REX bits; no SIB byte: rm, 4 */
    bool rip_relative;    /* the operand's address is relative to the instruction's end */
    bool no_base, fs;     /* it has no base register; it is relative to fs */
    int32_t displacement; /* of the operand's address; else 0 */
    int64_t immediate;    /* the (first) immediate operand, sign-extended; else 0 */
};

/* Decodes the instruction at `code`, of which `room` bytes can be read. False if the bytes are no
 * instruction of 64-bit code, or if it is longer than `room`. */
bool instruction_decode(const uint8_t *code, size_t room, struct instruction *instruction);

#endif
