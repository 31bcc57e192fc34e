#include "tests/unit/cmocka_suite.h"

#include "lib/diag.h"
#include "lib/option-table.h"

#include <sys/wait.h>
#include <unistd.h>

enum { OUTPUT, LATE, LIST, QUIET, OPTIONS };

static const struct option_row rows[OPTIONS] = {
    [OUTPUT] = {"o", "output", "FILE", "@file", "write to FILE", "Write to FILE, or to `-`."},
    [LATE] = {"ds", "late", NULL, NULL, "start late", NULL},
    [LIST] = {"L", "list", "[all]", NULL, "list", NULL},
    [QUIET] = {NULL, "quiet-and-with-a-long-name", NULL, NULL, "say nothing", NULL},
};

static const struct option_table table = {"tool", "before\n", "after\n", rows, OPTIONS, false};
static const struct option_table command_table = {"tool", "", "", rows, OPTIONS, true};

/* Writes "NAME=VALUE;" for each option that is taken. */
static void note(void *target, size_t option, const char *value)
{
    strcat(strcat(strcat(strcat(target, rows[option].name), "="), value ? value : "none"), ";");
}

#define MAX_ARGUMENTS 16

/* Parses "tool WORD..." and writes what was taken and the operands to `taken`. */
static void parse(const struct option_table *options, const char *words, char *taken)
{
    char *arguments[MAX_ARGUMENTS] = {"tool"}, *text = strdup(words);
    int count = 1, at;
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        arguments[count++] = word;
    taken[0] = '\0';
    optind = 0; /* getopt begins anew */
    at = option_table_parse(options, count, arguments, note, taken);
    for (; at < count; at++)
        strcat(strcat(taken, arguments[at]), " ");
    free(text);
}

static void assert_parsed(const struct option_table *options, const char *words, const char *expected)
{
    char taken[256];
    parse(options, words, taken);
    assert_string_equal(taken, expected);
}

TEST(options_and_operands)
{
    assert_parsed(&table, "", "");
    assert_parsed(&table, "-o x", "output=x;");
    assert_parsed(&table, "-ox --output y --output=z", "output=x;output=y;output=z;");
    assert_parsed(&table, "a -ds b --late", "late=none;late=none;a b ");
    assert_parsed(&table, "-Lox", "list=none;output=x;");
    assert_parsed(&table, "-L all", "list=none;all ");
    assert_parsed(&table, "--quiet -- -o", "quiet-and-with-a-long-name=none;-o ");
}

TEST(options_of_a_command_stay_its_own)
{
    assert_parsed(&command_table, "-o x ls -o --help", "output=x;ls -o --help ");
    assert_parsed(&command_table, "-L -- -o", "list=none;-o ");
}

/* What a process prints that parses these words, and how it ends. */
static int run(const char *words, char *printed, size_t size)
{
    int ends[2], status;
    assert_return_code(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        char taken[256];
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        parse(&table, words, taken);
        _exit(77);
    }
    close(ends[1]);
    FILE *out = fdopen(ends[0], "r");
    printed[fread(printed, 1, size - 1, out)] = '\0';
    fclose(out);
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

static void assert_run(const char *words, int status, const char *expected)
{
    char printed[2048];
    assert_int_equal(run(words, printed, sizeof printed), status);
    assert_string_equal(printed, expected);
}

TEST(wrong_options_are_named)
{
    static const struct {
        const char *words, *says;
    } cases[] = {
        {"-x", "unknown option -x"},          {"-Lx", "unknown option -x"},
        {"--nothing", "unknown option --nothing"}, {"--l", "unknown option --l"},
        {"-o", "-o needs a value"},           {"a --output", "--output needs a value"},
        {"--late=1", "--late takes no value"}, {"--help=1", "--help takes no value"},
        {"-d", "unknown option -d"},          {"-dx", "unknown option -dx"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char expected[128];
        snprintf(expected, sizeof expected, "tool: %s\nTry 'tool --help'.\n", cases[i].says);
        assert_run(cases[i].words, 2, expected);
    }
}

TEST(help_and_version)
{
    static const char help[] = "before\n"
                               "  -o, --output FILE  write to FILE\n"
                               "  -ds, --late        start late\n"
                               "  -L, --list [all]   list\n"
                               "      --quiet-and-with-a-long-name\n"
                               "                     say nothing\n"
                               "  -h, --help         print this text\n"
                               "  -V, --version      print the version\n"
                               "after\n";
    assert_run("--help", 0, help);
    assert_run("-Lh --nothing", 0, help);
    char printed[256];
    assert_int_equal(run("-V", printed, sizeof printed), 0);
    assert_memory_equal(printed, "tool ", 5);
}

TEST(the_table_for_programs)
{
    assert_run("--option-table", 0,
               "o\toutput\tFILE\t@file\tFILE\tWrite to FILE, or to `-`.\n"
               "ds\tlate\t\t\t\tstart late\n"
               "L\tlist\t\t\t[all]\tlist\n"
               "\tquiet-and-with-a-long-name\t\t\t\tsay nothing\n"
               "h\thelp\t\t\t\tPrint a summary of the options.\n"
               "V\tversion\t\t\t\tPrint the version.\n");
}

TEST(options_by_name)
{
    assert_int_equal(option_table_find(&table, "late"), LATE);
    assert_int_equal(option_table_find(&table, "lat"), OPTIONS);
    assert_int_equal(option_table_find(&table, "help"), OPTIONS);
}

STEP(prepare)
{
    diag_init("tool");
}

ALL_TESTS(prepare, NULL);
