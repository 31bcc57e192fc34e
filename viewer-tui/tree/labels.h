/* The text of rows: names and places as they are in the database (label_*), and as they are shown
 * to people, in printed text and on the screen (describe_*):
 *
 *     141 » coder_run  coder.c:120         called from line 141; declared in coder.c
 *     133 » [I] min_size  util.h:40        inlined at line 133
 *     ? » min_size  util.h:40              called from an unknown line
 *     * » min_size  util.h:40              a comparison: calls from several lines, compared as one
 *     loop at coder.c:130
 *     coder.c:131
 *     « main  xz.c:141                     bottom-up: called by main, from there
 *
 * The file of a call site is shown only if it is not the file of the scope around it. */
#ifndef VIEWER_LABELS_H
#define VIEWER_LABELS_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/tree/view.h"

/* ---- as in the database: may contain anything ---- */

/* Appends the name: of a procedure its own; "loop at FILE:LINE"; of a statement "FILE:LINE" (FILE
 * without folders); of a module or file its path. */
void label_name(const struct view *view, uint32_t row, struct text *out);

/* Appends a procedure's name as a sentence has it: a long one without the arguments of templates and
 * functions ("std::map<...>::find(...)"). */
void label_in_sentence(const struct database *db, uint32_t procedure, struct text *out);
void label_name_in_sentence(const char *name, struct text *out);

/* Appends "FILE:LINE" without folders; "FILE" if the line is 0; "MODULE+0xOFFSET" for a point;
 * "<unknown file>" for NOTHING. */
void label_file_line(const struct database *db, uint32_t file, uint32_t line, struct text *out);

/* The name as a text of its own, which the caller frees. */
char *label_copy(const struct view *view, uint32_t row);

/* Index of the row's source file, and its line; for a procedure those of its declaration. NOTHING
 * and 0 if they are unknown or the row has none. */
void label_place(const struct view *view, uint32_t row, uint32_t *file, uint32_t *line);

/* Index of the module with the row's code: its own, or that of the nearest row above of which it is
 * a part; NOTHING if unknown. */
uint32_t label_module(const struct view *view, uint32_t row);

/* The paths of both; NULL if unknown. `line` as in label_place, or NULL. */
const char *label_path(const struct view *view, uint32_t row, uint32_t *line);
const char *label_module_path(const struct view *view, uint32_t row);

/* "root", "procedure", ... */
const char *label_kind(enum scope_kind kind);

/* Order of rows by name, then place, call site and kind: <0, 0, >0. */
int label_compare(const struct view *view, uint32_t a, uint32_t b);

/* ---- for people: safe for terminals (text_add_clean) ---- */

/* Adds label_file_line. */
void describe_file_line(const struct database *db, uint32_t file, uint32_t line, bool ascii, struct text *out);

/* Adds what precedes the name: the call site; often nothing. */
void describe_call(const struct view *view, uint32_t row, bool ascii, struct text *out);

/* Adds "[I] " if the row is inlined code. */
void describe_mark(const struct view *view, uint32_t row, struct text *out);

/* Adds the name alone, shortened if it is wider than `columns` (base/shorten.h). */
void describe_bare_name(const struct view *view, uint32_t row, bool ascii, size_t columns,
                        struct text *out);

/* Adds mark and name; describe_name in full. */
void describe_short_name(const struct view *view, uint32_t row, bool ascii, size_t columns,
                         struct text *out);
void describe_name(const struct view *view, uint32_t row, bool ascii, struct text *out);

/* Adds the place: the declaration, in the bottom-up view the call; the module if no file is known.
 * Nothing if the name says it. */
void describe_location(const struct view *view, uint32_t row, bool ascii, struct text *out);

/* Whether the locale's encoding is not UTF-8. */
bool describe_in_ascii(void);

#endif
