#include "viewer-tui/options.h"

#include "lib/diag.h"
#include "lib/version.h"
#include "viewer-tui/compare/comparison-names.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: hpcviewer [--physical] [--metrics A,B | --kinds] [--sort METRIC] DB [DB2]\n"
    "       hpcviewer --print VIEW [options] DB [DB2]\n"
    "\n"
    "Shows a database made by hpcprof, or any HPCToolkit database of version 4. DB may also be a\n"
    "measurement directory: hpcprof is run first. Without --print the terminal viewer opens; press ?\n"
    "in it for its keys. Two databases are compared: one tree of both, with what either has of each\n"
    "metric, the difference and the ratio, the largest difference first.\n"
    "\n"
    "Views:\n"
    "  top-down     calling contexts: who calls whom, with loops, inlined code and statements\n"
    "  bottom-up    procedures, and below each who called it\n"
    "  flat         modules, files, procedures, inlined code and loops, statements\n"
    "  threads      what each thread cost; sum, min, mean and max\n"
    "  summary      processes, samples and what became of them, metrics, advice, problems\n"
    "\n"
    "Options:\n"
    "  --print VIEW       print a view\n"
    "  --physical         calls as the machine made them (DB/physical), not as the program is written\n"
    "  --format FORMAT    text (default), csv, json; of the trees also what shows stacks of procedures\n"
    "                     with what is sorted by, in bottom-up with the innermost procedure first:\n"
    "      folded         lines \"a;b;c VALUE\", times in whole nanoseconds; of two databases a value\n"
    "                     of each\n"
    "      flamegraph     a page for browsers, complete in one file: point, click to zoom, search;\n"
    "                     of two databases the widths are the second one's, and red is what it has more\n"
    "      speedscope     JSON for speedscope.app\n"
    "      pprof          a profile for pprof, with all metrics shown; binary\n"
    "  --output FILE      write to FILE instead of standard output\n"
    "  --sort METRIC      put what has most of it first; METRIC:inclusive or METRIC:exclusive.\n"
    "                     Default: the first metric; inclusive, in bottom-up exclusive. Threads are\n"
    "                     sorted only if this is given\n"
    "  --metrics A,B      show these metrics, in this order; default: all, of databases without\n"
    "                     run.json those that are not zero; text shows those that fit\n"
    "  --kinds            show overhead and how much of it is of each kind, as overhead:spawn, in\n"
    "                     place of the usual metrics; --metrics and --sort know these names, too\n"
    "  --names A,B        of two databases: what they are called; default: what their paths differ in\n"
    "  --scaling KIND     of two databases, the second one with more workers: show as loss what it costs\n"
    "                     more than expected, in percent of all that it costs. KIND is strong (the same\n"
    "                     problem) or weak (a problem that grows with the number of workers). Effort\n"
    "                     comes first\n"
    "  --workers P,Q      the numbers of workers, for weak; default: as the databases say, or the\n"
    "                     numbers of threads\n"
    "  --of REGEX         print threads: of the one procedure whose name the extended regular expression\n"
    "                     matches what is sorted by, and how evenly it is spread; inclusive unless\n"
    "                     --sort says otherwise\n"
    "  --fold-inlined     count inlined code, with its loops and lines, in the procedure that contains\n"
    "                     it, at the line where it is inlined\n"
    "  --program NAME     values are sums over the threads of one program, of several in the database\n"
    "                     (make, cc1, ...), which NAME or the path of its executable names\n"
    "  --threads REGEX    values are sums over the threads that the extended regular expression matches,\n"
    "                     as in \"4 threads\" of the viewer: NAME PID/TID, in parallel jobs\n"
    "                     rank R on HOST: NAME PID/TID; not for the summary\n"
    "  --derive 'NAME = FORMULA'\n"
    "                     add a metric that is computed: in FORMULA $work is what a scope has of the\n"
    "                     metric work, @work what the whole program has; see Derived metrics below\n"
    "  --filter REGEX     of the trees only scopes whose name or place the extended regular expression\n"
    "                     matches, and those above them; name:REGEX, file:REGEX, module:REGEX look at\n"
    "                     these alone. --filter '!REGEX' leaves out what matches, and can be given\n"
    "                     several times: what is below takes its place. As & of the viewer\n"
    "  --depth N          N levels below the whole program; default: all, in bottom-up 10 levels of\n"
    "                     callers\n"
    "  --min-percent P    leave out scopes with less than P percent, as % of the viewer: of what is\n"
    "                     sorted by (its inclusive part, except in bottom-up), of effort where that is\n"
    "                     what percentages are of. Default 0, of what is sorted by itself in text 0.5,\n"
    "                     in flamegraph 0.02\n"
    "  -I, --include DIR  search source files that the database has no copy of below DIR, by the longest\n"
    "                     part of their path that exists there\n"
    "  -R, --replace OLD=NEW\n"
    "                     where the path of such a file begins with OLD, look under NEW\n"
    "  --columns A,B      the columns that the viewer begins with, of one database: as\n"
    "                     work:inclusive,work:exclusive+4, 4 wider than usual; S in its list of columns\n"
    "                     (C) makes them, the numbers and bars the user's defaults\n"
    "  --numbers KIND     what t in the viewer chooses: fit (default), plain, scientific or percent\n"
    "  --bars             bars in place of percentages, as b in the viewer\n"
    "  --no-mouse         leave the mouse to the terminal, for selecting text\n"
    "  --no-config        do not read the user's defaults, hpctoolkit/hpcviewer.conf below\n"
    "                     $XDG_CONFIG_HOME or ~/.config\n"
    "  --help, --version\n"
    "\n"
    "Inclusive costs of a scope are those of everything below it, exclusive ones its own: of a\n"
    "procedure without what it calls and what is inlined into it, of a loop without loops in it.\n"
    "Recursion is counted once. \"-\" stands for what was not measured, \">= x\" for a lower bound.\n"
    "\n"
    "Effort is the sum of work, overhead and idleness, what the workers of a parallel program could\n"
    "have done. It is there where idleness or overhead was measured. The percentages of the four are\n"
    "then of the whole program's effort (csv, json: percent_of_effort), those of others of their own\n"
    "total. Kinds are parts of overhead, told apart by the tags in the runtime's source.\n"
    "Incomplete is the time in which not every worker had work; --metrics or --sort shows it. The\n"
    "advice says what would make the run faster, and by how much at most; idleness and overhead are\n"
    "fine where both take less than 10 percent of the effort. Of two databases\n"
    "it tells what got worse or better by one percent, if chance does not explain it, and where.\n"
    "\n"
    "Derived metrics: numbers, + - * / ^ ( ), < <= > >= == != (1 or 0), abs sqrt exp log, min max,\n"
    "if(CONDITION,A,B); $NAME, $N for the Nth metric shown, $\"NAME WITH BLANKS\"; $NAME:exclusive or\n"
    ":inclusive where it should not be the part of the column; thread_max($NAME), and thread_min,\n"
    "thread_mean, thread_stddev, over the threads. NAME [UNIT] = FORMULA says a unit. What divides by\n"
    "zero is not defined: \"-\". Percentages are of the program's own value, where values add up: of\n"
    "sums, not of ratios.\n"
    "\n"
    "Exit status: 0; 1 if the database is damaged or missing, or the output cannot be written; 2 if the\n"
    "command line is wrong.\n";

