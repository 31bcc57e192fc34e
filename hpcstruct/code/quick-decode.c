#include "hpcstruct/code/quick-decode.h"

#include <stdbool.h>
#include <string.h>

/* No instruction is longer. */
#define LONGEST 15

/* ---- opcodes ----
 *
 * A character per opcode, 16 in a line, says what follows it; z is an immediate operand of 4 bytes,
 * or of 2 with the prefix 66.
 *
 *   .  ask Zydis           n  nothing            m  ModRM
 *   b  1 byte              z  z                  v  z, or 8 bytes with REX.W
 *   B  ModRM, 1 byte       Z  ModRM, z           l  ModRM of a memory operand (lea)
 *   i  as B, operation 0   I  as Z, operation 0  (the operation is a field of ModRM)
 *   s  ModRM: shifts       S  ModRM, 1 byte      e  ModRM: inc, dec, push
 *   u  ModRM, with operation 0 and 1 byte        U  the same with z
 *   j  branch, 1 byte      J  jump, 1 byte       c  call, 4 bytes      C  jump, 4 bytes
 *   r  return              0  a two-byte opcode */
static const char one_byte[] = "mmmmbz..mmmmbz.0"
                               "mmmmbz..mmmmbz.."
                               "mmmmbz..mmmmbz.."
                               "mmmmbz..mmmmbz.."
                               "................"
                               "nnnnnnnnnnnnnnnn"
                               "...m....zZbB...."
                               "jjjjjjjjjjjjjjjj"
                               "BZ.Bmmmmmmmm.l.."
                               ".nnnnnnnnn......"
                               "....nn..bznn...."
                               "bbbbbbbbvvvvvvvv"
                               "SS.r..iI.n..n..."
                               "ssss............"
                               "........cC.J...."
                               "......uU......ee";

/* After 0f. The prefixes 66, f2 and f3 choose between instructions: "p 66" means that the opcode
 * exists without prefix and with 66.
 *
 *   .  ask Zydis      n  p, nothing       j  branch, 4 bytes
 *   m  ModRM, p 66    B  m and 1 byte     k  m of operation 0 (nop)
 *   g  B of operations 4 to 7             f  ModRM, p 66 f3
 *   a  ModRM, p 66 f2 f3                  h  a and 1 byte
 *   d  ModRM, 66      q  ModRM, 66 f3     s  ModRM, f2 f3
 *   x  ModRM, p f3    y  ModRM, f3 */
static const char two_bytes[] = "................"
                                "aa..mm.........k"
                                "........mms.ssmm"
                                "................"
                                "mmmmmmmmmmmmmmmm"
                                ".axxmmmmaaafaaaa"
                                "dddddddddddddddq"
                                "h...ddd.......qq"
                                "jjjjjjjjjjjjjjjj"
                                "mmmmmmmmmmmmmmmm"
                                "...mBm.....mBm.m"
                                "mm.m..mmy.gmffmm"
                                "mmh...B.nnnnnnnn"
                                ".dddddd.dddddddd"
                                "dddddd..dddddddd"
                                ".dddddd.ddddddd.";

/* ---- parts of an instruction ---- */

struct instruction {
    const uint8_t *bytes;
    unsigned at;    /* offset of the next byte */
    bool has_66;    /* operand size */
    uint8_t repeat; /* f2, f3, or 0 */
    uint8_t rex;    /* or 0 */
};

static const struct quick_instruction unknown;

static struct quick_instruction plain(unsigned length)
{
    return (struct quick_instruction){.kind = QUICK_PLAIN, .length = (uint8_t)length};
}

/* Reads the prefixes; false if Zydis should. */
static bool read_prefixes(struct instruction *i)
{
    for (;; i->at++) {
        uint8_t byte = i->bytes[i->at];
        if (byte == 0x66)
            i->has_66 = true;
        else if ((byte == 0xf2 || byte == 0xf3) && !i->repeat)
            i->repeat = byte;
        else if (byte != 0x2e && byte != 0x64 && byte != 0x65) /* segments, which do not matter */
            break;
        if (i->at > 8)
            return false;
    }
    if ((i->bytes[i->at] & 0xf0) == 0x40)
        i->rex = i->bytes[i->at++];
    return !i->has_66 || !i->repeat;
}

static unsigned operation(const struct instruction *i)
{
    return i->bytes[i->at] >> 3 & 7;
}

/* Bytes of ModRM with what belongs to it: SIB and displacement. */
static unsigned modrm_size(const struct instruction *i)
{
    const uint8_t *at = i->bytes + i->at;
    unsigned mode = at[0] >> 6, base = at[0] & 7;
    if (mode == 3)
        return 1;
    bool has_sib = base == 4;
    if (has_sib)
        base = at[1] & 7;
    unsigned displacement = mode == 1 ? 1 : mode == 2 || base == 5 ? 4 : 0;
    return 1 + has_sib + displacement;
}

static unsigned z_size(const struct instruction *i)
{
    return i->has_66 && !(i->rex & 8) ? 2 : 4;
}

