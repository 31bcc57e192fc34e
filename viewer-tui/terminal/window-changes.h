/* Changes of the terminal window's size, which come as the signal SIGWINCH.
 *
 * ncurses asks for the size when it gets the signal, and does nothing if it knows that size. But a
 * window that shrank and grew again has lost what stood outside of the smaller one. So the screen is
 * redrawn after every signal. */
#ifndef VIEWER_TUI_TERMINAL_WINDOW_CHANGES_H
#define VIEWER_TUI_TERMINAL_WINDOW_CHANGES_H

#include <stdbool.h>

/* After ncurses has started. */
void window_changes_watch(void);

/* Waits for input, or for a change since the last window_changes_take. */
void window_changes_wait(void);

/* Whether there was a change since the last call. */
bool window_changes_take(void);

#endif
