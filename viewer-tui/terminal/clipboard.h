/* The clipboard of the user's terminal, also over ssh: escape sequence OSC 52. */
#ifndef VIEWER_CLIPBOARD_H
#define VIEWER_CLIPBOARD_H

#include "viewer-tui/base/text.h"

/* Most bytes of a text; some terminals refuse longer ones. */
#define CLIPBOARD_MOST 8192

/* Adds the bytes that copy `what` to the terminal's clipboard. Under tmux and screen, recognized by
 * their environment variables, also the bytes that make them pass the sequence on. */
void clipboard_sequence(const char *what, struct text *out);

#endif
