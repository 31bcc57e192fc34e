#include "viewer-tui/compare/session-titles.h"

#include "viewer-tui/base/shorten.h"
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

/* The runs of a line; each number of a run has an arrow to that of the next one: "1.58 s -> 1.21 s". */
struct compared_times {
    struct run_times of[SIDES];
    size_t n;
};

/* Adds as many numbers as fit into `width` columns, the wall time at least. */
static void add_times(const struct compared_times *times, size_t width, struct text *out)
{
    enum { WALL, CPU, USED, NUMBERS };
    double cpus = times->of[times->n - 1].cpus;
    for (int number = WALL; number < NUMBERS; number++) {
        size_t before = out->n;
        for (size_t i = 0; i < times->n; i++) {
            const struct run_times *of = &times->of[i];
            double used = run_cpus_used(of), seconds = number == WALL ? of->wall : of->cpu;
            bool is_short = seconds < 1;
            double shown = is_short ? 1000 * seconds : seconds; /* with three digits */
            text_add(out, i ? " -> " : number == WALL ? "   " : ", ");
            if (number == USED)
                text_printf(out, "%.*f", used < 0.1 ? 2 : 1, used);
            else
                text_printf(out, "%.*f %s", shown < 10 ? 2 : shown < 100 ? 1 : 0, shown, is_short ? "ms" : "s");
            if (i == 0 && number != USED)
                text_add(out, number == WALL ? " wall" : " CPU");
        }
        if (number == CPU && times->n == 1 && times->of[0].processes > 1)
            text_printf(out, " in %zu processes", times->of[0].processes);
        if (number == USED && cpus > 0)
            text_printf(out, " of %.0f", cpus);
        if (number == USED)
            text_printf(out, " CPU%s used", cpus == 1 ? "" : "s");
        if (number != WALL && text_columns(out->at) > width) {
            text_cut(out, before);
            return;
        }
    }
}

/* Where the names of the runs begin in the title of a comparison, at " [before] and [after]"; else its end. */
static const char *names_in(const struct session *session, const char *title)
{
    autofree char *first = session->comparing ? mem_printf(" [%s", session->comparing->names[0]) : NULL;
    const char *names = first ? strstr(title, first) : NULL;
    return names ? names : title + strlen(title);
}

/* Adds the command, cut to the columns that `rest` leaves, and the rest. */
static void add_line(const char *command, const char *rest, size_t width, size_t least, bool ascii,
                     struct text *out)
{
    static const char cut[] = "...";
    autofree struct text clean = {0};
    size_t needed = text_columns(rest);
    size_t room = width > needed + least ? width - needed : least;
    text_add_clean(&clean, command, ascii);
    if (text_columns(text_string(&clean)) > room) {
        const char *name = command; /* without the folders of the program: "xz -9" of "/usr/bin/xz -9" */
        for (const char *at = command; *at && *at != ' '; at++)
            if (*at == '/' && at[1] && at[1] != ' ')
                name = at + 1;
        text_clear(&clean);
        text_add_clean(&clean, name, ascii);
    }
    if (text_columns(text_string(&clean)) > room) {
        text_cut(&clean, room - strlen(cut));
        text_add(&clean, cut);
    }
    text_printf(out, "%s%s", text_string(&clean), rest);
}

/* The mean times of the runs of a group; wall is 0 if that of one of them is unknown. */
static struct run_times mean_times(const struct session *session, size_t group)
{
    struct run_times mean = {.cpus = session->runs.at[0].times.cpus};
    bool are_known = true;
    size_t n = 0;
    for (size_t i = 0; i < session->runs.n; i++)
        if (session->runs.at[i].group == group) {
            const struct run_times *times = &session->runs.at[i].times;
            mean = n ? mean : *times;
            mean.wall += n ? times->wall : 0;
            mean.cpu += n ? times->cpu : 0;
            are_known &= times->wall > 0;
            n++;
        }
    mean.wall = are_known ? mean.wall / (double)n : 0;
    mean.cpu /= (double)n;
    return mean;
}

/* The times of the only run, or of the runs that the session compares; of a set of runs with several numbers of workers
 * those of the fewest and of the most. Sets `names` to what follows the command. */
static struct compared_times times_of(const struct session *session, struct text *names)
{
    const struct session_run *first = &session->runs.at[0], *last = &session->runs.at[session->runs.n - 1];
    struct run_times of_first = mean_times(session, first->group), of_last = mean_times(session, last->group);
    if (!last->workers)
        return (struct compared_times){{of_first, of_last}, first->group == last->group ? 1 : SIDES};
    text_printf(names, " [%u worker%s] and [%u]", last->workers, last->workers == 1 ? "" : "s", first->workers);
    return (struct compared_times){{of_last, of_first}, SIDES};
}

void run_line_add(const struct session *session, const struct database *db, size_t width,
                  bool ascii, struct text *out)
{
    autofree struct text command = {0}, workers = {0}, rest = {0}, numbers = {0};
    struct compared_times times = times_of(session, &workers);
    bool are_known = times.of[0].wall > 0 && times.of[times.n - 1].wall > 0;
    const char *title = session_title(session, db), *names = names_in(session, title);
    if (are_known && times.n == 1)
        text_add(&command, times.of[0].command);
    else
        text_add_bytes(&command, title, (size_t)(names - title));
    text_add_clean(&rest, *names ? names : are_known ? text_string(&workers) : "", ascii);
    size_t half = width / 2 > RUN_LINE_NAMES ? width / 2 : RUN_LINE_NAMES;
    size_t columns = text_columns(text_string(&command)), room = width > columns ? width - columns : 0;
    shorten_middle(&rest, half > room ? half : room, ascii); /* if it has another command */
    size_t least = columns < RUN_LINE_COMMAND ? columns : RUN_LINE_COMMAND;
    size_t kept = least + text_columns(text_string(&rest));
    if (are_known) {
        add_times(&times, width > kept ? width - kept : 0, &numbers);
        session_describe_restriction(session, "   ", ascii, &numbers);
    }
    text_add(&rest, text_string(&numbers));
    add_line(text_string(&command), text_string(&rest), width, least, ascii, out);
}
