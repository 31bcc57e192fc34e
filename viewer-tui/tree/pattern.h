/* What the user looks for in rows: a regular expression (POSIX, extended), or what it is about and
 * then the expression:
 *
 *     REGEX            what a row shows: its name, or its place
 *     name:REGEX       only the name
 *     file:REGEX       the whole path of the source file
 *     module:REGEX     the whole path of the binary
 *
 * Upper and lower case are the same unless the text has upper case. What is no regular expression
 * is taken literally. */
#ifndef VIEWER_PATTERN_H
#define VIEWER_PATTERN_H

#include "viewer-tui/tree/answers.h"
#include "viewer-tui/tree/view.h"

#include <regex.h>

enum pattern_field { PATTERN_SHOWN, PATTERN_NAME, PATTERN_FILE, PATTERN_MODULE };

struct pattern {
    char *text; /* as the user wrote it */
    enum pattern_field field;
    const char *wanted; /* the part of the text behind the field */
    bool ignores_case;
    bool is_literal; /* nothing in it has a meaning, or it is broken */
    bool is_broken;  /* no regular expression */
    regex_t regex;   /* unless literal */
    struct row_cache cache;
};

struct pattern *pattern_new(const char *text);
void pattern_free(struct pattern *pattern); /* NULL allowed */

bool pattern_matches(struct pattern *pattern, const struct view *view, uint32_t row);

/* The first match in a text that is not empty: its bytes *start .. *end - 1. */
bool pattern_find(const struct pattern *pattern, const char *text, size_t *start, size_t *end);

#endif
