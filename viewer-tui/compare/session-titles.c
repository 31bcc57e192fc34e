#include "viewer-tui/compare/session-titles.h"

#include "viewer-tui/compare/comparison.h"

#include <stdlib.h>
#include <string.h>

const char *projection_name(enum projection projection)
{
    return projection == PHYSICAL ? "physical" : "logical";
}

bool session_recursion_is_collapsed(const struct session *session)
{
    bool are_collapsed = true;
    for (size_t i = 0; i < session->runs.n && !session->folds.recursion; i++)
        are_collapsed &= strcmp(run_text(session->runs.at[i].run, "recursion"), "collapsed") == 0;
    return are_collapsed;
}

const char *session_folding_words(const struct session *session)
{
    static const char *const words[2][2] = {
        {"", ", recursion collapsed"},
        {", inlined code folded", ", inlined code folded, recursion collapsed"},
    };
    return words[session->folds.inlined][session_recursion_is_collapsed(session)];
}

/* The same of one run. */
static const char *run_title(const struct session_run *run, const struct database *db)
{
    const char *title = run->title ? run->title : run_text(run->run, "title");
    return *title ? title : database_title(db);
}

const char *session_title(const struct session *session, const struct database *db)
{
    return session->title ? session->title : run_title(&session->runs.at[0], db);
}

static void describe_restriction(const struct session *session, const struct session_run *run, const char *before,
                                 bool ascii, struct text *out)
{
    if (session->threads) {
        text_add(out, before);
        thread_set_describe(session->threads, ascii, out);
    }
    if (run->ranges.n)
        text_printf(out, "%stime: %s", before, run->range_name);
}

void session_describe_restriction(const struct session *session, const char *before, bool ascii, struct text *out)
{
    if (!session_is_merged(session))
        describe_restriction(session, &session->runs.at[0], before, ascii, out);
}

void session_name_restriction(const struct session *session, struct session_run *run, const struct database *db)
{
    free(run->title);
    run->title = NULL;
    if (!session->threads && run->ranges.n == 0)
        return;
    struct text title = {0};
    text_add(&title, run_title(run, db));
    describe_restriction(session, run, "  ", false, &title);
    run->title = title.at;
}

char *session_compared_title(const struct session *session, const struct merged_runs *merged)
{
    const char *titles[SIDES];
    struct text title = {0};
    for (int side = 0; side < SIDES; side++) {
        size_t first = merged_group_first(merged, (size_t)side), n = merged_group_size(merged, (size_t)side);
        titles[side] = run_title(&session->runs.at[first], merged->runs.at[first].db);
        if (side == 0 || strcmp(titles[0], titles[1]) != 0)
            text_printf(&title, "%s ", titles[side]);
        text_printf(&title, "[%s", comparison_name(merged, side));
        if (merged_is_of_repeats(merged))
            text_printf(&title, ", %zu run%s", n, n == 1 ? "" : "s");
        text_add(&title, side == 0 ? "] and " : "]");
    }
    return title.at;
}
