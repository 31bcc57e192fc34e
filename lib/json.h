/* Writing JSON (RFC 8259) as a stream: nothing is kept in memory but the position.
 *
 *     struct json_writer json;
 *     json_write_start(&json, stdout, 2);
 *     json_write_object(&json);
 *     json_write_key(&json, "pid");
 *     json_write_integer(&json, 71);
 *     json_write_object_end(&json);
 *     ok = json_write_finish(&json);
 *
 * The caller keeps objects and arrays balanced. Strings are UTF-8; bytes that are not become
 * U+FFFD. What lib/printable.h would escape is written as \u: the text can be shown on a terminal.
 * Doubles read back as the same value; what JSON has no number for (infinity, NaN) becomes null.
 * The process's LC_NUMERIC must be "C". */
#ifndef LIB_JSON_H
#define LIB_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json_writer {
    FILE *out;
    unsigned indent; /* spaces per level; 0: no line breaks but those of json_write_break */
    unsigned depth;
    bool needs_comma; /* an element stands before the next one at this level */
    bool after_key;   /* the next element is the value of a key */
    bool broken;      /* the next element starts a line */
};

void json_write_start(struct json_writer *json, FILE *out, unsigned indent);

void json_write_object(struct json_writer *json);
void json_write_object_end(struct json_writer *json);
void json_write_array(struct json_writer *json);
void json_write_array_end(struct json_writer *json);

/* The key of the next element of an object. */
void json_write_key(struct json_writer *json, const char *key);

/* NULL becomes null. */
void json_write_string(struct json_writer *json, const char *text);
void json_write_double(struct json_writer *json, double value);
void json_write_integer(struct json_writer *json, int64_t value);
void json_write_bool(struct json_writer *json, bool value);
void json_write_null(struct json_writer *json);

/* A key and a string, which may be NULL. */
void json_write_text(struct json_writer *json, const char *key, const char *text);

/* With indent 0: the next element or key starts a new line. */
void json_write_break(struct json_writer *json);

/* Ends the text with a newline and flushes; false when anything could not be written. */
bool json_write_finish(struct json_writer *json);

/* A finite double in as few of 15 to 17 significant digits as read back as the same value,
 * trailing zeros left out. */
#define JSON_DOUBLE_SIZE 32
void json_format_double(double value, char text[JSON_DOUBLE_SIZE]);

#endif
