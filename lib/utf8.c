#include "lib/utf8.h"

/* The number of continuation bytes after a first byte; 0 also for bytes that start no sequence. */
static size_t continuations(unsigned char first)
{
    if (first >= 0xc2 && first <= 0xdf)
        return 1;
    if (first >= 0xe0 && first <= 0xef)
        return 2;
    if (first >= 0xf0 && first <= 0xf4)
        return 3;
    return 0;
}

/* The smallest code point by number of continuation bytes; smaller ones are overlong forms. */
static const uint32_t smallest[] = {0, 0x80, 0x800, 0x10000};

size_t utf8_decode(const char *text, uint32_t *code)
{
    const unsigned char *bytes = (const unsigned char *)text;
    if (bytes[0] < 0x80) {
        *code = bytes[0];
        return 1;
    }
    *code = UTF8_INVALID;
    size_t more = continuations(bytes[0]);
    if (more == 0)
        return 1;
    uint32_t value = bytes[0] & (0x3fu >> more);
    for (size_t i = 1; i <= more; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 1;
        value = value << 6 | (bytes[i] & 0x3fu);
    }
    int surrogate = value >= 0xd800 && value <= 0xdfff;
    if (value < smallest[more] || value > 0x10ffff || surrogate)
        return 1;
    *code = value;
    return more + 1;
}

size_t utf8_encode(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const unsigned char leads[] = {0, 0xc0, 0xe0, 0xf0};
    for (size_t i = more; i > 0; i--) {
        out[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    out[0] = (char)(leads[more] | code);
    return more + 1;
}
