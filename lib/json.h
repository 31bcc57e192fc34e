/* Writes JSON (RFC 8259) as a stream; memory holds only the position.
 *
 *     struct json_writer json;
 *     json_write_start(&json, stdout, 2);
 *     json_write_object(&json);
 *     json_write_key(&json, "pid");
 *     json_write_integer(&json, 71);
 *     json_write_object_end(&json);
 *     ok = json_write_finish(&json);
 *
 * The caller keeps objects and arrays balanced. Strings are UTF-8; other bytes become U+FFFD.
 * Characters that lib/printable.h would escape are written as \u, so the text is safe to print.
 * Doubles read back as the same value; infinity and NaN become null. LC_NUMERIC must be "C". */
#ifndef LIB_JSON_H
#define LIB_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json_writer {
    FILE *out;
    unsigned indent; /* spaces per level; 0: no line breaks except by json_write_break */
    unsigned depth;
    bool needs_comma; /* there is an earlier element at this level */
    bool after_key;   /* the next element is the value of a key */
    bool broken;      /* the next element starts a new line */
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

/* Writes several elements, in the form in which they stand in JSON:
 *
 *     json_print(json, "\n{type:'thread' name:%s cpu:%g at:[%zu %zu] ended:%i parent:null}", name, cpu, from, to, ended);
 *
 * Keys end with a colon; %s: is one, too. Other words, of at most 63 bytes, are strings in quotes or constants: 0,
 * true, null. A line end is json_write_break. Conversions are those of printf without flags: %s (always a string; NULL
 * becomes null), %g, %u, %zu; %d and %jd become null below 0; %i is a bool. */
void json_print(struct json_writer *json, const char *form, ...) __attribute__((format(printf, 2, 3)));

/* Writes a member that is an array: for each i < n the value of an expression with i; NAN is null.
 *
 *     json_print_numbers(json, "time", i, samples.n, samples.at[i].time); */
#define json_print_numbers(json, key, i, n, value)                                                 \
    do {                                                                                           \
        json_print(json, "%s:[", key);                                                             \
        for (size_t i = 0; i < (n); i++)                                                           \
            json_write_double(json, value);                                                        \
        json_print(json, "]");                                                                     \
    } while (0)

/* Writes a final newline and flushes; false if anything could not be written. */
bool json_write_finish(struct json_writer *json);

/* A finite double with the fewest of 15 to 17 significant digits that read back as the same value,
 * without trailing zeros. */
#define JSON_DOUBLE_SIZE 32
void json_format_double(double value, char text[JSON_DOUBLE_SIZE]);

#endif
