#include "viewer-tui/options.h"

#include "lib/diag.h"
#include "lib/option-table.h"
#include "viewer-tui/compare/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Indexes of rows[], in the order of --help. The words that --format offers are in the order of enum format. */
enum {
    PRINT, FORMAT, OUTPUT, SORT, METRICS, KINDS, DERIVE, PHYSICAL_CALLS, FOLD_INLINED, COLLAPSE, KERNEL, FILTER,
    DEPTH, MIN_PERCENT, PROGRAM, THREADS, FROM, TO, PHASE, DURING, WHAT_IF, COMPARE, FAIL_IF, NAMES,
    INCLUDE, REPLACE, OWN, COLUMNS, BARS, NO_MOUSE, CLOSED, NO_CONFIG, OPTIONS
};

static struct option_row rows[OPTIONS] = {
    [PRINT] = {NULL, "print", "VIEW", NULL, /* the words of printed_pages */
               "top-down, bottom-up, flat, threads, summary, ...",
               "Print a view: `top-down`, `bottom-up`, `flat`, `threads`, `summary` or `timeline`, see Views; or `scaling` or "
               "`losses` of a set of runs, see Sets of runs."},
    [FORMAT] = {NULL, "format", "FORMAT", "text csv json folded flamegraph speedscope pprof svg chrome markdown",
                "text,csv,json,folded,flamegraph,speedscope,pprof,...",
                "Format of `--print`: `text` (the default), `csv`, `json`, `folded`, `flamegraph`, `speedscope`, "
                "`pprof`, `svg`, for the time line `chrome`, and for the summary of a comparison `markdown`. "
                "See Formats."},
    [OUTPUT] = {NULL, "output", "FILE", "@file", "print to FILE",
                "Print to FILE instead of standard output. An existing file is overwritten."},
    [SORT] = {NULL, "sort", "METRIC", NULL, "largest METRIC first; also METRIC:exclusive",
              "Put the rows with the largest METRIC first. `METRIC:inclusive` or `METRIC:exclusive` chooses the "
              "column. Default: the first metric; inclusive, in bottom-up exclusive. Threads are sorted only if "
              "this is given."},
    [METRICS] = {NULL, "metrics", "A,B", NULL, "show these metrics, in this order",
                 "Show these metrics, in this order. Default: all; for databases without `run.json`, those that are "
                 "not zero. Text shows as many as fit. `work:inclusive` and `work:exclusive` show one of the two "
                 "columns. If the database has no metric `work`, that name stands for the `work (EVENT)` of all "
                 "events."},
    [KINDS] = {NULL, "kinds", NULL, NULL, "show overhead by kind (key o)",
               "Show overhead and its kinds (`overhead:spawn`, ...) in place of the usual metrics, as the key `o` "
               "in the viewer. `--metrics` and `--sort` know the names of kinds, too."},
    [DERIVE] = {NULL, "derive", "FORMULA", NULL, "add a metric, 'NAME = FORMULA' (key d)",
                "Add the metric `NAME = FORMULA`, as the key `d` in the viewer. Can be given several "
                "times; `--metrics`, `--sort` and later formulas know the name. Its columns come last. See Derived "
                "metrics."},
    [PHYSICAL_CALLS] = {NULL, "physical", NULL, NULL, "show calls as the machine made them (key p)",
                        "Show the calls as the machine made them, not as the program is written."},
    [FOLD_INLINED] = {NULL, "fold-inlined", NULL, NULL, "count inlined code where it is inlined (key I)",
                      "Count inlined code, with its loops and lines, in the procedure that contains it, at the line "
                      "where it is inlined. What it calls is called from that line. The key `I` in the viewer "
                      "switches this on and off."},
    [COLLAPSE] = {NULL, "collapse-recursion", NULL, NULL, "count recursive calls in the outermost one (key R)",
                            "Count a call of a procedure that is on the call path already in the context of its "
                            "outermost call there: `a > b > a > b > c` becomes `a > b > c`, and `a > b > a > d` becomes "
                            "`a > d`. Every sample counts once. See Costs. The key `R` in the viewer switches this "
                            "on and off."},
    [KERNEL] = {NULL, "kernel", NULL, NULL, "show the kernel's procedures (key O)",
                "Show the procedures of the kernel, of runs with `hpcrun --kernel` or from outside. By default they count in "
                "the line of the program that called the kernel or that it interrupted, and the metric `kernel` says how "
                "much that is. The key `O` in the viewer switches this on and off."},
    [FILTER] = {NULL, "filter", "REGEX", NULL, "show only scopes that match; !REGEX hides (key &)",
                "Show only scopes that the extended regular expression matches, and those above them, as the key "
                "`&` in the viewer. It looks at names and places as rows show them; `name:REGEX`, `file:REGEX` and "
                "`module:REGEX` look at these alone. `!REGEX` hides scopes that match; the rows below them take "
                "their place. Expressions with `!` can be given several times. The viewer begins with these filters."},
    [DEPTH] = {NULL, "depth", "N", NULL, "print N levels (default: all, bottom-up 10)",
               "Print N levels below the whole program. Default: all; in bottom-up 10 levels of callers. In a time line: "
              "show procedures at depth N of the call paths. Default: states."},
    [MIN_PERCENT] = {NULL, "min-percent", "P", NULL, "leave out scopes with less than P percent (key %)",
                     "Leave out scopes with less than P percent (0 to 100), as the key `%` in the viewer: percent "
                     "of what rows are sorted by (its inclusive part, except in bottom-up), or of effort where "
                     "percentages are of effort. In the critical path: rows with less than P percent of it. Default: "
                     "0; in text 0.5 and in flame graphs 0.02, of what rows are sorted by."},
    [PROGRAM] = {NULL, "program", "NAME", NULL, "show one program of several (key P)",
                 "Sum the values over the threads of one program, if the database has several (from `hpcrun make`: "
                 "make, cc1, ld). NAME is what the top-down view calls it, or the path of its executable. Not for "
                 "the summary. The key `P` in the viewer lists the programs."},
    [THREADS] = {NULL, "threads", "REGEX", NULL, "show the threads that match (key |)",
                 "Sum the values over the threads that the extended regular expression matches, and leave out rows "
                 "that no such thread ran. It is compared with the names in the view of threads, `NAME PID/TID`, in "
                 "parallel jobs `rank R on HOST: NAME PID/TID`. Case counts only if the expression has upper case. "
                 "Not for the summary, which is about the whole run. The key `|` in the viewer does the same."},
    [FROM] = {NULL, "from", "TIME", NULL, "from 1.2s, 40%, ...; also --to, --phase",
              "Sum the values over the records of the time line after TIME, seconds since the run began (`1.2s`, `1.2`), "
              "`300ms` or a percentage of the run. All views, the summary and the advice are about that piece of time. "
              "See Pieces of time."},
    [TO] = {NULL, "to", "TIME", NULL, NULL, "The same up to TIME. Default: the end."},
    [PHASE] = {NULL, "phase", "N", NULL, NULL,
               "The same for phase N of those that `--print phases` lists."},
    [DURING] = {NULL, "during", "NAME", NULL, "while this region or procedure ran",
                "The same for the time in which the region NAME ran in any thread: one that the program names "
                "(hpctoolkit.h, ITT, NVTX). If none has that name: in which a thread was in a procedure that matches the "
                "extended regular expression NAME, or in what that calls. With `--from`, `--to` or `--phase`: the part "
                "in that piece."},
    [WHAT_IF] = {NULL, "what-if", "CHANGE", NULL, "work and span after 'PROCEDURE 2x' or '... parallel'",
                 "Print the summary, with work, span and speedups as they would be after a change, next to the measured "
                 "ones: `PROCEDURE 2x` makes the own code of a spawned procedure twice as fast (any factor above 0), "
                 "`PROCEDURE parallel` makes it perfectly parallel. Can be given several times; each change is "
                 "made alone. Needs `hpcrun --work-span`. Values marked >= or <= are bounds."},
    [COMPARE] = {NULL, "compare", "A,B,...", NULL, "compare runs A,B,... with those of the next list",
                 "Compare repeated runs: those of the list, databases or measurement directories, with those of a "
                 "second list, which takes the place of DB2. A set of runs stands for all its runs. Costs are means; "
                 "differences have intervals. See Comparing two databases."},
    [FAIL_IF] = {NULL, "fail-if", "LIMIT", NULL, "status 3 beyond 'wall +5%' or 'work:parse +9%'",
                 "With `--compare`: end with status 3 if a change is beyond the limit, with its whole interval of 99.9 %. "
                 "LIMIT is `wall +5%`, `cpu +5%`, `METRIC +5%` or `METRIC:PROCEDURE +5%`. Can be given several times. "
                 "One line for each says the change, and names the procedures that grew. Prints the summary unless "
                 "`--print` asks for something else."},
    [NAMES] = {NULL, "names", "A,B", NULL, "names of two databases",
               "Names of two databases. Default: the parts in which their paths differ."},
    [INCLUDE] = {"I", "include", "DIR", "@directory", "search source files below DIR (repeatable)",
                 "Search source files of which the database has no copy below DIR, by the longest part of their "
                 "path that exists there. Can be given several times."},
    [REPLACE] = {"R", "replace", "OLD=NEW", NULL, "look under NEW for paths that begin with OLD",
                 "If the path of such a file begins with OLD, look under NEW."},
    [OWN] = {NULL, "own", "DIR", "@directory", "code below DIR is your own; !DIR: it is not",
             "Source files and binaries below DIR are your own code, or with `!DIR` are not. Can be given several "
             "times; the longest DIR decides. See Your own code."},
    [COLUMNS] = {NULL, "columns", "A,B", NULL, "columns of costs: work:inclusive,work:exclusive",
                 "The columns with which the viewer begins, or which a printed tree has, for one database: "
                 "`METRIC:inclusive` or "
                 "`METRIC:exclusive`. Other columns are hidden."},
    [BARS] = {NULL, "bars", NULL, NULL, "bars in place of percentages (key b)",
              "Show bars in place of percentages, as the key `b` in the viewer."},
    [NO_MOUSE] = {NULL, "no-mouse", NULL, NULL, "leave the mouse to the terminal",
                  "Leave the mouse to the terminal, for selecting text. Most terminals also do that while Shift is "
                  "held."},
    [CLOSED] = {NULL, "closed", NULL, NULL, "begin with the tree closed",
                "Open the viewer with the tree closed and without a line of advice. Default: the tree is open along "
                "the hot path."},
    [NO_CONFIG] = {NULL, "no-config", NULL, NULL, "do not read the user's defaults",
                   "Do not read the user's defaults. See FILES."},
};

