/* How a row reads on a line for people, in the printed text and on the screen alike:
 *
 *     141 » coder_run  coder.c:120         called from line 141; declared in coder.c
 *     133 » [I] min_size  util.h:40        inlined at line 133
 *     ? » min_size  util.h:40              called from a line that is not known
 *     * » min_size  util.h:40              a comparison: calls from several lines, compared as one
 *     loop at coder.c:130
 *     coder.c:131
 *     « main  xz.c:141                     bottom-up: called by main, from there
 *
 * The file of a call site is shown where it is not the file of the scope around it. Names are
 * made safe for terminals (text_add_clean). */
#ifndef VIEWER_DESCRIBE_H
#define VIEWER_DESCRIBE_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/tree/view.h"

/* What comes before the name: the call site; often nothing. */
void describe_call(const struct view *view, uint32_t row, bool ascii, struct text *out);

/* "[I] " before the name of what was inlined. */
void describe_mark(const struct view *view, uint32_t row, struct text *out);

/* The name alone, made shorter where it takes more columns (base/shorten.h). */
void describe_bare_name(const struct view *view, uint32_t row, bool ascii, size_t columns,
                        struct text *out);

/* Both; describe_name in full. */
void describe_short_name(const struct view *view, uint32_t row, bool ascii, size_t columns,
                         struct text *out);
void describe_name(const struct view *view, uint32_t row, bool ascii, struct text *out);

/* Where it is: declaration or, in the bottom-up view, the call; the module where no file is
 * known. Empty where the name says it all. */
void describe_location(const struct view *view, uint32_t row, bool ascii, struct text *out);

/* Whether the locale's encoding is not UTF-8. */
bool describe_in_ascii(void);

#endif
