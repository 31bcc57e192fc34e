/* The phases of a run (run-phases.h): when each is, what threads do in it, and its first advice. */
#include "viewer-tui/output/print.h"

#include "lib/metric-kinds.h"
#include "viewer-tui/advice/wording.h"
#include "viewer-tui/base/shorten.h"
#include "viewer-tui/compare/session-advice.h"
#include "viewer-tui/compare/session-databases.h"
#include "viewer-tui/compare/session-restriction.h"
#include "viewer-tui/table/table.h"
#include "viewer-tui/tree/labels.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/* Least columns of a procedure's name in text. */
#define LEAST_NAME 12

/* With fewer threads at work, a quiet phase may have no more than a sample of its neighbor. */
#define LEAST_USE 0.01

struct phase_line {
    unsigned number;
    double begin, end, length, working;
    double idleness;                                      /* percent of effort */
    double work, overhead, waiting, ready, off_cpu;       /* percent of the threads' time in code or ready */
    const char *file;                                      /* NULL: unknown */
    char *procedure, *advice;                              /* safe for terminals in text; NULL: none; owned */
    int64_t line;
};

#define MEMBER(name) offsetof(struct phase_line, name)
#define SHARE(title, head, name)                                                                                       \
    {                                                                                                                  \
        title, head, head, "percent", OF_DOUBLE, MEMBER(name), .width = 6, .decimals = 1                               \
    }

static const struct table_column columns[] = {
    {"phase", "phase", "phase", NULL, OF_UNSIGNED, MEMBER(number), .width = 6},
    {"begin, s", "begin", "begin", NULL, OF_DOUBLE, MEMBER(begin), .width = 9, .decimals = 3},
    {"end, s", "end", "end", NULL, OF_DOUBLE, MEMBER(end), .width = 9, .decimals = 3},
    {"wall, s", "wall", "wall", NULL, OF_DOUBLE, MEMBER(length), .width = 9, .decimals = 3},
    {"threads at work", "threads_at_work", "threads_at_work", NULL, OF_DOUBLE, MEMBER(working), .width = 8,
     .decimals = 2},
    {"idle, % of effort", "idleness_percent_of_effort", "idleness_percent_of_effort", NULL, OF_DOUBLE, MEMBER(idleness),
     .width = 8, .decimals = 1},
    SHARE("work, %", "work", work),
    SHARE("over- head", "overhead", overhead),
    SHARE("wait- ing", "waiting", waiting),
    SHARE("ready", "ready", ready),
    SHARE("off CPU", "off_cpu", off_cpu),
    {"mostly in", "procedure", "procedure", NULL, OF_TEXT, MEMBER(procedure), .width = 0},
    {NULL, "file", "file", NULL, OF_TEXT, MEMBER(file), .width = 0},
    {NULL, "line", "line", NULL, OF_INTEGER, MEMBER(line), .width = 0},
    {NULL, "advice", "advice", NULL, OF_TEXT, MEMBER(advice), .width = 0},
};

/* NAN if it was not measured: there is no such metric, and no such record. */
static double percent_of(const struct database *db, const struct phase *phase, enum trace_state state, const char *kind)
{
    const double *states = phase->states;
    bool is_measured = states[state] > 0 || metrics_find_measured(&db->metrics, kind) < db->metrics.n;
    double all = states[TRACE_WORK] + states[TRACE_OVERHEAD] + states[TRACE_WAITING] + states[TRACE_READY] +
                 states[TRACE_OFF_CPU];
    return all > 0 && is_measured ? 100 * states[state] / all : NAN;
}

/* NAN if idleness was not measured. */
static double idleness_of(const struct database *db, const struct phase *phase)
{
    const double *paid = phase->paid;
    double effort = paid[PAYS_WORK] + paid[PAYS_OVERHEAD] + paid[PAYS_IDLENESS];
    bool is_measured = metrics_find_measured(&db->metrics, METRIC_IDLENESS) < db->metrics.n;
    return is_measured && effort > 0 ? 100 * paid[PAYS_IDLENESS] / effort : NAN;
}

static struct phase_line line_of(const struct database *db, const struct phases *phases, size_t i)
{
    char buffer[NAME_SIZE];
    const struct phase *phase = &phases->at[i];
    const char *name = phase_place(db, phase, buffer);
    struct procedure procedure = name ? database_procedure(db, phase->procedure) : (struct procedure){.file = NOTHING};
    return (struct phase_line){
        .number = (unsigned)i + 1,
        .begin = (double)phase->range.from * 1e-9,
        .end = (double)phase->range.to * 1e-9,
        .length = phase_length(phase),
        .working = phase->working,
        .work = percent_of(db, phase, TRACE_WORK, METRIC_WORK),
        .overhead = percent_of(db, phase, TRACE_OVERHEAD, METRIC_OVERHEAD),
        .waiting = percent_of(db, phase, TRACE_WAITING, METRIC_WAITING),
        .idleness = idleness_of(db, phase),
        .ready = percent_of(db, phase, TRACE_READY, METRIC_READY),
        .off_cpu = percent_of(db, phase, TRACE_OFF_CPU, METRIC_OFF_CPU),
        .procedure = name ? mem_strdup(name) : NULL,
        .file = database_file_path(db, procedure.file),
        .line = procedure.line ? (int64_t)procedure.line : -1,
    };
}

/* The first advice that is of a phase; without one (NULL) what disturbed the whole run, which is said once and not of
 * each phase. NULL: none; else the caller frees. */
