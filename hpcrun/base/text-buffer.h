/* Signal handler: everything here may be used there.
 *
 * Text in a fixed buffer, without libc: file names, log lines, messages. Text that does not fit is
 * cut off. */
#ifndef HPCRUN_BASE_TEXT_BUFFER_H
#define HPCRUN_BASE_TEXT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    char *at;
    size_t length, room; /* length < room: the last byte is for the terminating 0 */
};

/* An empty text in the array `buffer`. */
#define TEXT(buffer) ((struct text){.at = (buffer), .room = sizeof(buffer)})

void text_add(struct text *text, const char *string);
void text_add_bytes(struct text *text, const char *bytes, size_t count);
void text_add_number(struct text *text, uint64_t number);
/* `value` / 10^decimals, with that many digits after the point. */
void text_add_decimal(struct text *text, uint64_t value, unsigned decimals);
/* The name of an errno value ("No space left on device"). */
void text_add_error(struct text *text, long error);

/* Parses a decimal number at *at and advances *at behind it; false if there is none. */
bool text_parse_number(const char **at, uint64_t *number);
/* The rest of `string` after `prefix`; NULL if it does not begin with it. */
const char *text_after(const char *string, const char *prefix);

#endif