enum long_option {
    OPTION_PRINT = 256,
    OPTION_PHYSICAL,
    OPTION_FORMAT,
    OPTION_OUTPUT,
    OPTION_SORT,
    OPTION_METRICS,
    OPTION_KINDS,
    OPTION_NAMES,
    OPTION_SCALING,
    OPTION_WORKERS,
    OPTION_OF,
    OPTION_THREADS,
    OPTION_PROGRAM,
    OPTION_FOLD_INLINED,
    OPTION_DERIVE,
    OPTION_FILTER,
    OPTION_DEPTH,
    OPTION_MIN_PERCENT,
    OPTION_COLUMNS,
    OPTION_NUMBERS,
    OPTION_BARS,
    OPTION_NO_MOUSE,
    OPTION_NO_CONFIG,
    OPTION_HELP,
    OPTION_VERSION
};

static const struct option long_options[] = {
    {"print", required_argument, NULL, OPTION_PRINT},
    {"physical", no_argument, NULL, OPTION_PHYSICAL},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"output", required_argument, NULL, OPTION_OUTPUT},
    {"sort", required_argument, NULL, OPTION_SORT},
    {"metrics", required_argument, NULL, OPTION_METRICS},
    {"derive", required_argument, NULL, OPTION_DERIVE},
    {"kinds", no_argument, NULL, OPTION_KINDS},
    {"names", required_argument, NULL, OPTION_NAMES},
    {"scaling", required_argument, NULL, OPTION_SCALING},
    {"workers", required_argument, NULL, OPTION_WORKERS},
    {"of", required_argument, NULL, OPTION_OF},
    {"threads", required_argument, NULL, OPTION_THREADS},
    {"program", required_argument, NULL, OPTION_PROGRAM},
    {"fold-inlined", no_argument, NULL, OPTION_FOLD_INLINED},
    {"filter", required_argument, NULL, OPTION_FILTER},
    {"depth", required_argument, NULL, OPTION_DEPTH},
    {"min-percent", required_argument, NULL, OPTION_MIN_PERCENT},
    {"include", required_argument, NULL, 'I'},
    {"replace", required_argument, NULL, 'R'},
    {"columns", required_argument, NULL, OPTION_COLUMNS},
    {"numbers", required_argument, NULL, OPTION_NUMBERS},
    {"bars", no_argument, NULL, OPTION_BARS},
    {"no-mouse", no_argument, NULL, OPTION_NO_MOUSE},
    {"no-config", no_argument, NULL, OPTION_NO_CONFIG},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

