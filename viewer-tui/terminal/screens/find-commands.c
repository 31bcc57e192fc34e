/* Commands that find rows. */
#include "viewer-tui/terminal/screens/commands.h"
#include "viewer-tui/terminal/screens/main-screen.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/terminal/screen.h"
#include "viewer-tui/tree/search.h"

#include <stdlib.h>

/* A search while the user types, and the state before it. */
struct finding {
    struct pane_state from;
    struct pattern *before; /* the search before; NULL: none */
    bool showed_matches;
    enum outcome outcome; /* of the search for what has been typed so far */
};

static void want(struct tui *tui, const char *text)
{
    tui->wanted = pattern_new(text);
    tui->shows_matches = true;
}

static void say_result(struct tui *tui, const struct search *search, uint32_t found)
{
    text_clear(&tui->message);
    if (found != NOTHING && search->has_wrapped)
        text_add(&tui->message, "search wrapped around");
    if (found == NOTHING) {
        text_add(&tui->message, search->outcome == STOPPED ? "not found yet: " : "not found: ");
        text_add_clean(&tui->message, search->pattern->text, tui->ascii);
    }
    if (search->pattern->is_broken)
        text_printf(&tui->message, "%sinvalid regular expression; searching for it literally",
                    tui->message.n ? "; " : "");
}

static uint32_t search_from_here(struct tui *tui, struct search *search)
{
    struct pane *pane = tui_pane(tui);
    search->filtered = pane->filtered;
    search->root = pane->root;
    search->pattern = tui->wanted;
    pane->filtered->shows_passed_over = true;
    uint32_t row = search_next(search, pane_row(pane));
    pane->filtered->shows_passed_over = false;
    if (row != NOTHING)
        pane_select(pane, row);
    say_result(tui, search, row);
    return row;
}

static void find_again(struct tui *tui, bool backwards)
{
    if (!tui->wanted) {
        text_add(&tui->message, "no search yet: press /");
        return;
    }
    struct search search = {.backwards = backwards};
    tui->shows_matches = true;
    search_from_here(tui, &search);
}

/* Whether a key stops the search. Announces the search if it takes a while. */
static bool must_stop(void *context)
{
    struct tui *tui = context;
    if (tui->message.n == 0) {
        text_add(&tui->message, "searching ...");
        tui_show(tui);
    }
    return screen_key_pressed();
}

/* Goes to the first match after the row where the search began, unless a key stops that. */
static void find_while_typing(struct tui *tui, const char *text)
{
    struct finding *finding = tui->finding;
    if (tui->wanted != finding->before)
        pattern_free(tui->wanted);
    tui->wanted = finding->before;
    pane_restore(tui_pane(tui), &finding->from);
    text_clear(&tui->message);
    finding->outcome = STOPPED;
    if (!*text)
        return;
    struct search search = {.is_cancelled = must_stop, .context = tui};
    want(tui, text);
    progress_listen(NULL); /* which would read keys, and draw over the question */
    search_from_here(tui, &search);
    progress_listen(tui_tell_progress);
    finding->outcome = search.outcome;
}

/* Restores the state before the search. */
static void give_up(struct tui *tui, struct finding *finding)
{
    if (tui->wanted != finding->before)
        pattern_free(tui->wanted);
    tui->wanted = finding->before;
    tui->shows_matches = finding->showed_matches;
    pane_restore(tui_pane(tui), &finding->from);
    text_clear(&tui->message);
}

/* Asks what to find, and searches while the user types. An empty answer repeats the last search. */
static void find(struct tui *tui)
{
    struct finding finding = {
        .outcome = STOPPED, .before = tui->wanted, .showed_matches = tui->shows_matches};
    pane_save(tui_pane(tui), &finding.from);
    tui->finding = &finding;
    const char *answer = tui_ask(tui, "/", "", find_while_typing);
    tui->finding = NULL;
    if (!answer)
        give_up(tui, &finding);
    else if (tui->wanted == finding.before || finding.outcome == STOPPED)
        find_again(tui, false);
    if (answer && tui->wanted != finding.before)
        pattern_free(finding.before);
    pane_state_free(&finding.from);
}

bool tui_obey_finding(struct tui *tui, enum command command)
{
    switch (command) {
    case COMMAND_FIND: find(tui); break;
    case COMMAND_FIND_NEXT: find_again(tui, false); break;
    case COMMAND_FIND_PREVIOUS: find_again(tui, true); break;
    case COMMAND_END_FINDING: tui->shows_matches = false; break;
    default: return false;
    }
    return true;
}

void tui_draw_match(const struct tui *tui, struct area area, const char *text, size_t from)
{
    size_t start, end;
    bool is_about_text = tui->wanted && tui->wanted->field <= PATTERN_NAME;
    if (!tui->shows_matches || !is_about_text ||
        !pattern_find(tui->wanted, text + from, &start, &end))
        return;
    struct text piece = {0};
    text_add_bytes(&piece, text, from + start);
    int at = (int)text_columns(text_string(&piece));
    text_clear(&piece);
    text_add_bytes(&piece, text + from + start, end - start);
    screen_put(area.line, area.column + at, area.width - at, STYLE_MATCH, text_string(&piece));
    vec_free(&piece);
}