static char *first_advice(struct session *session, const struct phase *phase, bool is_disturbed)
{
    struct view *view = session_view(session, LOGICAL, TOP_DOWN);
    const struct advice *advice = view ? session_advice(session, view) : NULL;
    char *text = NULL;
    for (size_t i = 0; advice && i < advice->findings.list.n && !text; i++) {
        const struct finding *finding = &advice->findings.list.at[i];
        bool is_of_machine = finding->order == ORDER_MACHINE, is_wanted = !(is_disturbed && is_of_machine);
        if (!phase)
            is_wanted = i == 0 && is_of_machine;
        else if (phase->is_quiet) /* only waits matter: shares of next to no CPU time say nothing */
            is_wanted = finding->kind == FINDING_BLOCKED || finding->kind == FINDING_LOCK;
        text = is_wanted ? mem_strdup(finding->text) : NULL;
    }
    return text;
}

/* The first advice on a phase; NULL: none. Views of the session are then those of the phase. */
static char *advice_on_phase(struct session *session, const struct phase *phase, bool is_disturbed)
{
    if (session_set_range(session, LOGICAL, &phase->range, NULL) != DONE)
        return NULL;
    char *text = first_advice(session, phase, is_disturbed);
    if (text || !phase->is_quiet)
        return text;
    struct text use = {0};
    if (phase->working < LEAST_USE)
        text_add(&use, "Nothing used a CPU");
    else
        text_printf(&use, "A CPU was used for %s of the time", as_percent(phase->working).text);
    /* By CPUTIME, a thread has no samples while it sleeps, nor while it has no CPU. */
    bool is_known = phase->states[TRACE_OFF_CPU] > 0 || phase->states[TRACE_READY] > 0;
    text_add(&use, is_disturbed && !is_known ? "; others may have had the CPUs." : ".");
    return use.at;
}

/* Copies the columns that text has: without shares that are 0 or unknown in all phases, and on narrow lines without the
 * wall time, since begin and end say it. Returns their number, and the columns of the line that they leave to names. */
static size_t choose_columns(const struct phase_line *lines, size_t n_lines, size_t width, struct table_column *chosen,
                             size_t *room)
{
    size_t n = 0, used = 2;
    for (size_t c = 0; c < sizeof columns / sizeof *columns; c++) {
        bool is_share = columns[c].group || columns[c].place == MEMBER(idleness);
        bool is_length = columns[c].place == MEMBER(length);
        bool is_shown = is_length ? width >= LINE_WIDTH : !is_share;
        for (size_t i = 0; i < n_lines; i++)
            is_shown |= is_share && *(const double *)((const char *)&lines[i] + columns[c].place) > 0;
        if (is_shown) {
            chosen[n++] = columns[c];
            used += (size_t)columns[c].width;
        }
    }
    *room = width > used + LEAST_NAME ? width - used : LEAST_NAME;
    return n;
}

static void print_text(struct writer *writer, struct data_table *table, const struct phases *phases,
                       struct phase_line *lines, const char *machine)
{
    struct table_column chosen[sizeof columns / sizeof *columns];
    size_t room;
    bool has_idleness = false;
    table->columns = chosen;
    table->n_columns = choose_columns(lines, table->n_rows, writer->width, chosen, &room);
    for (size_t i = 0; i < table->n_rows; i++) {
        struct text name = {0};
        autofree struct text clean = {0};
        has_idleness |= lines[i].idleness > 0; /* else text has no such column */
        if (!lines[i].procedure)
            continue;
        text_add_clean(&clean, lines[i].procedure, writer->ascii);
        shorten_name(text_string(&clean), room, writer->ascii, &name);
        text_cut(&name, room);
        free(lines[i].procedure);
        lines[i].procedure = name.at;
    }
    writer_line(writer, "%zu phase%s: stretches of time with a mix of states and procedures of their own",
                table->n_rows, table->n_rows == 1 ? "" : "s");
    writer_end_line(writer);
    table_write(table, writer, "phases", table->n_rows);
    if (has_idleness)
        writer_line(writer, "Idle: workers without work, by the samples of those that work. A time line shows idle "
                            "threads by their own.");
    if (phases->n_bins < LEAST_BINS)
        writer_line(writer, "The run has too few samples to look for phases.");
    else if (phases->n > 1 && phases->n_bins < SURE_BINS)
        writer_line(writer, "The run is short: up to 4 %% of such runs have phases by chance (run it for longer).");
    writer_heading(writer, "First advice on each");
    if (machine)
        writer_say_line(writer, "  all  %s", machine);
    for (size_t i = 0; i < table->n_rows; i++)
        writer_say_line(writer, "  %u  %s", lines[i].number,
                        lines[i].advice ? lines[i].advice : "none: nothing that was measured stands out");
}

int print_phases(struct session *session, struct view *view, const struct print_options *options, FILE *out)
{
    (void)view;
    struct writer writer;
    struct phase_line lines[MOST_PHASES];
    const struct phases *phases = session_phases(session);
    if (!phases)
        return session_exit_status(session);
    struct session *alone = session_open(session->folder, NULL); /* so that views of the other one stay */
    alone->rules = session->rules;
    const struct database *db = session_database(session, LOGICAL);
    autofree char *machine = first_advice(alone, NULL, false);
    writer_open(&writer, options->format, options->width, out);
    for (size_t i = 0; i < phases->n; i++) {
        lines[i] = line_of(db, phases, i);
        lines[i].advice = advice_on_phase(alone, &phases->at[i], machine);
    }
    struct data_table table = {columns, sizeof columns / sizeof *columns, lines, sizeof *lines, phases->n, NULL};
    writer_head(&writer, session, db, "phases", LOGICAL);
    if (options->format == FORMAT_TEXT)
        print_text(&writer, &table, phases, lines, machine);
    else
        table_write(&table, &writer, "phases", phases->n);
    writer_free(&writer);
    for (size_t i = 0; i < phases->n; i++) {
        free(lines[i].procedure);
        free(lines[i].advice);
    }
    session_close(alone);
    return 0;
}
