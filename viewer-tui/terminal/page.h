/* A page of text that covers the screen and can be scrolled and searched. */
#ifndef VIEWER_PAGE_H
#define VIEWER_PAGE_H

#include "viewer-tui/terminal/keys.h"
#include "viewer-tui/terminal/screen.h"

struct page {
    const char *title;
    /* Long lines are broken; a line at the margin above indented ones is a head. */
    const char *text;
    enum command opener;
    long first; /* index of the first line on the screen; kept from call to call */
};

/* Shows the page until the user closes it: with Esc, q, Enter or the opener's key (COMMAND_NONE),
 * or with the key of a view or another page, whose command is returned. */
enum command page_show(struct page *page);

/* Draws the first line of the screen, with the title, and the last one, with the keys. */
void page_draw_frame(const char *title, const char *help);

/* Draws text broken into lines, as much as fits. */
void page_draw_paragraph(struct area area, const char *text);

#endif