/* A jump, branch or call. With a prefix it may be something else. */
static struct quick_instruction transfer(const struct instruction *i, enum quick_kind kind,
                                         unsigned size)
{
    struct quick_instruction found = {.kind = (uint8_t)kind, .length = (uint8_t)(i->at + size)};
    if (i->has_66 || i->repeat || i->rex)
        return unknown;
    if (size == 4)
        memcpy(&found.displacement, i->bytes + i->at, size);
    else if (size == 1)
        found.displacement = (int8_t)i->bytes[i->at];
    return found;
}

/* ---- opcodes of two bytes ---- */

/* Whether the prefixes choose an instruction that exists. */
static bool prefix_fits(const struct instruction *i, char code)
{
    switch (code) {
    case 'n': return !i->has_66 && !i->repeat;
    case 'm':
    case 'B':
    case 'k':
    case 'g': return !i->repeat;
    case 'f': return i->repeat != 0xf2;
    case 'a':
    case 'h': return true;
    case 'd': return i->has_66;
    case 'q': return i->has_66 || i->repeat == 0xf3;
    case 's': return i->repeat != 0;
    case 'x': return !i->has_66 && i->repeat != 0xf2;
    case 'y': return i->repeat == 0xf3;
    }
    return false;
}

static struct quick_instruction decode_two_bytes(struct instruction *i)
{
    const uint8_t *opcode = i->bytes + i->at;
    char code = two_bytes[*opcode];
    i->at++;
    if (code == 'j')
        return transfer(i, QUICK_BRANCH, 4);
    if (opcode[0] == 0x1e && opcode[1] == 0xfa && i->repeat == 0xf3 && !i->rex)
        return plain(i->at + 1); /* endbr64 */
    if (!prefix_fits(i, code))
        return unknown;
    switch (code) {
    case 'n': return plain(i->at);
    case 'k': return operation(i) == 0 ? plain(i->at + modrm_size(i)) : unknown;
    case 'g': return operation(i) >= 4 ? plain(i->at + modrm_size(i) + 1) : unknown;
    case 'B':
    case 'h': return plain(i->at + modrm_size(i) + 1);
    }
    return plain(i->at + modrm_size(i));
}

/* ---- opcodes of one byte ---- */

static struct quick_instruction decode_lea(const struct instruction *i)
{
    unsigned mode = i->bytes[i->at] >> 6, base = i->bytes[i->at] & 7;
    if (mode == 3)
        return unknown;
    struct quick_instruction found = plain(i->at + modrm_size(i));
    if (mode == 0 && base == 5)
        found.kind = QUICK_ADDRESS_LOAD;
    return found;
}

/* The opcodes with an operation in ModRM. */
static struct quick_instruction decode_group(const struct instruction *i, char code, uint8_t opcode)
{
    unsigned size = i->at + modrm_size(i);
    switch (code) {
    case 'i': return operation(i) == 0 ? plain(size + 1) : unknown;
    case 'I': return operation(i) == 0 ? plain(size + z_size(i)) : unknown;
    case 's': return operation(i) != 6 ? plain(size) : unknown;
    case 'S': return operation(i) != 6 ? plain(size + 1) : unknown;
    case 'e':
        return operation(i) <= 1 || (operation(i) == 6 && opcode == 0xff) ? plain(size) : unknown;
    case 'u':
        if (operation(i) == 0)
            return plain(size + 1);
        return operation(i) != 1 ? plain(size) : unknown;
    case 'U':
        if (operation(i) == 0)
            return plain(size + z_size(i));
        return operation(i) != 1 ? plain(size) : unknown;
    }
    return unknown;
}

static struct quick_instruction decode(struct instruction *i)
{
    if (!read_prefixes(i))
        return unknown;
    uint8_t opcode = i->bytes[i->at++];
    char code = one_byte[opcode];
    if (code == '0')
        return decode_two_bytes(i);
    /* Here f3 repeats: only movs (a4, a5) and stos (aa, ab). */
    if (i->repeat && !(i->repeat == 0xf3 && (opcode & 0xf0) == 0xa0 && code == 'n'))
        return unknown;
    switch (code) {
    case '.': return unknown;
    case 'n': return plain(i->at);
    case 'm': return plain(i->at + modrm_size(i));
    case 'b': return plain(i->at + 1);
    case 'z': return plain(i->at + z_size(i));
    case 'v': return plain(i->at + (i->rex & 8 ? 8 : z_size(i)));
    case 'B': return plain(i->at + modrm_size(i) + 1);
    case 'Z': return plain(i->at + modrm_size(i) + z_size(i));
    case 'l': return decode_lea(i);
    case 'j': return transfer(i, QUICK_BRANCH, 1);
    case 'J': return transfer(i, QUICK_JUMP, 1);
    case 'C': return transfer(i, QUICK_JUMP, 4);
    case 'c': return transfer(i, QUICK_CALL, 4);
    case 'r': return transfer(i, QUICK_RETURN, 0);
    }
    return decode_group(i, code, opcode);
}

struct quick_instruction quick_decode(const uint8_t *bytes, size_t size)
{
    /* The parts are read without checks; the longest prefixes and an instruction fit. */
    uint8_t last[2 * LONGEST] = {0};
    struct instruction i = {.bytes = bytes};
    if (size < sizeof last) {
        memcpy(last, bytes, size);
        i.bytes = last;
    }
    struct quick_instruction found = decode(&i);
    return found.length <= LONGEST && found.length <= size ? found : unknown;
}
