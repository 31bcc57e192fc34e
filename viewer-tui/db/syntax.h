/* The syntax of source code, as far as coloring needs it: comments, strings, numbers, keywords and
 * preprocessor lines of C, C++, CUDA, Fortran, Go, Python and Rust. An error costs a wrong color.
 */
#ifndef VIEWER_SYNTAX_H
#define VIEWER_SYNTAX_H

#include <stdint.h>

enum syntax_kind {
    SYNTAX_CODE,
    SYNTAX_COMMENT,
    SYNTAX_STRING,
    SYNTAX_NUMBER,
    SYNTAX_KEYWORD,
    SYNTAX_DIRECTIVE
};

struct syntax;

/* The syntax for the suffix of a path; NULL if unknown. */
const struct syntax *syntax_of(const char *path);

/* Finds the enum syntax_kind of each byte of a line, stored in `kinds` unless that is NULL. `state`
 * is the result for the line before, 0 for the first: the comment or string that is still open. */
uint8_t syntax_line(const struct syntax *syntax, uint8_t state, const char *line, uint8_t *kinds);

#endif
