#include "lib/option-table.h"

#include "lib/alloc.h"
#include "lib/diag.h"
#include "lib/version.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rows of every tool, behind its own ones. */
static const struct option_row common_rows[] = {
    {"h", "help", NULL, NULL, "print this text", "Print a summary of the options."},
    {"V", "version", NULL, NULL, "print the version", "Print the version."},
};
enum { HELP, VERSION, COMMON_ROWS };

/* Heads of options that are longer than this stand in a line of their own in --help. */
#define LONGEST_HEAD 24

static bool takes_value(const struct option_row *row)
{
    return row->value && row->value[0] != '[';
}

static const struct option_row *row_at(const struct option_table *table, size_t i)
{
    return i < table->n ? &table->rows[i] : &common_rows[i - table->n];
}

static size_t row_count(const struct option_table *table)
{
    return table->n + COMMON_ROWS;
}

size_t option_table_find(const struct option_table *table, const char *name)
{
    size_t i = 0;
    while (i < table->n && strcmp(table->rows[i].name, name) != 0)
        i++;
    return i;
}

/* ---- --help ---- */

/* "-o, --output DIR" */
static char *head_of(const struct option_row *row)
{
    return mem_printf("%s%s%s--%s%s%s", row->letters ? "-" : "", row->letters ? row->letters : "",
                      row->letters ? ", " : "    ", row->name, row->value ? " " : "",
                      row->value ? row->value : "");
}

static int help_column(const struct option_table *table)
{
    size_t widest = 0;
    for (size_t i = 0; i < row_count(table); i++) {
        autofree char *head = head_of(row_at(table, i));
        size_t width = strlen(head);
        if (width > widest && width <= LONGEST_HEAD)
            widest = width;
    }
    return (int)widest;
}

static void print_help(const struct option_table *table)
{
    int column = help_column(table);
    fputs(table->before, stdout);
    for (size_t i = 0; i < row_count(table); i++) {
        const struct option_row *row = row_at(table, i);
        if (!row->brief)
            continue;
        autofree char *head = head_of(row);
        bool is_long = (int)strlen(head) > column;
        printf("  %-*s%s%*s%s\n", column, head, is_long ? "\n" : "", is_long ? column + 4 : 2, "",
               row->brief);
    }
    fputs(table->after, stdout);
}

/* ---- --option-table ---- */

/* One line for each option, its fields separated by tabs: letters, name, value ("" also for
 * "[all]", see struct option_row), completion, value in texts, text for the manual. */
static void print_rows(const struct option_table *table)
{
    for (size_t i = 0; i < row_count(table); i++) {
        const struct option_row *row = row_at(table, i);
        const char *value = row->value ? row->value : "";
        printf("%s\t%s\t%s\t%s\t%s\t%s\n", row->letters ? row->letters : "", row->name,
               takes_value(row) ? value : "", row->completion ? row->completion : "", value,
               row->manual ? row->manual : row->brief);
    }
}

/* ---- the command line ---- */

/* What getopt_long returns for a long option is LONG_OPTION + its index; for a short one its
 * letter. */
#define LONG_OPTION 256

struct getopt_tables {
    struct option names[OPTION_TABLE_MAX + COMMON_ROWS + 2]; /* with --option-table and the end */
    char letters[3 * (OPTION_TABLE_MAX + COMMON_ROWS) + 3];
};

/* getopt sees -ds as a -d whose optional value is "s". */
static void add_letters(char *letters, const struct option_row *row)
{
    strncat(letters, row->letters, 1);
    strcat(letters, row->letters[1] ? "::" : takes_value(row) ? ":" : "");
}

static void fill(struct getopt_tables *tables, const struct option_table *table)
{
    assert(table->n <= OPTION_TABLE_MAX);
    *tables = (struct getopt_tables){0};
    strcpy(tables->letters, table->stops_at_operand ? "+:" : ":");
    size_t n = row_count(table);
    for (size_t i = 0; i < n; i++) {
        const struct option_row *row = row_at(table, i);
        assert(row->name && (row->brief || row->manual));
        int has_value = takes_value(row) ? required_argument : no_argument;
        tables->names[i] = (struct option){row->name, has_value, NULL, LONG_OPTION + (int)i};
        if (row->letters)
            add_letters(tables->letters, row);
    }
    tables->names[n] = (struct option){"option-table", no_argument, NULL, LONG_OPTION + (int)n};
}

static size_t row_of(const struct option_table *table, int result)
{
    if (result >= LONG_OPTION)
        return (size_t)(result - LONG_OPTION);
    size_t i = 0;
    while (!row_at(table, i)->letters || row_at(table, i)->letters[0] != result)
        i++;
    return i;
}

/* Ends the process with what is wrong: getopt_long leaves in optopt what it returns for the option,
 * or its letter; 0 for a long option that does not exist. `argument` is then that option. */
static void refuse(const struct option_table *table, bool lacks_value, const char *argument)
{
    if (optopt >= LONG_OPTION) {
        size_t row = row_of(table, optopt);
        const char *name = row < row_count(table) ? row_at(table, row)->name : "option-table";
        diag_usage("--%s %s", name, lacks_value ? "needs a value" : "takes no value");
    }
    if (lacks_value)
        diag_usage("-%c needs a value", optopt);
    if (optopt)
        diag_usage("unknown option -%c", optopt);
    diag_usage("unknown option %s", argument);
}

static void print_and_exit(const struct option_table *table, size_t common)
{
    if (common == HELP)
        print_help(table);
    else if (common == VERSION)
        printf("%s %s\n", table->tool, HPCTOOLKIT_VERSION);
    else
        print_rows(table);
    if (fflush(stdout) != 0)
        diag_fatal("standard output", "%s", strerror(errno));
    exit(0);
}

int option_table_parse(const struct option_table *table, int count, char **arguments,
                       option_taker *take, void *target)
{
    struct getopt_tables tables;
    fill(&tables, table);
    opterr = 0;
    for (int result;
         (result = getopt_long(count, arguments, tables.letters, tables.names, NULL)) != -1;) {
        if (result == '?' || result == ':')
            refuse(table, result == ':', arguments[optind - 1]);
        size_t row = row_of(table, result);
        if (row >= table->n)
            print_and_exit(table, row - table->n);
        const char *more_letters = result < LONG_OPTION ? table->rows[row].letters + 1 : "";
        if (*more_letters && (!optarg || strcmp(optarg, more_letters) != 0))
            diag_usage("unknown option %s", arguments[optind - 1]);
        take(target, row, *more_letters ? NULL : optarg);
    }
    return optind;
}
