/* The critical path (longest-chain.h): how long it is in which procedures of the user's own code. */
#include "viewer-tui/output/print.h"

#include "lib/diag.h"
#include "viewer-tui/base/shorten.h"
#include "viewer-tui/base/task.h"
#include "viewer-tui/compare/session-databases.h"
#include "viewer-tui/compare/session-restriction.h"
#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/output/open-timeline.h"
#include "viewer-tui/table/table.h"
#include "viewer-tui/timeline/chain-times.h"
#include "viewer-tui/tree/code-owner.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct path_line {
    double time, percent, waiting;
    int64_t samples;
    char *thread; /* start routine or name; of wake-ups that of the thread that is woken; owned */
    char *what;   /* procedure, or what else it is: "<waking up>"; owned */
    const char *file;   /* NULL: unknown */
    int64_t line;
};

#define MEMBER(name) offsetof(struct path_line, name)

static const struct table_column columns[] = {
    {"time, s", "time", "time", NULL, OF_DOUBLE, MEMBER(time), .width = 10, .decimals = 3},
    {"%", "percent", "percent", NULL, OF_DOUBLE, MEMBER(percent), .width = 7, .decimals = 1},
    {"of it waiting", "waiting", "waiting", NULL, OF_DOUBLE, MEMBER(waiting), .width = 10, .decimals = 3},
    {"samples", "samples", "samples", NULL, OF_INTEGER, MEMBER(samples), .width = 9},
    {"procedure, thread", "procedure", "procedure", NULL, OF_TEXT, MEMBER(what), .width = 0},
    {NULL, "thread", "thread", NULL, OF_TEXT, MEMBER(thread), .width = 0},
    {NULL, "file", "file", NULL, OF_TEXT, MEMBER(file), .width = 0},
    {NULL, "line", "line", NULL, OF_INTEGER, MEMBER(line), .width = 0},
};

/* Columns of a line of text before the procedure, the least of its name, and the most of the thread's. */
#define BEFORE_NAME 38
#define LEAST_NAME  24
#define MOST_THREAD 24

/* A path, its times, and what they refer to. */
struct critical_path {
    const struct timeline *timeline;
    struct database *db;
    struct threads threads;
    const struct thread *last; /* the path ends there */
    chain_pieces pieces;
    struct chain_times times;
    double seconds, known, waiting; /* known: of the seconds, by wake-ups */
    VEC(struct path_line) lines;
};

/* Nanoseconds have 64 bits. */
#define MOST_SECONDS 9e9

/* The end of a process of run.json, seconds of the time line; -1: unknown, or in no time line. */
static double process_end(const json_t *process)
{
    const json_t *begin = json_object_get(process, "time_line_begin");
    double end = json_is_number(begin) ? json_number_value(begin) + run_number(process, "wall") : -1;
    return run_number(process, "time_line_begin") >= 0 && end < MOST_SECONDS ? end : -1;
}

/* When the threads ended, by index in the time line; UINT64_MAX: it is not known. The caller frees. */
static uint64_t *thread_ends(const struct critical_path *path)
{
    uint64_t *ends = mem_alloc((path->timeline->header.n_threads + 1) * sizeof *ends);
    memset(ends, 0xff, path->timeline->header.n_threads * sizeof *ends);
    for (size_t i = 0; i < path->threads.list.n; i++) {
        const struct thread *thread = &path->threads.list.at[i];
        const struct timeline_thread *of = timeline_thread(path->timeline, thread->profile);
        double process = run_number(thread->process, "time_line_begin"), begin = run_number(thread->described, "begin"),
               wall = run_number(thread->described, "wall"), end = process + begin + wall;
        if (of && process >= 0 && begin >= 0 && wall > 0 && end < MOST_SECONDS)
            ends[of - path->timeline->threads] = (uint64_t)(end * 1e9);
    }
    return ends;
}

