#include "hpcrun/unwind/instruction.h"

#include <string.h>

/* What follows an opcode. */
enum {
    NO = 0,  /* nothing */
    M = 1,   /* a ModRM byte, with SIB byte and displacement as it says */
    B = 2,   /* an immediate byte */
    Z = 4,   /* an immediate of 4 bytes, of 2 with the prefix 66 */
    V = 8,   /* as Z, of 8 bytes with REX.W */
    H = 16,  /* an immediate of 2 bytes */
    BAD = 32 /* no opcode of 64-bit code, a prefix, or so rare that it is left out */
};

static const uint8_t one_byte[256] = {
    M,     M,     M,   M,     B,   Z,   BAD,   BAD,
    M,     M,     M,   M,     B,   Z,   BAD,   BAD, /* 00: add, or */
    M,     M,     M,   M,     B,   Z,   BAD,   BAD,
    M,     M,     M,   M,     B,   Z,   BAD,   BAD, /* 10: adc, sbb */
    M,     M,     M,   M,     B,   Z,   BAD,   BAD,
    M,     M,     M,   M,     B,   Z,   BAD,   BAD, /* 20: and, sub */
    M,     M,     M,   M,     B,   Z,   BAD,   BAD,
    M,     M,     M,   M,     B,   Z,   BAD,   BAD, /* 30: xor, cmp */
    BAD,   BAD,   BAD, BAD,   BAD, BAD, BAD,   BAD,
    BAD,   BAD,   BAD, BAD,   BAD, BAD, BAD,   BAD, /* 40: REX */
    NO,    NO,    NO,  NO,    NO,  NO,  NO,    NO,
    NO,    NO,    NO,  NO,    NO,  NO,  NO,    NO, /* 50: push, pop */
    BAD,   BAD,   BAD, M,     BAD, BAD, BAD,   BAD,
    Z,     M | Z, B,   M | B, NO,  NO,  NO,    NO, /* 60 */
    B,     B,     B,   B,     B,   B,   B,     B,
    B,     B,     B,   B,     B,   B,   B,     B, /* 70: jumps */
    M | B, M | Z, BAD, M | B, M,   M,   M,     M,
    M,     M,     M,   M,     M,   M,   M,     M, /* 80 */
    NO,    NO,    NO,  NO,    NO,  NO,  NO,    NO,
    NO,    NO,    BAD, NO,    NO,  NO,  NO,    NO, /* 90 */
    BAD,   BAD,   BAD, BAD,   NO,  NO,  NO,    NO,
    B,     Z,     NO,  NO,    NO,  NO,  NO,    NO, /* a0 */
    B,     B,     B,   B,     B,   B,   B,     B,
    V,     V,     V,   V,     V,   V,   V,     V, /* b0: mov */
    M | B, M | B, H,   NO,    BAD, BAD, M | B, M | Z,
    BAD,   NO,    H,   NO,    NO,  B,   BAD,   NO, /* c0 */
    M,     M,     M,   M,     BAD, BAD, BAD,   NO,
    M,     M,     M,   M,     M,   M,   M,     M, /* d0 */
    B,     B,     B,   B,     B,   B,   B,     B,
    Z,     Z,     BAD, B,     NO,  NO,  NO,    NO, /* e0: calls, jumps */
    BAD,   NO,    BAD, BAD,   NO,  NO,  M,     M,
    NO,    NO,    NO,  NO,    NO,  NO,  M,     M, /* f0 */
};

/* Behind the opcode byte 0f. Most have a ModRM byte. */
static unsigned follows_0f(uint8_t opcode)
{
    switch (opcode) {
    case 0x04:
    case 0x0a:
    case 0x0c:
    case 0x0f:          /* AMD's 3DNow */
    case 0x20 ... 0x27: /* control registers: not for programs */
    case 0x36:
    case 0x39:
    case 0x3b ... 0x3f: return BAD;
    case 0x05 ... 0x09:
    case 0x0b:
    case 0x0e:
    case 0x30 ... 0x35:
    case 0x37:
    case 0x77:
    case 0xa0 ... 0xa2:
    case 0xa8 ... 0xaa:
    case 0xc8 ... 0xcf: return NO;
    case 0x70 ... 0x73:
    case 0xa4:
    case 0xac:
    case 0xba:
    case 0xc2:
    case 0xc4 ... 0xc6: return M | B;
    case 0x80 ... 0x8f: return Z;
    default: return M;
    }
}

/* Of vector instructions, by the number of their map (1: as behind 0f, 3: as behind 0f 3a). */
static unsigned follows_vector(unsigned map, uint8_t opcode)
{
    if (map == 1)
        return opcode == 0x77 ? NO : follows_0f(opcode) & B ? M | B : M;
    return map == 3 ? M | B : M;
}

/* The bytes that a decoder may read, whatever they are: 14 prefixes, 5 bytes of an opcode with the prefix
 * of vector instructions, ModRM, SIB, 4 bytes of displacement, and 8 bytes that hold the immediate. */
#define DECODER_BYTES (14 + 5 + 2 + 4 + 8)

struct decoder {
    const uint8_t *code; /* DECODER_BYTES of them */
    unsigned at;
    uint8_t rex;
    bool operand_16, fs;
};

static uint8_t byte(struct decoder *d)
{
    return d->code[d->at++];
}

/* A little-endian number of `size` bytes, sign-extended. */
static int64_t number(struct decoder *d, unsigned size)
{
    uint64_t value;
    memcpy(&value, d->code + d->at, sizeof value);
    d->at += size;
    unsigned unused = 64 - 8 * size;
    return (int64_t)(value << unused) >> unused;
}

