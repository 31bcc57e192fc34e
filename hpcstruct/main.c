#include "hpcstruct/elf/debug-file.h"
#include "hpcstruct/structure/analyze.h"
#include "hpcstruct/structure/cached-structures.h"

#include "lib/diag.h"
#include "lib/option-table.h"
#include "lib/parallel.h"
#include "lib/path.h"
#include "lib/safe-input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Analyzing so much takes 2 s on one CPU: less than a user waits for again and again. */
#define DEFAULT_LARGE_MEGABYTES 64
#define MOST_MEGABYTES          (1u << 30)

enum { OUTPUT, JOBS, IMAGE, CALLS, CACHE, ONLY, LARGE, PROGRESS, DEBUG_DIR, SHOW_GAPS, OPTIONS };

static const struct option_row rows[OPTIONS] = {
    [OUTPUT] = {"o", "output", "FILE", "@file", "write to FILE; - is standard output",
                "Write to FILE; `-` is standard output. Default: the name of the binary with the suffix "
                "`.hpcstruct`, in the current directory."},
    [JOBS] = {"j", "jobs", "N", NULL, "use N threads (default: one for each CPU)",
              "Use N threads. Default: one for each CPU."},
    [IMAGE] = {NULL, "image", NULL, NULL, "write hpcprof's binary form instead of XML",
               "Write an image instead of XML: the binary form of the structure, which hpcprof reads."},
    [CALLS] = {NULL, "calls", NULL, NULL, "list call instructions, too", "List call instructions, too."},
    [CACHE] = {NULL, "cache", NULL, NULL, "put the structure into the cache and print its path",
               "Make sure that the cache holds the structure of the binary, as an image, and print the path of that "
               "file."},
    [ONLY] = {NULL, "only", "FILE", "@file", "only procedures at the addresses in FILE",
              "Recover only the procedures that contain one of the addresses in FILE, hexadecimal numbers, one a "
              "line; `-` is standard input. These procedures are the same as without this option. The others cost "
              "little: their code is decoded, but their debug information is not read. With `--cache`: if the "
              "cache does not have the structure, and the binary is large, print the image of these "
              "procedures in place of a path."},
    [LARGE] = {NULL, "large", "MB", NULL, "what is large for --cache --only (64)",
               "For `--cache --only`: a binary is large if it has more than MB megabytes of code and debug "
               "information. Default: 64."},
    [PROGRESS] = {NULL, "progress", "FD", NULL, "write the progress to descriptor FD (for hpcprof)",
                  "Write the progress to the file descriptor FD every tenth of a second: two 64-bit numbers, the bytes of "
                  "the binary that are done, and all. For hpcprof."},
    [DEBUG_DIR] = {NULL, "debug-dir", "DIR", "@directory", "directory of separate debug files (/usr/lib/debug)",
                   "Directory of separate debug files. Default: `/usr/lib/debug`. If a file is not there, the "
                   "cache of debuginfod is searched (`$DEBUGINFOD_CACHE_PATH`, "
                   "`$XDG_CACHE_HOME/debuginfod_client` or `~/.cache/debuginfod_client`); nothing is downloaded."},
    [SHOW_GAPS] = {NULL, "show-gaps", NULL, NULL, "print what could not be resolved instead",
                   "Print what could not be resolved instead of the structure: a table with the number and size of "
                   "the gaps of each kind, then each gap with its address and procedure. Indirect jumps without a "
                   "jump table, for instance, are tail calls, or switch statements whose loops may be incomplete."},
};

static const struct option_table table = {
    .tool = "hpcstruct",
    .before = "usage: hpcstruct [options] BINARY\n"
              "       hpcstruct [options] MEASUREMENT-DIRECTORY\n"
              "\n"
              "Recovers the structure of a binary: its procedures, the functions inlined into\n"
              "them, their loops and source lines. Writes it as XML to NAME.hpcstruct in the\n"
              "current directory; NAME is that of the binary. For a measurement directory,\n"
              "fills the cache with the structure of all modules that have samples; so does\n"
              "hpcprof.\n"
              "\n",
    .after = "\n"
             "Works also without debug information and on stripped binaries, but finds less.\n"
             "The cache is $XDG_CACHE_HOME/hpctoolkit/structure, or\n"
             "~/.cache/hpctoolkit/structure. Its files may be deleted at any time.\n"
             "\n"
             "Exit status: 0; 1 if something could not be read or written; 2 if the command\n"
             "line is wrong.\n",
    .rows = rows,
    .n = OPTIONS,
};

struct options {
    struct analysis_options analysis;
    const char *output; /* NULL: named after the binary */
    const char *input;
    const char *only;          /* file of addresses; NULL: none */
    struct address_list addresses;
    uint64_t large;            /* bytes */
    bool cache, image;
};

