/* The clipboard of the terminal that the user sits at, however far away: OSC 52. */
#ifndef VIEWER_CLIPBOARD_H
#define VIEWER_CLIPBOARD_H

#include "viewer-tui/base/text.h"

/* Longer texts are refused by some terminals. */
#define CLIPBOARD_MOST 8192

/* Adds the bytes that make a terminal put `what` into its clipboard. Under tmux and screen (by
 * their variables in the environment) also those that make them pass it on. */
void clipboard_sequence(const char *what, struct text *out);

#endif