/* Reads prefixes; returns the byte behind them. A REX prefix counts only right before the
 * opcode. */
static uint8_t skip_prefixes(struct decoder *d)
{
    for (;;) {
        uint8_t prefix = byte(d);
        switch (prefix) {
        case 0x64: d->fs = true; d->rex = 0; break;
        case 0x66: d->operand_16 = true; /* fall through */
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0x65:
        case 0x67:
        case 0xf0:
        case 0xf2:
        case 0xf3: d->rex = 0; break;
        default:
            if (prefix >> 4 != 4)
                return prefix;
            d->rex = prefix;
        }
        if (d->at == INSTRUCTION_MAX_BYTES)
            return 0;
    }
}

/* The opcode behind a VEX (c4, c5) or EVEX (62) prefix, and what follows it. */
static unsigned read_vector_opcode(struct decoder *d, uint8_t prefix, struct instruction *out)
{
    unsigned map = 1;
    uint8_t first = byte(d);
    if (prefix != 0xc5) {
        map = first & (prefix == 0x62 ? 7 : 0x1f);
        for (unsigned i = prefix == 0x62 ? 2 : 1; i > 0; i--)
            byte(d);
    }
    out->map = MAP_VECTOR;
    out->opcode = byte(d);
    return map == 0 || map > 6 ? BAD : follows_vector(map, out->opcode);
}

static unsigned read_opcode(struct decoder *d, struct instruction *out)
{
    uint8_t opcode = skip_prefixes(d);
    if (opcode == 0xc4 || opcode == 0xc5 || opcode == 0x62)
        return read_vector_opcode(d, opcode, out);
    out->opcode = opcode;
    if (opcode != 0x0f)
        return one_byte[opcode];
    out->map = MAP_0F;
    out->opcode = byte(d);
    if (out->opcode != 0x38 && out->opcode != 0x3a)
        return follows_0f(out->opcode);
    out->map = out->opcode == 0x38 ? MAP_0F38 : MAP_0F3A;
    unsigned follows = out->opcode == 0x38 ? M : M | B;
    out->opcode = byte(d);
    return follows;
}

static void read_operand(struct decoder *d, struct instruction *out)
{
    uint8_t modrm = byte(d);
    unsigned size = 0;
    out->mod = modrm >> 6;
    out->reg = (uint8_t)((modrm >> 3 & 7) | (d->rex & 4) << 1);
    out->rm = (uint8_t)((modrm & 7) | (d->rex & 1) << 3);
    out->base = out->rm;
    if (out->mod == 3)
        return;
    bool no_base = out->mod == 0 && (modrm & 7) == 5;
    out->rip_relative = no_base;
    if ((modrm & 7) == 4) {
        uint8_t sib = byte(d);
        out->base = (uint8_t)((sib & 7) | (d->rex & 1) << 3);
        out->index = (uint8_t)((sib >> 3 & 7) | (d->rex & 2) << 2);
        out->no_base = no_base = out->mod == 0 && (sib & 7) == 5;
    }
    if (out->mod == 2 || no_base)
        size = 4;
    else if (out->mod == 1)
        size = 1;
    out->displacement = (int32_t)(size ? number(d, size) : 0);
}

/* `test` is the only instruction of its group (f6, f7) that has an immediate. */
static unsigned follows_group_3(const struct instruction *out)
{
    if (out->map != MAP_ONE_BYTE || (out->reg & 7) > 1)
        return 0;
    return out->opcode == 0xf6 ? B : out->opcode == 0xf7 ? Z : 0;
}

static void read_immediate(struct decoder *d, unsigned follows, struct instruction *out)
{
    bool is_jump = out->map == MAP_ONE_BYTE ? out->opcode == 0xe8 || out->opcode == 0xe9
                                            : out->map == MAP_0F; /* near jumps: not shortened */
    unsigned size = d->operand_16 && !out->wide && !is_jump ? 2 : 4;
    if (follows & H)
        out->immediate = number(d, 2);
    if (follows & V)
        size = out->wide ? 8 : size;
    if (follows & (Z | V))
        out->immediate = number(d, size);
    if (follows & B)
        out->immediate = number(d, 1);
}

/* Decodes; returns the length, 0 if the bytes are no instruction. */
static unsigned decode(const uint8_t *code, struct instruction *instruction)
{
    struct decoder d = {.code = code};
    unsigned follows = read_opcode(&d, instruction);
    instruction->wide = d.rex & 8;
    instruction->fs = d.fs;
    if (follows & BAD)
        return 0;
    if (follows & M) {
        read_operand(&d, instruction);
        follows |= follows_group_3(instruction);
        if (instruction->map == MAP_ONE_BYTE && instruction->opcode == 0x8f &&
            (instruction->reg & 7))
            return 0; /* AMD's XOP, which no current processor has */
    } else if (instruction->map == MAP_ONE_BYTE) {
        instruction->rm = (uint8_t)((instruction->opcode & 7) | (d.rex & 1) << 3);
    }
    if (follows & (H | V | Z | B))
        read_immediate(&d, follows, instruction);
    return d.at <= INSTRUCTION_MAX_BYTES ? d.at : 0;
}

bool instruction_decode(const uint8_t *code, size_t room, struct instruction *instruction)
{
    uint8_t padded[DECODER_BYTES] = {0};
    *instruction = (struct instruction){.index = 4};
    if (room < DECODER_BYTES)
        code = memcpy(padded, code, room);
    unsigned length = decode(code, instruction);
    instruction->length = (uint8_t)length;
    return length > 0 && length <= room;
}
