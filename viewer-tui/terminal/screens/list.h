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
    size_t n_heads;    /* lines above the list that do not scroll */
    enum style head_style;
    void (*head)(const void *context, size_t index, struct text *out); /* adds the text of a head */
    void (*line)(const void *context, size_t index, struct text *out); /* adds the text of a line */
    const void *context;
    struct scroller scroller; /* n: number of lines; the rest is kept from call to call */
};

/* Lets the user move in the list; returns the first key that is no move. */
int list_run(struct list *list);

/* Draws heads and lines in a part of the screen, scrolled to the selected line. */
void list_draw(struct list *list, struct area area);

/* Draws the first line of the screen, with the title, and the last one, with the keys. */
void frame_draw(const char *title, const char *help);

/* A page of text that can be scrolled and searched. */
struct page {
    const char *title;
    const char *text; /* long lines are broken; a line at the margin above indented ones is a head */
    const struct command *opener; /* its key closes the page; NULL: none */
    long first;                   /* index of the first line on the screen; kept from call to call */
};

/* Shows the page until the user closes it: with Esc, q, Enter or the opener's key, or with the key of a view or
 * another page, whose command is returned; else NULL. */
const struct command *page_show(struct page *page);

#endif