static int printed_named(const char *name)
{
    if (strcmp(name, "threads") == 0)
        return PRINT_THREADS;
    if (strcmp(name, "summary") == 0)
        return PRINT_SUMMARY;
    enum view_id id = view_id_named(name);
    if (id == VIEWS)
        diag_usage("no view '%s'; there are top-down, bottom-up, flat, threads, summary", name);
    return id;
}

static uint32_t depth_in(const char *text)
{
    char *end;
    long long depth = strtoll(text, &end, 10);
    if (*end || end == text || depth < 1)
        diag_usage("--depth wants a whole number from 1, not '%s'", text);
    return depth < NO_DEPTH_LIMIT ? (uint32_t)depth : NO_DEPTH_LIMIT;
}

static double percent_in(const char *text)
{
    char *end;
    double percent = strtod(text, &end);
    if (*end || end == text || !(percent >= 0 && percent <= 100))
        diag_usage("--min-percent wants a number from 0 to 100, not '%s'", text);
    return percent;
}

static enum cell_units units_in(const char *text)
{
    enum cell_units units = cell_units_of_key(text);
    if (units == CELL_UNITS)
        diag_usage("--numbers is fit, plain, scientific or percent, not '%s'", text);
    return units;
}

static enum scaling scaling_in(const char *text)
{
    if (strcmp(text, "strong") == 0)
        return STRONG_SCALING;
    if (strcmp(text, "weak") != 0)
        diag_usage("--scaling is strong or weak, not '%s'", text);
    return WEAK_SCALING;
}

/* Understands "P,Q". */
static void take_workers(double workers[SIDES], const char *text)
{
    const char *at = text;
    for (int side = 0; side < SIDES; side++) {
        char *end;
        workers[side] = strtod(at, &end);
        bool is_number = end > at && isfinite(workers[side]) && workers[side] > 0;
        if (!is_number || *end != (side == 0 ? ',' : '\0'))
            diag_usage("--workers wants two numbers with a comma between them, not '%s'", text);
        at = end + 1;
    }
}

static void take_filter(struct filters *filters, const char *text)
{
    bool is_without = text[0] == '!';
    if (!*text || (is_without && !text[1]))
        diag_usage("--filter wants an expression, not '%s'", text);
    if (!is_without && filters_only(filters))
        diag_usage(
            "--filter: one expression says what is shown; others, which begin with '!', what "
            "is not");
    if (filters_match(filters, text)->pattern->is_broken)
        diag_usage("--filter: no regular expression: '%s'", text);
}

static void finish(const char *text)
{
    fputs(text, stdout);
    exit(fflush(stdout) == 0 ? 0 : 1);
}

static enum format format_in(const char *text)
{
    enum format format = format_named(text);
    if (format == FORMATS)
        diag_usage(
            "no format '%s'; there are text, csv, json, folded, flamegraph, speedscope, pprof",
            text);
    return format;
}

