/* Shortens long names for narrow places and keeps what distinguishes them. A result may still be
 * wider than wanted. Columns are those of text_columns. */
#ifndef VIEWER_SHORTEN_H
#define VIEWER_SHORTEN_H

#include "viewer-tui/base/text.h"

/* Adds a path; replaces as many of its first folders as necessary by dots: ".../lib/libc.so.6". */
void shorten_path(const char *path, size_t columns, bool ascii, struct text *out);

/* Adds a C++ or Rust name; replaces arguments of templates and functions by dots, the innermost
 * first: "std::map<...>::find(...)". */
void shorten_name(const char *name, size_t columns, bool ascii, struct text *out);

/* Cuts a text to `columns`: its middle is left out, since its begin is a name, and its end tells it from others. */
void shorten_middle(struct text *text, size_t columns, bool ascii);

#endif
