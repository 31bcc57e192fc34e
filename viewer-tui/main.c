/* hpcviewer: shows databases of hpcprof in the terminal, or prints them. */
#include "lib/diag.h"
#include "viewer-tui/measurement.h"
#include "viewer-tui/options.h"
#include "viewer-tui/problem.h"
#include "viewer-tui/tui.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

/* Much is printed piece by piece: few writes. */
#define OUTPUT_BUFFER (1 << 18)

static int print(struct session *session, const struct options *options)
{
    int status;
    setvbuf(stdout, NULL, _IOFBF, OUTPUT_BUFFER);
    if (options->printed == PRINT_THREADS)
        status = print_threads(session, &options->print, stdout);
    else if (options->printed == PRINT_SUMMARY)
        status = print_summary(session, &options->print, stdout);
    else
        status = print_view(session, (enum view_id)options->printed, &options->print, stdout);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        diag_error("standard output", "%s", strerror(errno));
        return 1;
    }
    return status;
}

int main(int argc, char **argv)
{
    diag_init("hpcviewer");
    /* Only the encoding: numbers are written and read with a point. */
    setlocale(LC_CTYPE, "");
    struct options options = options_read(argc, argv);
    char *folder = database_for(options.path);
    if (!folder)
        return 1;
    struct session *session = session_open(folder, options.metrics);
    session_show(session, options.by_kind ? SET_KINDS : SET_CHOSEN);
    int status = options.printed == PRINT_NOTHING
                     ? tui_run(session, options.print.projection, options.print.sort)
                     : print(session, &options);
    if (problem_text()) {
        diag_error(NULL, "%s", problem_text());
        status = status ? status : 1;
    }
    session_close(session);
    problem_clear();
    free(folder);
    return status;
}
