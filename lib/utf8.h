/* UTF-8 from untrusted sources, e.g. names in binaries. Strict as in RFC 3629: overlong forms,
 * surrogates and values above U+10FFFF are invalid. Safe in signal handlers. */
#ifndef LIB_UTF8_H
#define LIB_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define UTF8_INVALID     0xffffffffu
#define UTF8_REPLACEMENT 0xfffdu

/* Decodes the code point at the start of `text`, which is NUL-terminated and not empty, and returns
 * its number of bytes. A byte that starts no valid sequence gives UTF8_INVALID and 1. */
size_t utf8_decode(const char *text, uint32_t *code);

/* Encodes a valid code point into `out` (room for 4 bytes, no terminator); returns its length. */
size_t utf8_encode(uint32_t code, char *out);

#endif