/* Options that say something only together with others. */
struct given {
    bool format, depth, min_percent, no_config;
    bool columns, numbers, bars; /* which is then not taken from the user's defaults */
    const char *names;           /* NULL */
};

static void take_option(struct options *options, int option, struct given *given)
{
    switch (option) {
    case OPTION_PRINT: options->printed = printed_named(optarg); break;
    case OPTION_PHYSICAL: options->print.projection = PHYSICAL; break;
    case OPTION_FORMAT:
        options->print.format = format_in(optarg);
        given->format = true;
        break;
    case OPTION_OUTPUT: options->output = optarg; break;
    case OPTION_SORT: options->print.sort = optarg; break;
    case OPTION_METRICS: options->metrics = optarg; break;
    case OPTION_NAMES: given->names = optarg; break;
    case OPTION_SCALING: options->comparison.scaling = scaling_in(optarg); break;
    case OPTION_WORKERS: take_workers(options->comparison.workers, optarg); break;
    case OPTION_DERIVE: vec_push(&options->definitions, optarg); break;
    case OPTION_KINDS: options->by_kind = true; break;
    case OPTION_OF: options->print.of = optarg; break;
    case OPTION_THREADS: options->threads = optarg; break;
    case OPTION_PROGRAM: options->program = optarg; break;
    case OPTION_FOLD_INLINED: options->folds_inlined = true; break;
    case OPTION_FILTER: take_filter(&options->filters, optarg); break;
    case OPTION_DEPTH:
        options->print.depth = depth_in(optarg);
        given->depth = true;
        break;
    case OPTION_MIN_PERCENT:
        options->print.min_percent = percent_in(optarg);
        given->min_percent = true;
        break;
    case 'I': path_add_search(&options->rules, optarg); break;
    case 'R':
        if (!path_add_replacement(&options->rules, optarg))
            diag_usage("-R takes OLD=NEW, not '%s'", optarg);
        break;
    case OPTION_COLUMNS:
        options->columns = optarg;
        given->columns = true;
        break;
    case OPTION_NUMBERS:
        options->units = units_in(optarg);
        given->numbers = true;
        break;
    case OPTION_BARS:
        options->has_bars = true;
        given->bars = true;
        break;
    case OPTION_NO_MOUSE: options->no_mouse = true; break;
    case OPTION_NO_CONFIG: given->no_config = true; break;
    case OPTION_HELP: finish(help); break;
    case OPTION_VERSION: finish("hpcviewer " HPCTOOLKIT_VERSION "\n"); break;
    }
}

static void check_combination(const struct options *options, const struct given *given)
{
    if (options->metrics && options->by_kind)
        diag_usage("--metrics and --kinds exclude each other; --metrics can name kinds");
    if (options->threads && options->paths[1])
        diag_usage("--threads: only of one database, not of two that are compared");
    if (options->program && options->paths[1])
        diag_usage("--program: only of one database, not of two that are compared");
    if (options->program && options->threads)
        diag_usage("--program and --threads exclude each other");
    if (options->program && options->printed == PRINT_SUMMARY)
        diag_usage("--program: the summary is of the whole run; print another view");
    if (given->columns && options->paths[1])
        diag_usage("--columns: only of one database, not of two that are compared");
    if (options->print.of && options->printed != PRINT_THREADS)
        diag_usage("--of goes with --print threads");
    if (options->threads && options->printed == PRINT_SUMMARY)
        diag_usage("--threads: the summary is of the whole run; print another view");
    bool is_tree = options->printed < VIEWS;
    if (filters_n(&options->filters) && options->printed != PRINT_NOTHING && !is_tree)
        diag_usage("--filter is of trees: print top-down, bottom-up or flat");
    if (options->printed != PRINT_NOTHING && (given->columns || given->numbers || given->bars))
        diag_usage("--columns, --numbers and --bars are of the viewer, not of --print");
    if (options->printed == PRINT_NOTHING) {
        if (given->format || given->depth || given->min_percent || options->output)
            diag_usage("--format, --output, --depth and --min-percent go with --print");
    } else if (options->print.format >= FORMAT_FOLDED && !is_tree) {
        diag_usage("folded stacks and the like are of trees: print top-down, bottom-up or flat");
    } else if (options->print.format == FORMAT_PPROF && !options->output && isatty(STDOUT_FILENO)) {
        diag_usage("pprof is binary, and standard output is a terminal: use --output FILE");
    }
}