static const struct option_table table = {
    .tool = "hpcviewer",
    .before = "usage: hpcviewer [options] [DB [DB2]]  viewer (? lists keys), or prints a view\n"
              "DB: database, measurement directory or set of runs; default: the one here\n"
              "\n",
    .after = "",
    .rows = rows,
    .n = OPTIONS,
};

/* The index of a value among the words that the option offers. */
static int word_of(size_t option, const char *what, const char *value)
{
    autofree struct text words = {0};
    int index = 0;
    for (const char *at = rows[option].completion; *at; at += strspn(at, " "), index++) {
        size_t length = strcspn(at, " ");
        if (strlen(value) == length && strncmp(at, value, length) == 0)
            return index;
        text_printf(&words, "%s%.*s", index ? ", " : "", (int)length, at);
        at += length;
    }
    diag_usage("no %s '%s'; there are %s", what, value, text_string(&words));
}

/* The number that an option has as its value; a whole one from 1 on unless it may be a fraction. */
static double number_in(const char *text, double most, bool may_be_fraction, const char *what_it_takes)
{
    char *end;
    double number = strtod(text, &end);
    bool is_right = may_be_fraction ? number >= 0 : number >= 1 && number == floor(number);
    if (*end || end == text || !is_right || number > most)
        diag_usage("%s, not '%s'", what_it_takes, text);
    return number;
}

