/* The user's editor. */
#ifndef VIEWER_EDITOR_H
#define VIEWER_EDITOR_H

#include "viewer-tui/base/text.h"

#include <stdint.h>

/* Runs $VISUAL, $EDITOR or vi, whichever is set first, on a line (0: none) of a file, and waits for
 * its end. The screen is to be suspended meanwhile. What went wrong is appended to `problem`. */
void editor_run(const char *path, uint32_t line, struct text *problem);

#endif
