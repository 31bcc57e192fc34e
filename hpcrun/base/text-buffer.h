/* Signal handler: everything here may be used there.
 *
 * Small text without libc: building file names, log lines and messages in a buffer. Text that
 * does not fit is cut off. */
#ifndef HPCRUN_BASE_TEXT_BUFFER_H
#define HPCRUN_BASE_TEXT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    char *at;
    size_t length, room; /* room for a terminator is kept: length < room */
};

/* A text over `buffer`, empty. */
#define TEXT(buffer) ((struct text){.at = (buffer), .room = sizeof(buffer)})

void text_add(struct text *text, const char *string);
void text_add_bytes(struct text *text, const char *bytes, size_t count);
void text_add_number(struct text *text, uint64_t number);
/* `value` / 10^decimals, with that many digits after the point. */
void text_add_decimal(struct text *text, uint64_t value, unsigned decimals);
/* The name of an errno value ("No space left on device"). */
void text_add_error(struct text *text, long error);

/* Reads a number in base 10 at *at and advances it; false when there is none. */
bool text_take_number(const char **at, uint64_t *number);
/* Whether `string` begins with `prefix`; the rest, or NULL. */
const char *text_after(const char *string, const char *prefix);

#endif