/* The first thread of the process that ends last; NULL: none has a time line. */
static const struct thread *last_thread(const struct critical_path *path)
{
    const struct thread *last = NULL;
    for (size_t i = 0; i < path->threads.list.n; i++) {
        const struct thread *thread = &path->threads.list.at[i];
        if (timeline_thread(path->timeline, thread->profile) && process_end(thread->process) >= 0 &&
            (!last || process_end(thread->process) > process_end(last->process)))
            last = thread;
    }
    return last;
}

/* Whether several threads of the last process have no wake-ups: not even those that creators of threads are. */
static bool lacks_wake_ups(const struct critical_path *path)
{
    size_t n_threads = 0;
    for (size_t i = 0; i < path->threads.list.n; i++) {
        const struct thread *thread = &path->threads.list.at[i];
        const struct timeline_thread *of = timeline_thread(path->timeline, thread->profile);
        if (!of || thread->process != path->last->process)
            continue;
        n_threads++;
        if (path->timeline->wake_lists[of - path->timeline->threads].n_wake_ups > 0)
            return false;
    }
    return n_threads > 1;
}

static void cut_to(chain_pieces *pieces, const time_ranges *ranges)
{
    chain_pieces kept = {0};
    for (size_t i = 0; i < pieces->n * ranges->n; i++) {
        struct chain_piece piece = pieces->at[i / ranges->n];
        struct time_range range = ranges->at[i % ranges->n];
        if (piece.to <= range.from || piece.from >= range.to)
            continue;
        piece.from = piece.from > range.from ? piece.from : range.from;
        piece.to = piece.to < range.to ? piece.to : range.to;
        piece.runs = piece.runs > piece.from ? piece.runs : piece.from;
        piece.runs = piece.runs < piece.to ? piece.runs : piece.to;
        vec_push(&kept, piece);
    }
    vec_free(pieces);
    *pieces = kept;
}

/* NULL, or why there is none. */
static const char *find_path(struct critical_path *path, struct session *session)
{
    const struct session_run *run = &session->runs.at[0];
    const struct thread *last = path->last = last_thread(path);
    if (!path->timeline->is_time || !last)
        return "there is no time line of CPU time or wall-clock time";
    if (!path->timeline->wake_lists)
        return "its time line has no wake-ups; run hpcprof again on what a newer hpcrun has measured";
    if (lacks_wake_ups(path))
        return "no wake-ups of its threads were recorded: the critical path is not known of programs measured from outside";
    const struct timeline_thread *thread = timeline_thread(path->timeline, last->profile);
    autofree uint64_t *ends = thread_ends(path);
    path->pieces =
        longest_chain(path->timeline, ends, (uint32_t)(thread - path->timeline->threads),
                      (uint64_t)(run_number(last->process, "time_line_begin") * 1e9), (uint64_t)(process_end(last->process) * 1e9));
    if (run->ranges.n)
        cut_to(&path->pieces, &run->ranges);
    struct place_scopes scopes = place_scopes_of(path->db, path->timeline, false);
    autofree uint32_t *procedures = mem_alloc((scopes.n + 1) * sizeof *procedures); /* by place, the user's own */
    for (uint64_t place = 0; place < scopes.n; place++)
        procedures[place] = scopes.node[place] ? code_own_procedure(path->db, scopes.node[place]) : NOTHING;
    place_scopes_free(&scopes);
    path->times = chain_times_find(path->timeline, &path->pieces, procedures, database_n_procedures(path->db));
    return path->pieces.n ? NULL : "the critical path does not reach into this piece of time";
}

/* ---- lines ---- */

static char *name_of(const struct critical_path *path, const struct chain_time *time)
{
    static const char *const others[CHAIN_PARTS] = {[CHAIN_IN_PROCEDURE] = "<unknown procedure>",
                                                    [CHAIN_IDLE] = "<idle>",
                                                    [CHAIN_UNSAMPLED] = "<no sample>",
                                                    [CHAIN_WAKING] = "<waking up>"};
    char buffer[NAME_SIZE];
    bool is_known = time->part == CHAIN_IN_PROCEDURE && time->procedure != NOTHING;
    return mem_strdup(is_known ? database_procedure_name(path->db, time->procedure, buffer) : others[time->part]);
}