static void take_filter(struct filters *filters, const char *text)
{
    bool is_without = text[0] == '!';
    if (!*text || (is_without && !text[1]))
        diag_usage("--filter needs an expression, not '%s'", text);
    if (!is_without && filters_only(filters))
        diag_usage("--filter: only one expression can say what is shown; those that hide begin with '!'");
    if (filters_match(filters, text)->pattern->is_broken)
        diag_usage("--filter: invalid regular expression: '%s'", text);
}

/* The command line while it is read. */
struct command_line {
    struct options options;
    bool given[OPTIONS]; /* which options it has */
    const char *names;   /* value of --names; NULL: not given */
};

static void take_time(struct asked_time *time, const char *option, const char *text)
{
    if (!asked_time_read(text, time))
        diag_usage("--%s takes a time such as 1.2s, 300ms or 40%%, not '%s'", option, text);
}

static void take_option(void *target, size_t option, const char *value)
{
    struct command_line *line = target;
    struct options *options = &line->options;
    struct speed_change change;
    struct limit limit;
    line->given[option] = true;
    switch (option) {
    case PRINT: options->printed = (enum printed)word_of(option, "view", value); break;
    case FORMAT: options->print.format = (enum format)word_of(option, "format", value); break;
    case OUTPUT: options->output = value; break;
    case SORT: options->print.sort = value; break;
    case METRICS: options->metrics = value; break;
    case KINDS: options->by_kind = true; break;
    case DERIVE: vec_push(&options->definitions, value); break;
    case PHYSICAL_CALLS: options->print.projection = PHYSICAL; break;
    case FOLD_INLINED: options->folds.inlined = true; break;
    case COLLAPSE: options->folds.recursion = true; break;
    case KERNEL: options->folds.kernel = false; break;
    case FILTER: take_filter(&options->filters, value); break;
    case DEPTH:
        options->print.depth = (uint32_t)fmin(
            number_in(value, INFINITY, false, "--depth takes a whole number from 1"), NO_DEPTH_LIMIT);
        break;
    case MIN_PERCENT:
        options->print.min_percent = number_in(value, 100, true, "--min-percent takes a number from 0 to 100");
        break;
    case PROGRAM: options->program = value; break;
    case THREADS: options->threads = value; break;
    case FROM: take_time(&options->range.from, "from", value); break;
    case TO: take_time(&options->range.to, "to", value); break;
    case PHASE:
        options->range.phase = (unsigned)number_in(value, 1000, false, "--phase takes the number of a phase from 1");
        break;
    case DURING:
        if (!asked_range_name(value, &options->range))
            diag_usage("--during takes the name of a region or procedure, of 1 to %zu bytes",
                       sizeof options->range.during - 1);
        break;
    case WHAT_IF:
        if (!speed_change_read(value, &change))
            diag_usage("--what-if takes 'PROCEDURE parallel' or 'PROCEDURE 2x' (a number above 0), not '%s'", value);
        vec_push(&options->changes, change);
        break;
    case COMPARE:
        if (!*value)
            diag_usage("--compare needs a list of runs");
        options->paths[0] = value;
        options->compares_lists = true;
        break;
    case FAIL_IF:
        if (!limit_read(value, &limit))
            diag_usage("--fail-if takes 'wall +5%%', 'METRIC +5%%' or 'METRIC:PROCEDURE +5%%', not '%s'", value);
        vec_push(&options->limits, limit);
        break;
    case NAMES: line->names = value; break;
    case INCLUDE: path_add_search(&options->rules, value); break;
    case REPLACE:
        if (!path_add_replacement(&options->rules, value))
            diag_usage("-R takes OLD=NEW, not '%s'", value);
        break;
    case OWN: path_add_own(&options->rules, value); break;
    case COLUMNS: options->columns = options->print.columns = value; break;
    case BARS: options->has_bars = options->print.has_bars = true; break;
    case NO_MOUSE: options->no_mouse = true; break;
    case CLOSED: options->starts_closed = true; break;
    }
}

