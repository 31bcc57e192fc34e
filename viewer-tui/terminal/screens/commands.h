/* Commands of the terminal viewer by family, and steps that several families share. */
#ifndef VIEWER_COMMANDS_H
#define VIEWER_COMMANDS_H

#include "viewer-tui/terminal/screens/tui.h"

/* Each carries out a command if it belongs to its family, and returns whether it does. Messages for
 * the user go to tui->message. */
bool tui_obey_moves(struct tui *tui, enum command command);
bool tui_obey_views(struct tui *tui, enum command command);
bool tui_obey_metrics(struct tui *tui, enum command command);
bool tui_obey_finding(struct tui *tui, enum command command);
bool tui_obey_filters(struct tui *tui, enum command command);
bool tui_obey_places(struct tui *tui, enum command command);
bool tui_obey_source(struct tui *tui, enum command command);
bool tui_obey_output(struct tui *tui, enum command command);
bool tui_obey_threads(struct tui *tui, enum command command);
bool tui_obey_mouse(struct tui *tui, enum command command);

/* Opens the hot path below the selected row to where it branches, and selects the last row on it that
 * has a line of the program's own source, if any. Returns the last row on it. */
uint32_t tui_follow_hot_path(struct tui *tui);

/* If the user has chosen threads or a program in the viewer: shows all of them again, and the page on
 * which the user chose; else false. */
bool tui_leave_restriction(struct tui *tui);

/* Shows a view, making it if needed. Nothing changes if that fails. */
void tui_show_view(struct tui *tui, enum projection projection, enum view_id id);

/* Whether one database is open. If two are compared, says that `what` needs one. */
bool tui_is_of_one_run(struct tui *tui, const char *what);

/* Makes the current view again with this sorting; the top-down view if the user stops that. */
void tui_reopen(struct tui *tui, struct sorting sorting);

/* Sorts by a column or by name; in reverse if rows are sorted by it already. */
void tui_sort_by_column(struct tui *tui, struct sorting sorting);

/* Calls `obey`; if it leads to another row or view, the user can go back from there. */
void tui_obey_and_remember(struct tui *tui, enum command command,
                           void (*obey)(struct tui *tui, enum command command));

/* Asks for a view, and goes to the selected row's scope there. */
void tui_same_scope(struct tui *tui);

/* Lets the user choose columns; scrolls the chosen columns to the one that rows are sorted by. */
void tui_choose_columns(struct tui *tui);
void tui_scroll_to_sorted(struct tui *tui);

/* Chooses the saved columns once the metrics of a projection are known. */
void tui_take_kept_columns(struct tui *tui, enum projection projection);

/* Applies the filters in force to the pane. */
void tui_apply_filters(struct tui *tui);

/* Asks for a line of text in the status line, initially `initial`. `changed` (may be NULL) is called
 * after each change. NULL if the user pressed Escape; the answer is valid until the next question. */
const char *tui_ask(struct tui *tui, const char *prompt, const char *initial,
                    void (*changed)(struct tui *tui, const char *text));

/* Asks for one key. */
int tui_ask_key(struct tui *tui, const char *prompt);

#endif
