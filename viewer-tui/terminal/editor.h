/* The user's editor. */
#ifndef VIEWER_EDITOR_H
#define VIEWER_EDITOR_H

#include "viewer-tui/base/text.h"

#include <stdint.h>

/* Opens a file at a line (0: none) in $VISUAL, $EDITOR or vi, whichever is set first, and waits for
 * the editor to end. The caller suspends the screen. Adds a failure to `problem`. */
void editor_run(const char *path, uint32_t line, struct text *problem);

#endif
