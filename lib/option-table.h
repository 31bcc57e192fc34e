/* The options of a tool, in one table. It feeds
 *   - the command line (getopt_long): option_table_parse
 *   - --help: one line of at most 80 columns for each option
 *   - the completion in bash (completions/hpctoolkit.bash) and the OPTIONS section of the manual
 * page (lib/manual-page.awk): both read what --option-table prints
 *
 * Every tool also has -h (--help), -V (--version) and the hidden --option-table; they are not in
 * its table. */
#ifndef LIB_OPTION_TABLE_H
#define LIB_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#define OPTION_TABLE_MAX 48 /* rows of a table */

struct option_row {
    const char *letters; /* "o" for -o, also "ds" for -ds; NULL: none */
    const char *name;    /* "output" for --output */
    /* What texts call the value, "DIR"; NULL: the option takes none. "[all]": none as far as getopt
     * goes, but the tool looks at the operand behind the option. */
    const char *value;
    /* What bash offers as values: words separated by blanks, or @file, @directory, @event; NULL:
     * nothing. */
    const char *completion;
    const char *brief; /* for --help; NULL: only the manual page has the option */
    /* Paragraph for the manual page: `bold`; the words of `value` become italic. NULL: `brief`. */
    const char *manual;
};

struct option_table {
    const char *tool;
    const char *before, *after; /* the lines of --help above and below the options */
    const struct option_row *rows;
    size_t n;
    bool stops_at_operand; /* options behind the first operand belong to a command, not to the tool
                            */
};

/* Takes one option: `option` is its index in the table, `value` NULL where it has none. */
typedef void option_taker(void *target, size_t option, const char *value);

/* Calls `take` for every option of the command line, in its order, and returns the index of the
 * first operand in `arguments` (operands are moved behind options unless the table stops at one).
 * Ends the process with status 2 and a message on what it cannot understand, and with status 0
 * after --help, --version and --option-table. */
int option_table_parse(const struct option_table *table, int count, char **arguments,
                       option_taker *take, void *target);

/* The index of the option that is called --NAME; table->n if there is none. */
size_t option_table_find(const struct option_table *table, const char *name);

#endif
