/* Decoding UTF-8 that may be anything: names come from binaries and from files of others.
 *
 * Strict: overlong forms, surrogates and values above U+10FFFF are invalid, as in RFC 3629. */
#ifndef LIB_UTF8_H
#define LIB_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define UTF8_INVALID     0xffffffffu
#define UTF8_REPLACEMENT 0xfffdu

/* Decodes the code point at `text`, which is not empty (NUL-terminated, first byte not NUL).
 * Returns the number of bytes it takes; for a byte that starts no valid sequence sets *code to
 * UTF8_INVALID and returns 1. Never reads beyond the terminator. */
size_t utf8_decode(const char *text, uint32_t *code);

/* Encodes a valid code point into `out` (room for 4 bytes, not terminated); returns its length. */
size_t utf8_encode(uint32_t code, char *out);

#endif