/* What the databases are called that are compared; and whether the options for that fit. */
static void take_names(struct options *options, const char *list)
{
    const struct comparison_options *comparison = &options->comparison;
    if (!options->paths[1] && (list || comparison->scaling || comparison->workers[0]))
        diag_usage("--names, --scaling and --workers go with two databases");
    if (comparison->workers[0] && comparison->scaling != WEAK_SCALING)
        diag_usage("--workers goes with --scaling weak: a strong one is the same for any numbers");
    if (list && !comparison_names_in(list, options->comparison.names))
        diag_usage("--names wants two different names with a comma between them, not '%s'", list);
    if (!list && options->paths[1])
        comparison_names_of_paths(options->paths, options->comparison.names);
}

static void check_comparison(const struct options *options)
{
    if (options->printed == PRINT_THREADS)
        diag_usage("a thread of one run is none of another: print threads of each database, or see "
                   "them side by side in the viewer (4)");
    if (options->print.format >= FORMAT_SPEEDSCOPE)
        diag_usage("speedscope and pprof files are of one database: write one of each, or compare "
                   "as flamegraph, folded, text, csv or json");
}

static const struct option *option_named(const char *name)
{
    for (const struct option *option = long_options; option->name; option++)
        if (strcmp(option->name, name) == 0)
            return option;
    return NULL;
}

/* A default of the user's, which is named as the option; NULL, or what is wrong with it. */
static const char *take_setting(struct options *options, const struct given *given,
                                const struct setting *setting)
{
    const struct option *option = option_named(setting->name);
    if (!option)
        return "there is no such option";
    if (option->has_arg && (!setting->value || !*setting->value))
        return "it wants a value";
    if (!option->has_arg && setting->value)
        return "it takes no value";
    switch (option->val) {
    case OPTION_METRICS: options->usual_metrics = setting->value; break;
    case OPTION_SORT: options->usual_sort = setting->value; break;
    case OPTION_PHYSICAL: options->usually_physical = true; break;
    case OPTION_NO_MOUSE: options->no_mouse = true; break;
    case OPTION_FOLD_INLINED: options->folds_inlined = true; break;
    case OPTION_COLUMNS:
        options->columns = given->columns ? options->columns : setting->value;
        break;
    case OPTION_BARS: options->has_bars = true; break;
    case OPTION_NUMBERS:
        if (cell_units_of_key(setting->value) == CELL_UNITS)
            return "it is fit, plain, scientific or percent";
        options->units = given->numbers ? options->units : cell_units_of_key(setting->value);
        break;
    case 'I': path_add_search(&options->rules, setting->value); break;
    case 'R':
        if (!path_add_replacement(&options->rules, setting->value))
            return "it wants OLD=NEW";
        break;
    default: return "it is for the command line only";
    }
    return NULL;
}

static void take_settings(struct options *options, const struct given *given)
{
    struct config *config = &options->config;
    config_read(config);
    for (size_t i = 0; i < config->settings.n; i++) {
        const char *why = take_setting(options, given, &config->settings.at[i]);
        if (why)
            config_refuse(config, &config->settings.at[i], why);
    }
}

struct options options_read(int argc, char **argv)
{
    struct options options = {.printed = PRINT_NOTHING, .print = {.min_percent = -1}};
    struct given given = {0};
    int option;
    opterr = 0;
    while ((option = getopt_long(argc, argv, ":I:R:", long_options, NULL)) != -1) {
        if (option == '?')
            diag_usage("no option '%s', or not with a value", argv[optind - 1]);
        if (option == ':')
            diag_usage("'%s' wants a value", argv[optind - 1]);
        take_option(&options, option, &given);
    }
    if (optind == argc)
        diag_usage("no database given");
    if (argc - optind > SIDES)
        diag_usage("more than two databases given");
    for (int side = 0; optind + side < argc; side++)
        options.paths[side] = argv[optind + side];
    if (!given.no_config)
        take_settings(&options, &given);
    check_combination(&options, &given);
    take_names(&options, given.names);
    if (options.paths[1])
        check_comparison(&options);
    return options;
}
