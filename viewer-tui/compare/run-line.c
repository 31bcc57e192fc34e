#include "viewer-tui/compare/run-line.h"

#include <string.h>

/* "1.58 s": three digits. */
static void add_seconds(double seconds, struct text *out)
{
    bool is_short = seconds < 1;
    double number = is_short ? 1000 * seconds : seconds;
    int decimals = number < 10 ? 2 : number < 100 ? 1 : 0;
    text_printf(out, "%.*f %s", decimals, number, is_short ? "ms" : "s");
}

/* The runs of a line; each number of a run has an arrow to that of the next one: "1.58 s -> 1.21 s". */
struct compared_times {
    const struct run_times *of[SIDES];
    size_t n;
};

static void add_wall(const struct compared_times *times, struct text *out)
{
    for (size_t i = 0; i < times->n; i++) {
        text_add(out, i ? " -> " : "   ");
        add_seconds(times->of[i]->wall, out);
        text_add(out, i ? "" : " wall");
    }
}

static void add_cpu(const struct compared_times *times, struct text *out)
{
    for (size_t i = 0; i < times->n; i++) {
        text_add(out, i ? " -> " : ", ");
        add_seconds(times->of[i]->cpu, out);
        text_add(out, i ? "" : " CPU");
    }
    if (times->n == 1 && times->of[0]->processes > 1)
        text_printf(out, " in %zu processes", times->of[0]->processes);
}

static void add_used(const struct compared_times *times, struct text *out)
{
    double cpus = times->of[times->n - 1]->cpus;
    for (size_t i = 0; i < times->n; i++) {
        double used = run_cpus_used(times->of[i]);
        text_printf(out, "%s%.*f", i ? " -> " : ", ", used < 0.1 ? 2 : 1, used);
    }
    if (cpus > 0)
        text_printf(out, " of %.0f", cpus);
    text_printf(out, " CPU%s used", cpus == 1 ? "" : "s");
}

/* Least columns of the beginning of the line. */
static size_t least_room(const struct compared_times *times, const char *command)
{
    size_t columns = text_columns(command), least = times->n > 1 ? RUN_LINE_NAMES : RUN_LINE_COMMAND;
    return columns < least ? columns : least;
}

/* Adds as many numbers as fit into `width` columns. */
static void add_times(const struct compared_times *times, size_t width, struct text *out)
{
    static void (*const parts[])(const struct compared_times *, struct text *) = {
        add_wall, add_cpu, add_used};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t before = out->n;
        parts[i](times, out);
        if (i > 0 && text_columns(out->at) > width) {
            text_cut(out, before);
            return;
        }
    }
}

/* The command without the folders of its program: "xz -9" of "/usr/bin/xz -9". */
static const char *without_folders(const char *command)
{
    const char *begin = command;
    for (const char *at = command; *at && *at != ' '; at++)
        if (*at == '/' && at[1] && at[1] != ' ')
            begin = at + 1;
    return begin;
}

/* Adds the command, cut to the columns that `rest` leaves, and the rest. */
static void add_line(const char *command, const char *rest, size_t width, size_t least, bool ascii,
                     struct text *out)
{
    static const char cut[] = "...";
    struct text clean = {0};
    size_t needed = text_columns(rest);
    size_t room = width > needed + least ? width - needed : least;
    text_add_clean(&clean, command, ascii);
    if (text_columns(text_string(&clean)) > room) {
        text_clear(&clean);
        text_add_clean(&clean, without_folders(command), ascii);
    }
    if (text_columns(text_string(&clean)) > room) {
        text_cut(&clean, room - strlen(cut));
        text_add(&clean, cut);
    }
    text_printf(out, "%s%s", text_string(&clean), rest);
    vec_free(&clean);
}

static struct compared_times times_of(const struct session *session)
{
    if (!session_is_comparison(session))
        return (struct compared_times){{&session->times, NULL}, 1};
    return (struct compared_times){{&session->sides[0]->times, &session->sides[1]->times}, SIDES};
}

void run_line_add(const struct session *session, const struct database *db, size_t width,
                  bool ascii, struct text *out)
{
    struct compared_times times = times_of(session);
    bool are_known = times.of[0]->wall > 0 && times.of[times.n - 1]->wall > 0;
    const char *command =
        are_known && times.n == 1 ? times.of[0]->command : session_title(session, db);
    size_t least = least_room(&times, command);
    struct text rest = {0};
    if (are_known)
        add_times(&times, width > least ? width - least : 0, &rest);
    if (are_known && session->threads) {
        text_add(&rest, "   ");
        thread_set_describe(session->threads, ascii, &rest);
    }
    add_line(command, text_string(&rest), width, least, ascii, out);
    vec_free(&rest);
}
