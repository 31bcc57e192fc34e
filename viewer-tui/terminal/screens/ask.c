/* Questions in the status line. */
#include "viewer-tui/terminal/screens/commands.h"
#include "viewer-tui/terminal/screens/main-screen.h"

#include "viewer-tui/terminal/keys.h"
#include "viewer-tui/terminal/screen.h"

#include <stdlib.h>

/* Position in the earlier answers. */
struct recall {
    size_t at;
    struct text typed; /* text typed before the user went back */
};

/* Up, Down, ^P and ^N replace the text by an earlier answer, or by the text typed before; false for
 * other keys. */
static bool recall(struct tui *tui, struct recall *recall, int key)
{
    enum command direction = key < ' ' || key >= KEY_OFFSET ? keys_command(key) : COMMAND_NONE;
    if (direction != COMMAND_UP && direction != COMMAND_DOWN)
        return false;
    bool is_back = direction == COMMAND_UP, was_typed = recall->at == tui->answers.list.n;
    const char *answer = history_step(&tui->answers, tui->command, &recall->at, is_back ? -1 : 1);
    if (answer && was_typed) {
        text_clear(&recall->typed);
        text_add(&recall->typed, text_string(&tui->asked.text));
    }
    if (!answer && !is_back && !was_typed) {
        recall->at = tui->answers.list.n;
        answer = text_string(&recall->typed);
    }
    if (answer)
        line_edit_set(&tui->asked, answer);
    return true;
}

const char *tui_ask(struct tui *tui, const char *prompt, const char *initial,
                    void (*changed)(struct tui *tui, const char *text))
{
    enum line_state edit = EDIT_GOES_ON;
    struct recall way = {.at = tui->answers.list.n};
    line_edit_set(&tui->asked, initial);
    tui->prompt = prompt;
    while (edit == EDIT_GOES_ON) {
        tui_show(tui);
        int key = screen_key();
        if (!recall(tui, &way, key))
            edit = edit_line(&tui->asked, key);
        if (changed && edit == EDIT_GOES_ON)
            changed(tui, text_string(&tui->asked.text));
    }
    vec_free(&way.typed);
    tui->prompt = NULL;
    if (edit != EDIT_DONE)
        return NULL;
    history_add(&tui->answers, tui->command, text_string(&tui->asked.text));
    return text_string(&tui->asked.text);
}

int tui_ask_key(struct tui *tui, const char *prompt)
{
    int key;
    line_edit_set(&tui->asked, "");
    tui->prompt = prompt;
    do {
        tui_show(tui);
        key = screen_key();
    } while (key == KEY_NOTHING || screen_key_is_resize(key));
    tui->prompt = NULL;
    return key;
}
