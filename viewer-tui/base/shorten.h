/* Long names made shorter for narrow places: what tells them apart stays. Where even that does not
 * fit they stay longer than wanted. Columns are those of text_columns. */
#ifndef VIEWER_SHORTEN_H
#define VIEWER_SHORTEN_H

#include "viewer-tui/base/text.h"

/* Adds a path; as many of its first folders as need be give place to dots: ".../lib/libc.so.6". */
void shorten_path(const char *path, size_t columns, bool ascii, struct text *out);

/* Adds a name of C++ or Rust; arguments of templates and functions give place to dots, innermost
 * ones first: "std::map<...>::find(...)". */
void shorten_name(const char *name, size_t columns, bool ascii, struct text *out);

#endif