static unsigned parse_workers(const char *text)
{
    char *rest;
    unsigned long workers = strtoul(text, &rest, 10);
    if (*rest || rest == text || text[0] == '-' || workers == 0 || workers > 4096)
        diag_usage("-j: %s: not a number of threads", text);
    return (unsigned)workers;
}

static uint64_t parse_megabytes(const char *text)
{
    char *rest;
    unsigned long size = strtoul(text, &rest, 10);
    if (*rest || rest == text || text[0] == '-' || size > MOST_MEGABYTES)
        diag_usage("--large: %s: not a number of megabytes", text);
    return (uint64_t)size << 20;
}

static int parse_descriptor(const char *text)
{
    char *rest;
    long fd = strtol(text, &rest, 10);
    if (*rest || rest == text || fd < 0 || fd > INT_MAX || fcntl((int)fd, F_GETFD) < 0)
        diag_usage("--progress: %s: not an open file descriptor", text);
    return (int)fd;
}

static void take_option(void *target, size_t option, const char *value)
{
    struct options *options = target;
    switch (option) {
    case OUTPUT: options->output = value; break;
    case JOBS: options->analysis.workers = parse_workers(value); break;
    case IMAGE: options->image = true; break;
    case CALLS: options->analysis.with_calls = true; break;
    case CACHE: options->cache = true; break;
    case ONLY: options->only = value; break;
    case LARGE: options->large = parse_megabytes(value); break;
    case PROGRESS: diag_progress_to(parse_descriptor(value)); break;
    case SHOW_GAPS: options->analysis.what = WRITE_GAPS; break;
    case DEBUG_DIR: options->analysis.debug_directory = value; break;
    }
}

static struct options read_options(int argc, char **argv)
{
    struct options options = {.analysis = {.debug_directory = DEFAULT_DEBUG_DIRECTORY},
                              .large = (uint64_t)DEFAULT_LARGE_MEGABYTES << 20};
    int at = option_table_parse(&table, argc, argv, take_option, &options);
    if (at == argc)
        diag_usage("no binary given");
    if (at + 1 < argc)
        diag_usage("more than one binary given: %s", argv[at + 1]);
    options.input = argv[at];
    if (options.analysis.workers == 0)
        options.analysis.workers = parallel_default_workers();
    return options;
}

/* Reads the addresses of --only. False, after a message, if they cannot be read. */
static bool read_addresses(struct options *options)
{
    autofree char *cause = NULL;
    FILE *file = strcmp(options->only, "-") == 0 ? stdin : input_stream(options->only, &cause);
    uint64_t address;
    int got = 0;
    while (file && (got = fscanf(file, "%" SCNx64, &address)) == 1)
        vec_push(&options->addresses.all, address);
    bool is_read = file && !ferror(file);
    if (!is_read)
        diag_error(options->only, "%s", cause ? cause : strerror(errno));
    else if (got != EOF)
        diag_error(options->only, "line %zu: not a hexadecimal number", options->addresses.all.n + 1);
    if (file)
        fclose(file);
    options->analysis.only = &options->addresses;
    return is_read && got == EOF;
}

static void write_structure(const struct options *options)
{
    struct binary binary;
    if (!binary_open(&binary, options->input, &options->analysis))
        return;
    if (options->analysis.what == WRITE_GAPS || (options->output && strcmp(options->output, "-") == 0)) {
        if (!binary_analyze(&binary, &options->analysis, stdout))
            diag_error("standard output", "%s", strerror(errno));
    } else {
        autofree char *by_name = mem_printf("%s.hpcstruct", path_base(options->input));
        binary_write(&binary, &options->analysis, options->output ? options->output : by_name);
    }
    binary_close(&binary);
}

static void use_cache(const struct options *options)
{
    autofree char *path = cached_structure(options->input, &options->analysis, options->large, stdout);
    if (path) {
        puts(path);
        if (fflush(stdout) != 0)
            diag_error("standard output", "%s", strerror(errno));
    }
}

static bool is_directory(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

int main(int argc, char **argv)
{
    diag_init("hpcstruct");
    struct options options = read_options(argc, argv);
    bool is_gaps = options.analysis.what == WRITE_GAPS;
    if (options.image && !is_gaps)
        options.analysis.what = WRITE_IMAGE;
    if (options.cache && (options.output || options.analysis.with_calls))
        diag_usage("--cache cannot be combined with -o or --calls");
    if (is_gaps && (options.output || options.image || options.cache || options.analysis.with_calls ||
                    options.only))
        diag_usage("--show-gaps cannot be combined with -o, --image, --cache, --calls or --only");
    if ((is_gaps || options.only) && is_directory(options.input))
        diag_usage("--show-gaps and --only need a binary: %s is a directory", options.input);
    if (options.only && !read_addresses(&options))
        return diag_exit_status();
    if (is_directory(options.input))
        cache_measured_modules(options.input, &options.analysis);
    else if (options.cache)
        use_cache(&options);
    else
        write_structure(&options);
    vec_free(&options.addresses.all);
    return diag_exit_status();
}
