/* A question in a line of the screen, with the text that the user is typing and the earlier answers that Up brings
 * back. */
#ifndef VIEWER_PROMPT_H
#define VIEWER_PROMPT_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/terminal/screen.h"

/* An answer to a question. */
struct answer {
    const void *asker; /* identifies the command whose question it answers */
    char *text;
};

/* The answers, oldest first. Empty if zeroed. */
struct history {
    VEC(struct answer) list;
};

void history_free(struct history *history);

/* What is on the screen. */
struct prompt_screen {
    int (*draw)(void *context); /* returns the line for the question */
    void *context;
};

struct prompt {
    const char *question;
    struct prompt_screen screen;
    void (*changed)(void *context, const char *text); /* called after each change of the text; NULL */
    const struct text *message; /* what stands after the text; NULL */
    struct history *history;    /* NULL: no earlier answers */
    const void *asker;          /* only these come back */
    struct text text;           /* what was typed */
    size_t cursor;              /* index of the byte under it */
};

/* Asks for a line of text, initially `initial`. Keys are those of shells and editors:
 *
 *     Left, Right, Home, End, ^A ^E ^B ^F    move
 *     Backspace, Delete, ^D                  delete a character
 *     ^W, ^U, ^K                             delete a word, to the start, to the end
 *     Up, Down, ^P, ^N                       an earlier answer, a later one, what was typed before
 *     Enter                                  ends
 *     Escape, ^C, Backspace if empty         give up: NULL
 *
 * The answer is valid until the next question; the owner frees prompt->text. */
const char *prompt_ask(struct prompt *prompt, const char *initial);

/* Asks for one key. */
int prompt_key(struct prompt *prompt);

/* Draws the screen with the question. */
void prompt_draw(struct prompt *prompt);

#endif
