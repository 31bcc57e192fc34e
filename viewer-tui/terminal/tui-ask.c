/* Asking the user for a line of text or a key, in place of the status line. */
#include "viewer-tui/terminal/tui.h"

#include "viewer-tui/terminal/line-edit.h"
#include "viewer-tui/terminal/screen.h"

const char *tui_ask(struct tui *tui, const char *prompt, const char *initial,
                    void (*changed)(struct tui *tui, const char *text))
{
    enum edit edit = EDIT_GOES_ON;
    text_clear(&tui->asked);
    text_add(&tui->asked, initial);
    tui->prompt = prompt;
    while (edit == EDIT_GOES_ON) {
        tui_draw(tui);
        edit = edit_line(&tui->asked, screen_key());
        if (changed && edit == EDIT_GOES_ON)
            changed(tui, text_string(&tui->asked));
    }
    tui->prompt = NULL;
    return edit == EDIT_DONE ? text_string(&tui->asked) : NULL;
}

int tui_ask_key(struct tui *tui, const char *prompt)
{
    int key;
    text_clear(&tui->asked);
    tui->prompt = prompt;
    do {
        tui_draw(tui);
        key = screen_key();
    } while (key == KEY_NOTHING || screen_key_is_resize(key));
    tui->prompt = NULL;
    return key;
}
