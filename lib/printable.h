/* Signal handler: all of it may be used there. lib/sanitized-text.h has allocated copies.
 *
 * The printable form of names from outside: paths, commands, arguments, threads, symbols, source
 * files. A name can hold any byte. What a terminal would obey, what breaks a line, and what hides
 * or reverses text becomes an escape:
 *
 *   escape      stands for
 *   \xHH        a C0 control (also tab and newline), DEL, or a byte that is not UTF-8
 *   \uHHHH      a C1 control; text direction (U+061C, U+200E, U+200F, U+202A-U+202E,
 *               U+2066-U+2069); line ends (U+2028, U+2029); zero width (U+200B, U+2060-U+206F,
 *               U+FEFF, U+FFF9-U+FFFB); noncharacters (U+FFFE, U+FFFF)
 *   \UHHHHHHHH  zero-width tag characters (U+E0000-U+E007F)
 *   \\          a backslash before a backslash, x, u or U, or before an escape
 *
 * All other text is unchanged, so the form is unambiguous: the name a<ESC>[2J becomes a\x1b[2J, and
 * the name a\x1b[2J, with a backslash, becomes a\\x1b[2J. */
#ifndef LIB_PRINTABLE_H
#define LIB_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest form of one code point, without a terminator. */
#define PRINTABLE_BYTES 10

/* Whether a code point needs an escape. UTF8_INVALID (lib/utf8.h) does, a backslash does not. */
bool printable_needs_escape(uint32_t code);

/* Writes the form of the first code point of *text, which is NUL-terminated and not empty, to
 * `out`, advances *text past it and returns the number of bytes written. */
size_t printable_next(const char **text, char out[PRINTABLE_BYTES]);

/* As printable_next, but never escapes a backslash: for source code, where they are common and the
 * form need not be unambiguous. */
size_t printable_next_of_code(const char **text, char out[PRINTABLE_BYTES]);

/* Writes the form of a text, with terminator, into the `room` bytes at `out`. A longer form is cut
 * between two characters or escapes. Returns the length without the terminator. */
size_t printable_copy(char *out, size_t room, const char *text);

#endif
