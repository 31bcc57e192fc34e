#include "hpcprof/options.h"

#include "lib/diag.h"
#include "lib/option-table.h"
#include "lib/parallel.h"

#include <stdlib.h>

enum { OUTPUT, INCLUDE, REPLACE, SHARED, COLLAPSE, STATISTICS_LIST, LARGE, JOBS, OPTIONS };

static const struct option_row rows[OPTIONS] = {
    [OUTPUT] = {"o", "output", "DB", "@directory", "the database: a new or empty directory",
                "The database: a new or empty directory. Default: `hpctoolkit-COMMAND-database` in the current "
                "directory, or the same with a number after it if that exists. A directory that exists must belong "
                "to you."},
    [INCLUDE] = {"I", "include", "DIR", "@directory", "search source files below DIR (repeatable)",
                 "Search source files below DIR, by the longest part of their path that exists there. Can be given "
                 "several times."},
    [REPLACE] = {"R", "replace", "OLD=NEW", NULL, "look under NEW for paths that begin with OLD",
                 "If the path of a source file or binary begins with OLD, look under NEW. Can be given several "
                 "times."},
    [SHARED] = {NULL, "shared", NULL, NULL, "let other users read the database",
                "Let other users read the database, as far as the umask allows it. By default only you can: the "
                "database contains paths, arguments and sources."},
    [COLLAPSE] = {NULL, "collapse-recursion", NULL, NULL, "count recursive calls in the outermost one",
                  "Count a call of a procedure that is on the call path already in the context of its outermost "
                  "call there: `a > b > a > b > c` becomes `a > b > c`, and `a > b > a > d` becomes `a > d`. Every "
                  "sample counts once. Databases of deeply recursive programs become small; what the levels of the "
                  "recursion cost is lost. hpcviewer can do the same to any database."},
    [STATISTICS_LIST] = {"M", "statistics", "LIST", "sum mean min max stddev",
                         "statistics over threads: sum,mean,min,max,stddev",
                         "Also write statistics of every metric over the threads of the run. LIST names them, separated by "
                         "commas: `mean`, `min`, `max`, "
                         "`stddev`; `sum` is always there. A thread that did not reach a scope counts as 0. hpcviewer "
                         "then shows a column of each."},
    [LARGE] = {NULL, "large", "MB", NULL, "binaries of which only sampled code is analyzed (64)",
               "Of binaries with more than MB megabytes of code and debug information, recover only the structure of "
               "the procedures that samples show, unless the cache has all of it (`hpcstruct MEASUREMENT-DIR` fills "
               "it). The database is the same. Default: 64. Where rules of a runtime concern other code, too (Cilk, "
               "oneTBB), the structure of all procedures is recovered."},
    [JOBS] = {"j", "jobs", "N", NULL, "use N threads (default: one for each CPU)",
              "Use N threads. Default: one for each CPU."},
};

static const struct option_table table = {
    .tool = "hpcprof",
    .before = "usage: hpcprof [options] MEASUREMENT-DIR...\n"
              "\n"
              "Merges the measurements that hpcrun took, recovers the structure of the\n"
              "programs with hpcstruct where it is not cached, and writes a database for\n"
              "hpcviewer. Prints the name of the database.\n"
              "\n",
    .after = "\n"
             "Damaged files are reported, one line each, and skipped; the exit status is then\n"
             "1. It is 2 if the command line is wrong.\n",
    .rows = rows,
    .n = OPTIONS,
};

#define MAX_WORKERS 1024

/* As that of hpcstruct. */
#define DEFAULT_LARGE 64
#define MOST_LARGE    (1u << 30)

static unsigned read_workers(const char *text)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    if (end == text || *end != '\0' || text[0] == '-' || number < 1 || number > MAX_WORKERS)
        diag_usage("-j takes a number from 1 to %d, not '%s'", MAX_WORKERS, text);
    return (unsigned)number;
}

static unsigned read_large(const char *text)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    if (end == text || *end != '\0' || text[0] == '-' || number > MOST_LARGE)
        diag_usage("--large takes a number of megabytes, not '%s'", text);
    return (unsigned)number;
}

static void take_option(void *target, size_t option, const char *value)
{
    struct options *options = target;
    switch (option) {
    case OUTPUT: options->database = value; break;
    case INCLUDE: path_add_search(&options->rules, value); break;
    case REPLACE:
        if (!path_add_replacement(&options->rules, value))
            diag_usage("-R takes OLD=NEW, not '%s'", value);
        break;
    case SHARED: options->shared = true; break;
    case COLLAPSE: options->collapses_recursion = true; break;
    case STATISTICS_LIST:
        if (!statistics_read(&options->statistics, value))
            diag_usage("-M takes names of sum, mean, min, max, stddev with commas between them, not '%s'", value);
        break;
    case LARGE: options->large = read_large(value); break;
    case JOBS: options->workers = read_workers(value); break;
    }
}

void options_read(struct options *options, int argc, char **argv)
{
    *options = (struct options){.workers = parallel_default_workers(), .large = DEFAULT_LARGE};
    int at = option_table_parse(&table, argc, argv, take_option, options);
    if (options->database && options->database[0] == '\0')
        diag_usage("-o needs a name");
    if (at == argc)
        diag_usage("no measurement directory given");
    options->directories = argv + at;
    options->directory_count = (size_t)(argc - at);
}

void options_free(struct options *options)
{
    path_rules_free(&options->rules);
}