static char *thread_name(const struct critical_path *path, uint32_t thread)
{
    for (size_t i = 0; i < path->threads.list.n; i++)
        if (path->threads.list.at[i].profile == path->timeline->threads[thread].profile)
            return thread_routine(path->timeline, &path->threads.list.at[i]);
    return mem_strdup("?");
}

static void free_line(struct path_line *line)
{
    free(line->thread);
    free(line->what);
}

/* Adds a time to the line of the same procedure in threads of the same kind. */
static void add_time(struct critical_path *path, const struct chain_time *time)
{
    struct procedure procedure = time->procedure == NOTHING ? (struct procedure){.file = NOTHING}
                                                            : database_procedure(path->db, time->procedure);
    struct path_line new = {.thread = thread_name(path, time->thread),
                            .what = name_of(path, time),
                            .file = database_file_path(path->db, procedure.file),
                            .line = procedure.line ? (int64_t)procedure.line : -1};
    size_t i = 0;
    while (i < path->lines.n && (path->lines.at[i].line != new.line || strcmp(path->lines.at[i].what, new.what) != 0 ||
                                 strcmp(path->lines.at[i].thread, new.thread) != 0))
        i++;
    if (i == path->lines.n)
        vec_push(&path->lines, new);
    else
        free_line(&new);
    struct path_line *line = &path->lines.at[i];
    line->time += time->ns * 1e-9;
    line->waiting += time->waiting * 1e-9;
    line->samples += (int64_t)time->samples;
    path->known += time->ns * 1e-9;
    path->waiting += time->waiting * 1e-9;
}

static int compare_lines(const void *left, const void *right)
{
    const struct path_line *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? 1 : -1;
    return strcmp(a->what, b->what) ? strcmp(a->what, b->what) : strcmp(a->thread, b->thread);
}

/* Where the path is not known, it is taken to be as elsewhere. */
static void make_lines(struct critical_path *path)
{
    for (size_t i = 0; i < path->times.list.n; i++)
        add_time(path, &path->times.list.at[i]);
    path->seconds = path->known + path->times.unknown * 1e-9;
    double scale = path->known > 0 ? path->seconds / path->known : NAN;
    path->waiting *= scale;
    for (size_t i = 0; i < path->lines.n; i++) {
        struct path_line *line = &path->lines.at[i];
        line->time *= scale;
        line->waiting *= scale;
        line->percent = 100 * line->time / path->seconds;
    }
    vec_sort(&path->lines, compare_lines);
}

/* ---- output ---- */

/* Replaces the procedure by what a line of text has for it: "parse, worker", with long names shortened. */
static void name_line(struct path_line *line, size_t width, bool ascii)
{
    autofree struct text thread = {0}, what = {0};
    struct text name = {0};
    text_say(&thread, ascii, "%s", line->thread);
    shorten_middle(&thread, MOST_THREAD, ascii);
    text_say(&what, ascii, "%s", line->what);
    size_t used = BEFORE_NAME + strlen(", ") + text_columns(text_string(&thread));
    size_t room = width > used + LEAST_NAME ? width - used : LEAST_NAME;
    shorten_name(text_string(&what), room, ascii, &name);
    shorten_middle(&name, room, ascii);
    text_printf(&name, ", %s", text_string(&thread));
    free(line->what);
    line->what = name.at;
}

/* "Critical path: 1.500 s in 3 pieces, by samples." It ends at its process. */
static void write_title(const struct critical_path *path, const struct session *session, struct writer *writer)
{
    size_t n = json_array_size(json_object_get(session->runs.at[0].runs_read.at[0], "processes"));
    text_add(&writer->line, "Critical path");
    if (n > 1)
        writer_say(writer, " of %s %.0f, which ends last of %zu processes", run_program_of(path->last->process),
                   run_number(path->last->process, "pid"), n);
    writer_line(writer, ": %.3f s in %zu piece%s, by samples. A piece ends where its thread wakes up the next.",
                path->seconds, path->pieces.n, path->pieces.n == 1 ? "" : "s");
    if (n > 1)
        writer_line(writer, "It stays in that process: where a thread waits for another process, the path is that wait.");
    writer_end_line(writer);
}

