/* The quick decoder compared with Zydis: wherever it gives an answer, Zydis gives the same. */
#include "tests/unit/cmocka_suite.h"

#include "hpcstruct/code/quick-decode.h"

#include <Zydis/Zydis.h>

static ZydisDecoder zydis;
static unsigned long answered, asked;

STEP(set_up)
{
    ZydisDecoderInit(&zydis, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
}

/* What Zydis says of an instruction: instructions of kinds that the quick decoder must leave to
 * Zydis are QUICK_UNKNOWN. */
static enum quick_kind kind_by_zydis(const ZydisDecodedInstruction *instruction)
{
    bool direct = instruction->raw.imm[0].is_relative;
    switch (instruction->meta.category) {
    case ZYDIS_CATEGORY_COND_BR: return direct ? QUICK_BRANCH : QUICK_UNKNOWN;
    case ZYDIS_CATEGORY_UNCOND_BR:
        return direct && instruction->mnemonic == ZYDIS_MNEMONIC_JMP ? QUICK_JUMP : QUICK_UNKNOWN;
    case ZYDIS_CATEGORY_CALL: return direct ? QUICK_CALL : QUICK_UNKNOWN;
    case ZYDIS_CATEGORY_RET: return QUICK_RETURN;
    default: break;
    }
    switch (instruction->mnemonic) {
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
    case ZYDIS_MNEMONIC_PAUSE:
    case ZYDIS_MNEMONIC_SYSCALL: return QUICK_UNKNOWN;
    case ZYDIS_MNEMONIC_LEA:
        if (instruction->raw.modrm.mod == 0 && instruction->raw.modrm.rm == 5)
            return QUICK_ADDRESS_LOAD;
        return QUICK_PLAIN;
    default: return QUICK_PLAIN;
    }
}

static void fail_at(const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        print_error("%02x ", bytes[i]);
    fail_msg("decoded otherwise than by Zydis");
}

static void compare(const uint8_t *bytes, size_t size)
{
    struct quick_instruction quick = quick_decode(bytes, size);
    ZydisDecodedInstruction instruction;
    asked++;
    if (quick.kind == QUICK_UNKNOWN) {
        assert_int_equal(quick.length, 0);
        return;
    }
    answered++;
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&zydis, NULL, bytes, size, &instruction)) ||
        instruction.length != quick.length || kind_by_zydis(&instruction) != quick.kind)
        fail_at(bytes, size);
    if (quick.kind >= QUICK_JUMP && quick.kind <= QUICK_CALL &&
        quick.displacement != instruction.raw.imm[0].value.s)
        fail_at(bytes, size);
}

/* All opcodes, with `prefixes` before them and all values of the byte after them. */
static void compare_opcodes(const uint8_t *prefixes, size_t count, uint8_t sib)
{
    for (unsigned opcode = 0; opcode < 512; opcode++)
        for (unsigned modrm = 0; modrm < 256; modrm++) {
            uint8_t bytes[32] = {0};
            size_t at = count;
            memcpy(bytes, prefixes, count);
            if (opcode >= 256)
                bytes[at++] = 0x0f;
            bytes[at++] = (uint8_t)opcode;
            bytes[at++] = (uint8_t)modrm;
            bytes[at] = sib;
            memset(bytes + at + 1, 0x91, sizeof bytes - at - 1);
            compare(bytes, sizeof bytes);
        }
}

TEST(test_opcodes)
{
    static const char *const prefixes[] = {
        "",         "\x66",     "\xf2",         "\xf3",     "\x48",     "\x41",
        "\x66\x48", "\xf3\x48", "\xf2\x4f",     "\x66\xf3", "\x66\xf2", "\x2e",
        "\x64",     "\x65\x48", "\x66\x66\x2e", "\xf3\xf2", "\x48\x66", "\xf0",
    };
    answered = asked = 0;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        compare_opcodes((const uint8_t *)prefixes[i], strlen(prefixes[i]), i % 2 ? 0x25 : 0xe4);
    assert_true(answered * 5 > asked);
}

/* A simple generator, so that the bytes are the same in each run. */
static uint8_t next_byte(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint8_t)(*seed >> 56);
}

TEST(test_random_bytes)
{
    uint64_t seed = 1;
    uint8_t bytes[24];
    for (unsigned i = 0; i < 300000; i++) {
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = next_byte(&seed);
        /* Half of them begin with prefixes. */
        if (i % 2)
            for (size_t k = 0; k < i / 2 % 12; k++)
                bytes[k] = "\x66\x66\x2e\x64\xf3\x48\x66"[bytes[k] % 7];
        compare(bytes, 1 + bytes[23] % sizeof bytes);
    }
}

/* The code of this program. The quick decoder knows most of its instructions. */
TEST(test_real_code)
{
    const uint8_t *at = (const uint8_t *)&compare, *end = at + 4096;
    answered = asked = 0;
    for (; at < end; at++)
        compare(at, 32);
    assert_true(answered * 2 > asked);
}

/* Bytes of an instruction that ends behind the code are not read: the sanitizers and the guard byte
 * see it. */
TEST(test_ends)
{
    static const uint8_t move[] = {0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8};
    for (size_t size = 0; size <= sizeof move; size++) {
        struct quick_instruction quick = quick_decode(move, size);
        assert_int_equal(quick.length, size == sizeof move ? size : 0);
        assert_int_equal(quick.kind, size == sizeof move ? QUICK_PLAIN : QUICK_UNKNOWN);
    }
}

ALL_TESTS(set_up, NULL);
