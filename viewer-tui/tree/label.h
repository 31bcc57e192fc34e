/* What rows are called and where they are. */
#ifndef VIEWER_LABEL_H
#define VIEWER_LABEL_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/tree/view.h"

/* Appends the row's name: of a procedure its own, of a loop "loop at FILE:LINE", of a statement
 * "FILE:LINE" (FILE without folders), of a module or file its path. As it stands in the database:
 * it may contain anything. */
void label_name(const struct view *view, uint32_t row, struct text *out);

/* "FILE:LINE" without folders, "FILE" when the line is 0, "MODULE+0xOFFSET" for a point,
 * "<unknown file>" for NOTHING. */
void label_file_line(const struct database *db, uint32_t file, uint32_t line, struct text *out);

/* Index of the row's source file and its line: of a procedure where it is declared. NOTHING and 0
 * where they are unknown or make no sense. */
void label_place(const struct view *view, uint32_t row, uint32_t *file, uint32_t *line);

/* Index of the module with the row's code: its own, or for what is a part of the row above that of
 * the nearest one that has one; NOTHING when it is unknown. */
uint32_t label_module(const struct view *view, uint32_t row);

/* "root", "procedure", ... */
const char *label_kind(enum scope_kind kind);

/* Order of rows by name, then place, call site and kind: <0, 0, >0. */
int label_compare(const struct view *view, uint32_t a, uint32_t b);

#endif
