/* hpcviewer: shows databases of hpcprof in the terminal, or prints them. */
#include "lib/diag.h"
#include "lib/safe-output.h"
#include "viewer-tui/base/task.h"
#include "viewer-tui/compared-runs.h"
#include "viewer-tui/options.h"
#include "viewer-tui/show-set.h"
#include "viewer-tui/terminal/screens/commands.h"
#include "viewer-tui/terminal/screens/terminal.h"
#include "viewer-tui/tree/labels.h"

#include "viewer-tui/compare/session-databases.h"
#include "viewer-tui/compare/session-restriction.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Bytes; printers write in small pieces. */
#define OUTPUT_BUFFER (1 << 18)

/* Prints to the file that the user named, or standard output; the exit status. */
static int print_to_output(struct session *session, struct options *options)
{
    struct atomic_file file = {.out = stdout};
    const char *name = options->output ? options->output : "standard output";
    autofree char *cause = NULL;
    bool is_written = !options->output || atomic_file_begin(&file, options->output, &cause);
    int status = 1;
    struct winsize size;
    if (!options->output && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
        options->print.width = size.ws_col;
    if (is_written) {
        setvbuf(file.out, NULL, _IOFBF, OUTPUT_BUFFER);
        status = session ? print_page(options->printed, session, &options->print, file.out) : print_set(options, file.out);
        is_written = options->output ? atomic_file_commit(&file, &cause)
                                     : fflush(stdout) == 0 && !ferror(stdout);
    }
    if (!is_written)
        diag_error(name, "%s", cause ? cause : strerror(errno));
    return is_written ? status : 1;
}

/* Restricts values to the threads and the time that the user named; the exit status. */
static int restrict_values(struct session *session, const struct options *options)
{
    enum projection projection = options->print.projection;
    const char *program = options->program;
    autofree char *no_range = NULL, *no_threads = NULL;
    if (!session_take_ranges(session, projection, &no_range)) {
        if (no_range)
            diag_error(NULL, "%s", no_range);
        return no_range ? 2 : session_exit_status(session);
    }
    if (!program && !options->threads)
        return 0;
    struct thread_set *set =
        session_choose_threads(session, projection, program ? thread_set_of_program : thread_set_matching,
                               program ? program : options->threads, &no_threads);
    if (set && session_restrict(session, projection, set) == DONE)
        return 0;
    if (no_threads)
        diag_error(session->folder, "%s: %s", program ? "--program" : "--threads", no_threads);
    return no_threads ? 2 : session_exit_status(session);
}

/* Applies the options that concern all views. */
static void configure(struct session *session, const struct options *options)
{
    session->rules = &options->rules;
    session_set_defaults(session, options->usual_metrics, options->usual_sort);
    for (size_t i = 0; i < options->definitions.n; i++)
        vec_push(&session->definitions, mem_strdup(options->definitions.at[i]));
    session_fold(session, options->folds);
    session_show(session, options->by_kind ? SET_KINDS : SET_CHOSEN);
}

/* Checks the limits that the user set, and says what came of each; the exit status: 3 if one is exceeded. */
static int check_limits(struct session *session, const struct options *options)
{
    int status = 0;
    for (size_t i = 0; i < options->limits.n; i++) {
        autofree struct text line = {0};
        enum limit_verdict verdict = limit_check(session, options->print.projection, &options->limits.at[i],
                                                 describe_in_ascii(), &line);
        if (verdict == LIMIT_UNKNOWN) {
            diag_error("--fail-if", "%s", text_string(&line));
            status = status ? status : 2;
        } else {
            fprintf(stderr, "hpcviewer: %s\n", text_string(&line));
            status = verdict == LIMIT_EXCEEDED ? 3 : status;
        }
    }
    return status;
}

/* Opens the viewer or prints; the exit status. */
static int show(struct session *session, struct options *options)
{
    configure(session, options);
    if (options->usually_physical && session_has_projection(session, PHYSICAL))
        options->print.projection = PHYSICAL;
    options->print.filters = &options->filters;
    options->print.changes = &options->changes;
    int status = restrict_values(session, options);
    if (status)
        return status;
    if (options->limits.n)
        status = check_limits(session, options);
    if (options->printed != PRINT_NOTHING) {
        int printed = print_to_output(session, options);
        return status ? status : printed;
    }
    struct terminal_options terminal = {.projection = options->print.projection,
                                        .sort = options->print.sort,
                                        .has_mouse = !options->no_mouse,
                                        .starts_closed = options->starts_closed,
                                        .columns = options->columns,
                                        .has_bars = options->has_bars,
                                        .filters = &options->filters};
    return terminal_run(session, &terminal);
}

/* `hpcviewer --key-table`, for the manual page (lib/manual-page.awk): "KEYS<tab>MEANING" for each
 * line of the help; headings have no keys. */
static int print_keys(void)
{
    for (const struct family *const *family = command_families; *family; family++) {
        printf("\t%s\n", (*family)->heading);
        for (const struct command *command = (*family)->commands; command->keys; command++)
            printf("%s\t%s\n", command->keys, command->help);
    }
    return fflush(stdout) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--key-table") == 0)
        return print_keys();
    diag_init("hpcviewer");
    /* Not LC_NUMERIC: numbers are written and read with a decimal point. */
    setlocale(LC_CTYPE, "");
    struct options options = options_read(argc, argv);
    bool is_set = options_name_set(&options);
    struct session *session = is_set ? NULL : open_databases(&options);
    int status = !is_set                              ? (session ? show(session, &options) : 1)
                 : options.printed == PRINT_LOSSES    ? show_losses(&options, show)
                 : options.printed == PRINT_NOTHING   ? show_set(&options, show)
                                                      : print_to_output(NULL, &options);
    if (problem_text()) {
        diag_error(NULL, "%s", problem_text());
        status = status ? status : 1;
    }
    if (diag_error_count() > 0 && status == 0)
        status = 1;
    if (session)
        session_close(session);
    problem_clear();
    path_rules_free(&options.rules);
    config_free(&options.config);
    vec_free(&options.definitions);
    filters_free(&options.filters);
    speed_changes_free(&options.changes);
    limits_free(&options.limits);
    for (int side = 0; side < SIDES; side++)
        free(options.comparison.names[side]);
    return status;
}