/* What the lines do not say: `n_left_out` of them are those of less than `least` percent. */
static void write_notes(const struct critical_path *path, size_t n_left_out, double least, struct writer *writer)
{
    const struct chain_times *times = &path->times;
    double seconds = 0;
    for (size_t i = path->lines.n - n_left_out; i < path->lines.n; i++)
        seconds += path->lines.at[i].time;
    if (times->n_unknown)
        writer_line(writer, "%" PRIu64 " wait%s on it, %.3f s, without a known waker: the path stays on the thread that waits.",
                    times->n_unknown, times->n_unknown == 1 ? "" : "s", path->waiting);
    if (times->n_unknown && !timeline_has_waits(path->timeline))
        writer_line(writer, "By CPU time, these include times without a CPU; hpcrun -e REALTIME tells them apart.");
    if (times->unknown > 0)
        writer_line(writer, "Threads were woken too often to record all: the path is known for %.2g %% of that time.",
                    100 * path->known / path->seconds);
    if (n_left_out)
        writer_line(writer,
                    "%s row%s with less than %g%% of the path, %.3f s in all, %s left out (--min-percent 0 shows all).",
                    number_grouped(n_left_out).text, n_left_out == 1 ? "" : "s", least, seconds,
                    n_left_out == 1 ? "is" : "are");
}

static void write_path(struct critical_path *path, const struct session *session, const struct print_options *options,
                       FILE *out)
{
    struct writer writer;
    double least = print_least_percent(options->format, options->min_percent);
    size_t n = path->lines.n; /* the lines are in descending order of percentages */
    while (n > 0 && path->lines.at[n - 1].percent < least)
        n--;
    struct data_table table = {columns, sizeof columns / sizeof *columns, path->lines.at, sizeof *path->lines.at,
                               n, NULL};
    writer_open(&writer, options->format, options->width, out);
    writer_head(&writer, session, path->db, "critical-path", LOGICAL);
    if (options->format == FORMAT_JSON)
        json_print(&writer.json, "pid:%jd seconds:%g pieces:%zu unknown_waits:%jd known:%g",
                   (intmax_t)run_number(path->last->process, "pid"), path->seconds, path->pieces.n,
                   (intmax_t)path->times.n_unknown, path->known);
    if (options->format == FORMAT_TEXT) {
        for (size_t i = 0; i < n; i++)
            name_line(&path->lines.at[i], writer.width, writer.ascii);
        write_title(path, session, &writer);
        table.n_columns = 5; /* lines of text have the thread in the same column as the procedure */
    }
    table_write(&table, &writer, "path", n);
    if (options->format == FORMAT_TEXT)
        write_notes(path, path->lines.n - n, least, &writer);
    writer_free(&writer);
}

int print_critical_path(struct session *session, struct view *view, const struct print_options *options, FILE *out)
{
    (void)view;
    struct critical_path path = {.db = session_database(session, LOGICAL)};
    const char *why = !path.db || !database_nodes(path.db) ? database_why_none() : NULL;
    path.timeline = why ? NULL : session_timeline(session);
    if (!why && !path.timeline)
        why = timeline_why_none(session);
    if (path.timeline) {
        threads_read(&path.threads, path.db, session->runs.at[0].runs_read.at[0], true);
        why = find_path(&path, session);
    }
    if (!why) {
        make_lines(&path);
        write_path(&path, session, options, out);
    } else if (why != problem_text()) {
        diag_error(session->folder, "%s", why);
    }
    for (size_t i = 0; i < path.lines.n; i++)
        free_line(&path.lines.at[i]);
    vec_free(&path.lines);
    vec_free(&path.pieces);
    vec_free(&path.times.list);
    threads_free(&path.threads);
    return why ? 1 : 0;
}
