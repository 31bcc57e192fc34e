/* The handler's decoder of machine code beside Zydis, on random bytes and on real code. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/unwind/instruction.h"

#include <Zydis/Zydis.h>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>

#define ROUNDS 2000000

static ZydisDecoder zydis;

/* Instructions that hpcrun leaves out: mov with an address of 8 bytes, enter, moves of control
 * registers, AMD's XOP and 3DNow, what only the first Xeon Phi had. */
static bool is_left_out(const ZydisDecodedInstruction *theirs)
{
    return theirs->encoding == ZYDIS_INSTRUCTION_ENCODING_XOP ||
           theirs->encoding == ZYDIS_INSTRUCTION_ENCODING_3DNOW ||
           theirs->encoding == ZYDIS_INSTRUCTION_ENCODING_MVEX ||
           theirs->mnemonic == ZYDIS_MNEMONIC_ENTER || theirs->mnemonic == ZYDIS_MNEMONIC_JKZD ||
           theirs->mnemonic == ZYDIS_MNEMONIC_JKNZD ||
           (theirs->opcode_map == ZYDIS_OPCODE_MAP_0F && theirs->opcode >= 0x20 &&
            theirs->opcode <= 0x23) ||
           (theirs->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && theirs->opcode >= 0xa0 &&
            theirs->opcode <= 0xa3);
}

static bool their_fields_are_ours(const ZydisDecodedInstruction *theirs,
                                  const struct instruction *ours)
{
    if (ours->length != theirs->length)
        return false;
    if (theirs->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
        return ours->map == MAP_VECTOR;
    if (ours->opcode != theirs->opcode || ours->wide != (theirs->raw.rex.W == 1))
        return false;
    if (!(theirs->attributes & ZYDIS_ATTRIB_HAS_MODRM))
        return true;
    return ours->mod == theirs->raw.modrm.mod && (ours->reg & 7) == theirs->raw.modrm.reg &&
           (ours->rm & 7) == theirs->raw.modrm.rm && ours->reg >> 3 == theirs->raw.rex.R &&
           ours->displacement == theirs->raw.disp.value;
}

static bool agree(const uint8_t *code, size_t room, unsigned *length)
{
    struct instruction ours;
    ZydisDecodedInstruction theirs;
    bool decoded = instruction_decode(code, room, &ours);
    *length = 1;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&zydis, NULL, code, room, &theirs)))
        return true; /* hpcrun need not know that */
    *length = theirs.length;
    return is_left_out(&theirs) || (decoded && their_fields_are_ours(&theirs, &ours));
}

TEST(random_bytes)
{
    uint64_t random = 0x2545f4914f6cdd1d, bytes[2];
    unsigned length;
    for (unsigned i = 0; i < ROUNDS; i++) {
        for (unsigned k = 0; k < 2; k++) {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            bytes[k] = random;
        }
        if (!agree((const uint8_t *)bytes, sizeof bytes, &length)) {
            const uint8_t *b = (const uint8_t *)bytes;
            fail_msg("%02x %02x %02x %02x %02x %02x %02x %02x", b[0], b[1], b[2], b[3], b[4], b[5],
                     b[6], b[7]);
        }
    }
}

static int check_code(struct dl_phdr_info *info, size_t size, void *count)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const uint8_t *at = (const uint8_t *)(uintptr_t)(info->dlpi_addr + segment->p_vaddr);
        unsigned length;
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
            continue;
        for (size_t k = 0; k < segment->p_filesz; k += length, ++*(unsigned *)count)
            if (!agree(at + k, segment->p_filesz - k, &length))
                fail_msg("%s at %zx: %02x %02x %02x %02x", info->dlpi_name, k, at[k], at[k + 1],
                         at[k + 2], at[k + 3]);
    }
    return 0;
}

TEST(the_code_of_libraries)
{
    unsigned count = 0;
    dl_iterate_phdr(check_code, &count);
    assert_true(count > 100000);
}

TEST(instructions_need_room)
{
    static const uint8_t code[] = {0x48, 0x81, 0xec, 1, 2, 0, 0}; /* sub $513, %rsp */
    struct instruction i;
    for (size_t room = 0; room < sizeof code; room++)
        assert_false(instruction_decode(code, room, &i));
    assert_true(instruction_decode(code, sizeof code, &i));
    assert_int_equal(i.immediate, 513);
}

/* Prefixes, mov $1, %ax (4 bytes with its prefix), and more bytes that can be read. */
TEST(instructions_are_not_longer_than_15_bytes)
{
    uint8_t code[64];
    struct instruction i;
    for (unsigned prefixes = 1; prefixes < 40; prefixes++) {
        memset(code, 0x66, sizeof code);
        memcpy(code + prefixes, (const uint8_t[]){0xb8, 1, 0}, 3);
        assert_int_equal(instruction_decode(code, sizeof code, &i), prefixes + 3 <= 15);
    }
}

/* Bytes that look like ever more instruction are read up to a bound: the next page can't be read. */
TEST(no_bytes_after_the_room_are_read)
{
    static const uint8_t vector[] = {0x62, 0xf3, 0x7d, 0x48, 0x25, 0x84, 0x24}; /* with SIB, disp32 and imm8 */
    uint8_t *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct instruction i;
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + 4096, 4096, PROT_NONE), 0);
    for (size_t room = 0; room < 64; room++)
        for (size_t prefixes = 0; prefixes <= room; prefixes++) {
            uint8_t *code = pages + 4096 - room;
            size_t rest = room - prefixes;
            memset(code, 0x66, room);
            memcpy(code + prefixes, vector, rest < sizeof vector ? rest : sizeof vector);
            instruction_decode(code, room, &i);
        }
    munmap(pages, 8192);
}

static int set_up(void **state)
{
    return ZYAN_SUCCESS(ZydisDecoderInit(&zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64))
               ? 0
               : -1;
}

ALL_TESTS(set_up, NULL);
