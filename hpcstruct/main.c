#include "hpcstruct/analyze.h"
#include "hpcstruct/cached.h"
#include "hpcstruct/debug-file.h"
#include "hpcstruct/directory.h"

#include "lib/diag.h"
#include "lib/parallel.h"
#include "lib/path.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define VERSION "1.0"

static const char help[] =
    "usage: hpcstruct [options] BINARY\n"
    "       hpcstruct [options] MEASUREMENT-DIRECTORY\n"
    "\n"
    "Recovers the structure of a binary: its procedures, the functions inlined into them, their\n"
    "loops and source lines. Writes it to NAME.hpcstruct in the current directory, NAME being the\n"
    "binary's. Of a measurement directory made by hpcrun, puts the structure of all modules with\n"
    "samples into the cache, where hpcprof looks for it (and which hpcprof fills itself).\n"
    "\n"
    "  -o FILE          write to FILE; - is standard output\n"
    "  -j N             use N threads (default: one per CPU)\n"
    "      --calls      list call instructions, too\n"
    "      --cache      make sure that the cache holds the binary's structure, and print the path\n"
    "                   of the structure file there\n"
    "      --debug-dir DIR\n"
    "                   where separate debug files are (default: /usr/lib/debug)\n"
    "  -h, --help       print this text\n"
    "  -V, --version    print the version\n"
    "\n"
    "Works without debug information and on stripped binaries; what is found then is less. The\n"
    "cache is $XDG_CACHE_HOME/hpctoolkit/structure, or ~/.cache/hpctoolkit/structure. Its files\n"
    "may be deleted at any time.\n"
    "\n"
    "Ends with status 0, or 1 when something could not be read or written (a line on standard\n"
    "error says what), or 2 when the command line cannot be understood.\n";

struct options {
    struct analysis_options analysis;
    const char *output; /* NULL: by the binary's name */
    const char *input;
    bool cache;
};

static unsigned parse_workers(const char *text)
{
    char *rest;
    unsigned long workers = strtoul(text, &rest, 10);
    if (*rest || rest == text || text[0] == '-' || workers == 0 || workers > 4096)
        diag_usage("-j: %s: not a number of threads", text);
    return (unsigned)workers;
}

static void print_and_exit(const char *text)
{
    fputs(text, stdout);
    exit(fflush(stdout) == 0 ? 0 : 1);
}

static struct options parse(int argc, char **argv)
{
    enum { CALLS = 256, CACHE, DEBUG_DIR };
    static const struct option long_options[] = {
        {"calls", no_argument, NULL, CALLS},
        {"cache", no_argument, NULL, CACHE},
        {"debug-dir", required_argument, NULL, DEBUG_DIR},
        {"help", no_argument, NULL, 'h'},
        {"version", no_argument, NULL, 'V'},
        {0},
    };
    struct options options = {.analysis = {.debug_directory = DEFAULT_DEBUG_DIRECTORY}};
    opterr = 0;
    for (int c; (c = getopt_long(argc, argv, ":o:j:hV", long_options, NULL)) != -1;) {
        switch (c) {
        case 'o': options.output = optarg; break;
        case 'j': options.analysis.workers = parse_workers(optarg); break;
        case CALLS: options.analysis.with_calls = true; break;
        case CACHE: options.cache = true; break;
        case DEBUG_DIR: options.analysis.debug_directory = optarg; break;
        case 'h': print_and_exit(help); break;
        case 'V': print_and_exit("hpcstruct " VERSION "\n"); break;
        case ':': diag_usage("%s needs a value", argv[optind - 1]);
        default: diag_usage("unknown option %s", argv[optind - 1]);
        }
    }
    if (optind == argc)
        diag_usage("which binary?");
    if (optind + 1 < argc)
        diag_usage("%s: one binary at a time", argv[optind + 1]);
    options.input = argv[optind];
    if (options.analysis.workers == 0)
        options.analysis.workers = parallel_default_workers();
    return options;
}

static void write_structure(const struct options *options)
{
    struct binary binary;
    if (!binary_open(&binary, options->input, &options->analysis))
        return;
    if (options->output && strcmp(options->output, "-") == 0) {
        if (!binary_analyze(&binary, &options->analysis, stdout))
            diag_error("standard output", "%s", strerror(errno));
    } else {
        char *by_name = mem_printf("%s.hpcstruct", path_base(options->input));
        binary_write(&binary, &options->analysis, options->output ? options->output : by_name);
        free(by_name);
    }
    binary_close(&binary);
}

static void use_cache(const struct options *options)
{
    char *path = cached_structure(options->input, &options->analysis);
    if (path) {
        puts(path);
        if (fflush(stdout) != 0)
            diag_error("standard output", "%s", strerror(errno));
    }
    free(path);
}

static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

int main(int argc, char **argv)
{
    diag_init("hpcstruct");
    struct options options = parse(argc, argv);
    if (options.cache && (options.output || options.analysis.with_calls))
        diag_usage("--cache goes with neither -o nor --calls");
    if (is_directory(options.input))
        directory_structures(options.input, &options.analysis);
    else if (options.cache)
        use_cache(&options);
    else
        write_structure(&options);
    return diag_exit_status();
}