/* Adds the word of an option at an index. */
static void add_word(struct text *words, size_t option, int index)
{
    const char *at = rows[option].completion;
    for (; index > 0; index--)
        at += strcspn(at, " ") + 1;
    text_printf(words, "%s%.*s", words->n ? ", " : "", (int)strcspn(at, " "), at);
}

/* Ends with the pages that have the chosen format, and the formats that the page has, if it is none of them. */
static void check_format(const struct options *options)
{
    struct text name = {0}, pages = {0}, formats = {0};
    const struct printed_page *printed = &printed_pages[options->printed];
    int chosen = (int)options->print.format;
    if (printed->formats >> chosen & 1)
        return;
    add_word(&name, FORMAT, chosen);
    for (int page = 0; page < PRINTED; page++)
        if (printed_pages[page].formats >> chosen & 1)
            add_word(&pages, PRINT, page);
    for (int format = 0; format < FORMATS; format++)
        if (printed->formats >> format & 1)
            add_word(&formats, FORMAT, format);
    diag_usage("--format %s is for %s; %s can be printed as %s", text_string(&name), text_string(&pages), printed->word,
               text_string(&formats));
}

/* Ends with the pages that an option is for if it does nothing for the chosen one. */
static void check_page_options(const struct options *options, const bool given[OPTIONS])
{
    static const unsigned char takes[OPTIONS] = {
        [SORT] = TAKES_SORT,         [METRICS] = TAKES_METRICS,    [KINDS] = TAKES_METRICS,
        [DERIVE] = TAKES_METRICS,    [PHYSICAL_CALLS] = TAKES_CALLS, [FOLD_INLINED] = TAKES_FOLDS,
        [COLLAPSE] = TAKES_FOLDS,    [KERNEL] = TAKES_FOLDS,       [DEPTH] = TAKES_DEPTH,
        [MIN_PERCENT] = TAKES_PERCENT};
    const struct printed_page *printed = &printed_pages[options->printed];
    unsigned taken = printed->takes;
    if (options->printed == PRINT_SUMMARY && options->paths[1])
        taken |= TAKES_SORT; /* of a comparison */
    for (size_t option = 0; option < OPTIONS; option++) {
        autofree struct text pages = {0};
        for (int page = 0; page < PRINTED; page++)
            if (printed_pages[page].takes & takes[option])
                add_word(&pages, PRINT, page);
        if (given[option] && takes[option] & ~taken)
            diag_usage("--%s is for %s; it does nothing for --print %s", rows[option].name, text_string(&pages),
                       printed->word);
    }
}

