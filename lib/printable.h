/* Signal handler: all of it may be used there. lib/sanitized-text.h has allocated copies.
 *
 * Names that come from outside (paths, commands, arguments, threads, symbols, source files), made
 * fit for a terminal, a log or a report. A name can hold any byte. Bytes that a terminal obeys,
 * that break a line, or that hide or turn around text become escapes:
 *
 *   \xHH        a C0 control (tab and newline, too), DEL, or a byte that is not UTF-8
 *   \uHHHH      a C1 control; controls of the direction of text (U+061C, U+200E, U+200F,
 *               U+202A-U+202E, U+2066-U+2069); ends of lines (U+2028, U+2029); what takes no room
 *               (U+200B, U+2060-U+206F, U+FEFF, U+FFF9-U+FFFB); no characters (U+FFFE, U+FFFF)
 *   \UHHHHHHHH  tag characters (U+E0000-U+E007F), which take no room
 *   \\          a backslash before a backslash, x, u or U, or before an escape
 *
 * All else stays. So the form can be read in one way only: "a<ESC>[2J" is a\x1b[2J, and a name in
 * which a backslash, x, 1 and b stand is a\\x1b[2J. */
#ifndef LIB_PRINTABLE_H
#define LIB_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that the form of one code point takes at most; it is not terminated. */
#define PRINTABLE_BYTES 10

/* Whether a code point needs an escape; UTF8_INVALID (lib/utf8.h), too, a backslash never. */
bool printable_needs_escape(uint32_t code);

/* Writes the form of the code point at *text (NUL-terminated, not empty) to `out`, moves *text
 * behind it and returns the number of bytes written. */
size_t printable_next(const char **text, char out[PRINTABLE_BYTES]);

/* As printable_next, but a backslash always stays: for source code, in which they are common and
 * nothing has to be told apart. */
size_t printable_next_of_code(const char **text, char out[PRINTABLE_BYTES]);

/* Writes the form of a text and a terminator to `out`; what does not fit into `room` bytes is cut
 * off, never within a character or an escape. Returns the length without the terminator. */
size_t printable_copy(char *out, size_t room, const char *text);

#endif
