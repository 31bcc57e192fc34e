/* Pages and lists that cover the screen until the user closes them.
 *
 * A page closes with Esc, q or the key that opened it. Keys of views and of other pages work on
 * every page: it closes, and the command is carried out (tui->next). ? opens the help on top. */
#ifndef VIEWER_TEXT_PAGES_H
#define VIEWER_TEXT_PAGES_H

#include "viewer-tui/output/print.h"
#include "viewer-tui/terminal/list.h"
#include "viewer-tui/terminal/page.h"
#include "viewer-tui/terminal/screens/tui.h"

/* Shows a page of text that the command `opener` opened. */
void tui_show_text(struct tui *tui, const char *title, const char *text, enum command opener);

/* Whether a key that is no move closes the list that `opener` opened. */
bool tui_closes(struct tui *tui, int key, enum command opener);

void tui_help(struct tui *tui);
void tui_inspect(struct tui *tui);     /* all values of the selected row */
void tui_disassemble(struct tui *tui); /* the instructions around the selected row */
void tui_advice(struct tui *tui);      /* on the selected row; of two databases what changed */

/* Finds the first line of the advice on the whole program, for the main screen. False if the user
 * pressed a key meanwhile. */
bool tui_find_headline(struct tui *tui);

/* Shows a printer's output. */
void tui_report(struct tui *tui, const char *title, enum command opener,
                int (*print)(struct session *session, const struct print_options *options,
                             FILE *out));

/* Costs of the selected row in each thread; of a comparison, in those of one run. Returns the threads that the
 * user chose to restrict the views to, owned by the caller; NULL: none. */
struct thread_set *tui_threads(struct tui *tui);

#endif
