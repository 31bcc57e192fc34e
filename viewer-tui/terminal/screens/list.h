/* Lists and pages of text that cover the screen. */
#ifndef VIEWER_LIST_H
#define VIEWER_LIST_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/terminal/screen.h"
#include "viewer-tui/terminal/screens/commands.h"
#include "viewer-tui/terminal/scroller.h"

/* A list with one line selected. */
struct list {
    const char *title;
    const char *help;  /* keys, for the last line of the screen */
    const char *empty; /* shown if the list is empty; NULL */
    const char *own_keys;        /* characters that mean something else than elsewhere; NULL */
    const struct family *family; /* of commands, likewise; NULL */
    size_t n_heads;    /* lines above the list that do not scroll */
    void (*line)(const void *context, size_t index, struct text *out); /* adds a line; heads are the first ones */
    const void *context;
    struct scroller scroller; /* n: number of lines; the rest is kept from call to call */
};

/* Lets the user move in the list until a key has to do with its lines, which is returned: one of its own, one whose
 * command of its family has been carried out, or '\r' for Enter; KEY_GONE: the list is closed (tui_closes). */
int list_run(struct tui *tui, struct list *list);

/* Draws heads and lines in a part of the screen, scrolled to the selected line. */
void list_draw(struct list *list, struct area area);

/* Draws the first line of the screen, with the title, and the last one, with the keys. */
void frame_draw(const char *title, const char *help);

/* Screen columns for the title. */
size_t frame_title_room(void);

/* A page of text that can be scrolled and searched. */
struct page {
    const char *title;
    const char *text; /* long lines are broken; a line at the margin above indented ones is a head */
    const struct command *opener; /* its key closes the page; NULL: none */
    long first;                   /* index of the first line on the screen; kept from call to call */
};

/* Shows the page until the user closes it: with Enter, or as tui_closes says. */
void page_show(struct tui *tui, struct page *page);

#endif
