/* Commands that find rows. */
#include "viewer-tui/terminal/screens/main-screen.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/tree/search.h"

/* Goes to the next match, and says what came of it. */
static void search_from_here(struct tui *tui, struct search *search)
{
    struct pane *pane = tui_pane(tui);
    search->filtered = pane->filtered;
    search->root = pane->root;
    search->pattern = tui->wanted;
    tui->shows_matches = true;
    pane->filtered->shows_passed_over = true;
    uint32_t row = search_next(search, pane_row(pane));
    pane->filtered->shows_passed_over = false;
    text_clear(&tui->message);
    if (row != NOTHING) {
        pane_select(pane, row);
        if (search->has_wrapped)
            tui_say(tui, "search wrapped around");
    } else {
        tui_say(tui, "%s%s", search->outcome == STOPPED ? "not found yet: " : "not found: ", search->pattern->text);
    }
    if (search->pattern->is_broken)
        tui_say(tui, "%sinvalid regular expression; searching for it literally", tui->message.n ? "; " : "");
}

static void find_again(struct tui *tui)
{
    struct search search = {.backwards = tui->command->argument};
    if (tui->wanted)
        search_from_here(tui, &search);
    else
        tui_say(tui, "no search yet: press /");
}

/* Whether a key stops the search. Announces the search if it takes a while. */
static bool must_stop(void *context)
{
    struct tui *tui = context;
    if (tui->message.n == 0) {
        tui_say(tui, "searching ...");
        prompt_draw(&tui->prompt);
    }
    return screen_key_pressed();
}

/* Restores row and search from before. */
static void go_back(struct tui *tui)
{
    if (tui->wanted != tui->finding.before)
        pattern_free(tui->wanted);
    tui->wanted = tui->finding.before;
    pane_restore(tui_pane(tui), &tui->finding.from);
    text_clear(&tui->message);
}

/* Goes to the first match after the row where the search began, unless a key stops that. */
static void find_while_typing(void *context, const char *text)
{
    struct tui *tui = context;
    struct search search = {.is_cancelled = must_stop, .context = tui};
    go_back(tui);
    tui->finding.outcome = STOPPED;
    if (!*text)
        return;
    tui->wanted = pattern_new(text);
    progress_listen(NULL, PROGRESS_PERIOD); /* which would read keys, and draw over the question */
    search_from_here(tui, &search);
    progress_listen(tui_tell_progress, PROGRESS_PERIOD);
    tui->finding.outcome = search.outcome;
}

/* Asks what to find, and searches while the user types. An empty answer repeats the last search. */
static void find(struct tui *tui)
{
    tui->finding =
        (struct typed_search){.before = tui->wanted, .showed_matches = tui->shows_matches, .outcome = STOPPED};
    pane_save(tui_pane(tui), &tui->finding.from);
    const char *answer = tui_ask(tui, "/", "", find_while_typing);
    if (!answer) {
        go_back(tui);
        tui->shows_matches = tui->finding.showed_matches;
    } else if (tui->wanted == tui->finding.before || tui->finding.outcome == STOPPED) {
        find_again(tui);
    }
    if (tui->wanted != tui->finding.before)
        pattern_free(tui->finding.before);
    pane_state_free(&tui->finding.from);
}

static void end_finding(struct tui *tui)
{
    tui->shows_matches = false;
}

const struct family finding_family = {
    "Finding", COMMANDS({"/, F3", "find a name or a place, also in closed rows", find, 0, JUMP},
                        {"n", "find the next match", find_again, false, JUMP},
                        {"N", "find the previous match", find_again, true, JUMP},
                        {"Esc", "stop highlighting matches", end_finding, 0, 0})};