void options_check_range(const struct options *options, const char *range)
{
    if (options->printed == PRINT_NOTHING)
        return;
    const struct printed_page *page = &printed_pages[options->printed];
    if (page->is_of_set || options->printed == PRINT_PHASES)
        diag_usage("%s: %s; print another view", range, page->whole);
}

/* Ends with the first rule that the options break. */
static void check_combination(const struct options *options, const bool given[OPTIONS])
{
    static const struct printed_page nothing; /* the viewer */
    bool prints = options->printed != PRINT_NOTHING, compares = options->paths[1] != NULL;
    const struct printed_page *page = prints ? &printed_pages[options->printed] : &nothing;
    bool has_range = asked_range_is_given(&options->range), is_tree = page->is_tree;
    bool has_columns = is_tree && options->print.format < FORMAT_FOLDED;
    const struct {
        bool is_broken;
        const char *rule;
    } rules[] = {
        {options->metrics && options->by_kind, "--metrics and --kinds cannot be combined; --metrics can name kinds"},
        {options->threads && compares, "--threads works with one database, not with two that are compared"},
        {options->program && compares, "--program works with one database, not with two that are compared"},
        {options->program && options->threads, "--program and --threads cannot be combined"},
        {has_range && compares, "--from, --to, --phase and --during are of one database; write DB@1.2s:3.4s or "
                                "DB@during:NAME for one of two"},
        {given[PHASE] && (given[FROM] || given[TO]), "--phase has its own begin and end: leave out --from and --to"},
        {given[COLUMNS] && compares, "--columns works with one database, not with two that are compared"},
        {options->changes.n && options->printed != PRINT_SUMMARY,
         "--what-if works with the summary: leave --print out, or print summary"},
        {options->changes.n && compares, "--what-if works with one database, not with two that are compared"},
        {page->is_of_set && (!options->paths[0] || compares), "--print scaling and losses take one set of runs"},
        {page->is_of_set && options->metrics && options->printed == PRINT_LOSSES,
         "--metrics: losses have their own; --sort chooses one of them"},
        {filters_n(&options->filters) && prints && !is_tree,
         "--filter works on trees: print top-down, bottom-up or flat"},
        {prints && (given[COLUMNS] || given[BARS]) && !has_columns,
         "--columns and --bars are for the viewer, and for trees as text, csv or json"},
        {prints && options->print.format == FORMAT_MARKDOWN && !compares,
         "--format markdown is for the summary of a comparison: name two databases"},
        {!prints && (given[FORMAT] || given[DEPTH] || given[MIN_PERCENT] || options->output),
         "--format, --output, --depth and --min-percent need --print"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].is_broken)
            diag_usage("%s", rules[i].rule);
    if ((options->program || options->threads) && page->whole)
        diag_usage("--%s: %s; print another view", options->program ? "program" : "threads", page->whole);
    if (has_range)
        options_check_range(options, "--from, --to, --phase and --during");
    if (prints) {
        check_format(options);
        check_page_options(options, given);
    }
    if (options->print.format == FORMAT_PPROF && !options->output && isatty(STDOUT_FILENO))
        diag_usage("pprof files are binary and standard output is a terminal: use --output FILE");
}

