/* The syntax of source code, as far as colours need it: comments, strings, numbers, keywords and
 * the preprocessor's lines of C, C++, CUDA, Fortran, Go, Python and Rust. What it gets wrong costs
 * a wrong colour. */
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

/* That of files with the path's suffix; NULL for others. */
const struct syntax *syntax_of(const char *path);

/* Looks at a line: tells for each byte of it what it belongs to, if `kinds` is not NULL. `state`
 * is what the line before returned, at first 0; it says what is still open at its end. */
uint8_t syntax_line(const struct syntax *syntax, uint8_t state, const char *line, uint8_t *kinds);

#endif
