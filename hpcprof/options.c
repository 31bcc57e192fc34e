#include "hpcprof/options.h"

#include "lib/diag.h"
#include "lib/parallel.h"
#include "lib/version.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: hpcprof [-j N] [-I DIR]... [-R OLD=NEW]... [-o DB] MEASUREMENT-DIR...\n"
    "\n"
    "Merges the measurements that hpcrun took, recovers the structure of the programs with\n"
    "hpcstruct where it is not cached, and writes a database for hpcviewer.\n"
    "\n"
    "  -o, --output DB         the database: a new or empty directory\n"
    "                          (default: hpctoolkit-COMMAND-database[-N] in the current directory)\n"
    "  -I, --include DIR       search source files below DIR, by the longest part of their path\n"
    "                          that exists there\n"
    "  -R, --replace OLD=NEW   where a path of a source file or binary begins with OLD, look\n"
    "                          under NEW\n"
    "      --shared            let other users read the database, as far as the umask does\n"
    "                          (default: only you; it holds sources, paths and arguments)\n"
    "  -j, --jobs N            use N threads (default: as many as there are CPUs)\n"
    "  -h, --help              show this text\n"
    "  -V, --version           show the version\n"
    "\n"
    "Prints the name of the database. Bad input is complained about, one line each, and costs only\n"
    "what is bad; the exit status is then 1. It is 2 for a command line that makes no sense.\n";

#define MAX_WORKERS 1024

static unsigned read_workers(const char *text)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    if (end == text || *end != '\0' || text[0] == '-' || number < 1 || number > MAX_WORKERS)
        diag_usage("-j takes a number from 1 to %d, not '%s'", MAX_WORKERS, text);
    return (unsigned)number;
}

void options_read(struct options *options, int argc, char **argv)
{
    static const struct option long_options[] = {
        {"output", required_argument, NULL, 'o'},  {"include", required_argument, NULL, 'I'},
        {"replace", required_argument, NULL, 'R'}, {"jobs", required_argument, NULL, 'j'},
        {"shared", no_argument, NULL, 's'},        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},       {NULL, 0, NULL, 0},
    };
    *options = (struct options){.workers = parallel_default_workers()};
    opterr = 0;
    for (int option; (option = getopt_long(argc, argv, ":o:I:R:j:hV", long_options, NULL)) != -1;) {
        switch (option) {
        case 'o': options->database = optarg; break;
        case 'I': path_add_search(&options->rules, optarg); break;
        case 's': options->shared = true; break;
        case 'j': options->workers = read_workers(optarg); break;
        case 'R':
            if (!path_add_replacement(&options->rules, optarg))
                diag_usage("-R takes OLD=NEW, not '%s'", optarg);
            break;
        case 'h': fputs(help, stdout); exit(0);
        case 'V': printf("hpcprof %s\n", HPCTOOLKIT_VERSION); exit(0);
        case ':': diag_usage("%s needs a value", argv[optind - 1]);
        default: diag_usage("unknown option %s", argv[optind - 1]);
        }
    }
    if (options->database && options->database[0] == '\0')
        diag_usage("-o needs a name");
    if (optind == argc)
        diag_usage("which measurement directory?");
    options->directories = argv + optind;
    options->directory_count = (size_t)(argc - optind);
}

void options_free(struct options *options)
{
    path_rules_free(&options->rules);
}