/* Names the two databases by `list` ("A,B", NULL: by their paths), if there are two. */
static void take_names(struct options *options, const char *list)
{
    if (!options->paths[1] && list)
        diag_usage("--names needs two databases");
    if (list && !comparison_names_in(list, options->comparison.names))
        diag_usage("--names takes two different names with a comma between them, not '%s'", list);
    if (!list && options->compares_lists)
        comparison_names_of_lists(options->paths, options->comparison.names);
    else if (!list && options->paths[1])
        comparison_names_of_paths(options->paths, options->comparison.names);
}

/* Takes a default of the user's, a line "OPTION = VALUE" of the configuration file. Returns what is wrong with it, or
 * NULL. */
static const char *take_setting(struct command_line *line, const struct setting *setting)
{
    struct options *options = &line->options;
    if (strcmp(setting->name, "numbers") == 0) /* earlier versions kept it there */
        return NULL;
    size_t option = option_table_find(&table, setting->name);
    if (option == OPTIONS)
        return "there is no such option";
    if (rows[option].value && (!setting->value || !*setting->value))
        return "it needs a value";
    if (!rows[option].value && setting->value)
        return "it takes no value";
    switch (option) {
    case METRICS: options->usual_metrics = setting->value; break;
    case SORT: options->usual_sort = setting->value; break;
    case PHYSICAL_CALLS: options->usually_physical = true; break;
    case COLUMNS: options->columns = line->given[COLUMNS] ? options->columns : setting->value; break;
    case BARS: options->has_bars = true; break;
    case REPLACE: return path_add_replacement(&options->rules, setting->value) ? NULL : "it takes OLD=NEW";
    case NO_MOUSE: options->no_mouse = true; break;
    case CLOSED: options->starts_closed = true; break;
    case FOLD_INLINED: options->folds.inlined = true; break;
    case COLLAPSE: options->folds.recursion = true; break;
    case KERNEL: options->folds.kernel = false; break;
    case INCLUDE: path_add_search(&options->rules, setting->value); break;
    case OWN: path_add_own(&options->rules, setting->value); break;
    default: return "it is for the command line only";
    }
    return NULL;
}

struct options options_read(int argc, char **argv)
{
    struct command_line line = {
        .options = {.printed = PRINT_NOTHING, .print = {.min_percent = -1}, .folds = {.kernel = true}}};
    struct options *options = &line.options;
    struct text pages = {0};
    for (int page = 0; page < PRINTED; page++)
        text_printf(&pages, "%s%s", page ? " " : "", printed_pages[page].word);
    rows[PRINT].completion = pages.at;
    int at = option_table_parse(&table, argc, argv, take_option, &line);
    int n_given = options->compares_lists ? 1 : 0;
    if (argc - at + n_given > SIDES)
        diag_usage("more than two databases given");
    for (int side = n_given; at + side - n_given < argc; side++)
        options->paths[side] = argv[at + side - n_given];
    if (options->compares_lists && (!options->paths[1] || !*options->paths[1]))
        diag_usage("--compare needs a second list of runs after the options");
    if (options->limits.n && !options->compares_lists)
        diag_usage("--fail-if needs --compare with repeated runs");
    if (options->limits.n && !line.given[PRINT])
        options->printed = PRINT_SUMMARY;
    if (!line.given[NO_CONFIG])
        config_read(&options->config);
    for (size_t i = 0; i < options->config.settings.n; i++) {
        const char *why = take_setting(&line, &options->config.settings.at[i]);
        if (why)
            config_refuse(&options->config, &options->config.settings.at[i], why);
    }
    if (options->changes.n && !line.given[PRINT])
        options->printed = PRINT_SUMMARY;
    check_combination(options, line.given);
    take_names(options, line.names);
    if (options->paths[1] && options->printed != PRINT_NOTHING && printed_pages[options->printed].alone)
        diag_usage("%s", printed_pages[options->printed].alone);
    return line.options;
}
