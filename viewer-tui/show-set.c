#include "viewer-tui/show-set.h"

#include "lib/diag.h"
#include "viewer-tui/output/print-scaling.h"
#include "viewer-tui/run-hpcprof.h"
#include "viewer-tui/set-values.h"
#include "viewer-tui/terminal/screens/scaling-screen.h"

#include <stdlib.h>

/* A set that was read. */
struct read_set {
    const char *folder;
    struct run_set set;
    struct scaling_table table; /* with rows */
};

bool options_name_set(const struct options *options)
{
    if (options->printed == PRINT_SCALING)
        return true;
    bool is_one = options->paths[0] && !options->paths[1];
    return options->printed == PRINT_NOTHING && is_one && run_set_exists(options->paths[0]);
}

static void free_set(struct read_set *read)
{
    scaling_table_free(&read->table);
    run_set_free(&read->set);
}

/* False, with the error reported and nothing to free, if there is nothing to show. */
static bool read_set(struct read_set *read, const char *folder)
{
    char *cause;
    *read = (struct read_set){.folder = folder};
    if (run_set_read(&read->set, folder, &cause)) {
        run_value_list values = set_values(folder, &read->set);
        read->table = scaling_table_of(&values);
        vec_free(&values);
        if (read->table.rows.n)
            return true;
        diag_error(folder, "no run of the set has ended with status 0");
    } else {
        diag_error(folder, "not a set of runs, which hpcrun --workers makes: %s", cause);
        free(cause);
    }
    free_set(read);
    return false;
}

int print_set(const struct options *options, FILE *out)
{
    struct read_set read;
    if (read_set(&read, options->paths[0])) {
        print_scaling(&read.set, &read.table, options->print.format, out);
        free_set(&read);
    }
    return diag_error_count() ? 1 : 0;
}

/* What the page needs to show a database. */
struct run_opener {
    struct options *options;
    database_shower *show;
};

static int open_run(const struct shown_set *shown, const struct set_run *run)
{
    const struct run_opener *opener = shown->context;
    char *path = mem_printf("%s/%s", shown->folder, run->directory);
    char *database = database_beside(path);
    int status = database ? opener->show(database, opener->options) : 1;
    free(database);
    free(path);
    return status;
}

int show_set(struct options *options, database_shower *show_database)
{
    struct run_opener opener = {options, show_database};
    struct read_set read;
    if (!read_set(&read, options->paths[0]))
        return 1;
    struct shown_set shown = {.folder = read.folder,
                              .set = &read.set,
                              .table = &read.table,
                              .has_mouse = !options->no_mouse,
                              .open_run = open_run,
                              .context = &opener};
    int status = scaling_screen_run(&shown);
    free_set(&read);
    return status;
}
