#include "viewer-tui/metrics/formula-operations.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Nested parentheses, signs and powers; each is one recursion of the parser. Far more than people
 * write. */
#define MOST_LEVELS 60

/* Bytes of a formula. Longer text is no formula that a person wrote. */
#define MOST_LENGTH 4096

#define NO_METRIC SIZE_MAX

struct parser {
    const char *text;
    size_t at;
    const struct metrics *metrics;
    size_t n_metrics;
    struct formula *formula;
    unsigned n_levels, n_values;
    struct formula_error *error;
    bool has_failed;
};

/* Ranks of operators of two values. */
enum rank { COMPARISONS, SUMS, PRODUCTS, RANKS };

static void parse_operators(struct parser *parser, enum rank rank);

__attribute__((format(printf, 3, 4))) static void fail(struct parser *parser, size_t at,
                                                       const char *format, ...)
{
    if (parser->has_failed)
        return;
    parser->has_failed = true;
    parser->error->at = at;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(parser->error->what, sizeof parser->error->what, format, arguments);
    va_end(arguments);
}

/* The next character that is not blank; NUL at the end and after an error. */
static char peek(struct parser *parser)
{
    while (isspace((unsigned char)parser->text[parser->at]))
        parser->at++;
    return parser->has_failed ? '\0' : parser->text[parser->at];
}

static bool take(struct parser *parser, const char *symbol)
{
    size_t length = strlen(symbol);
    if (peek(parser) == '\0' || strncmp(parser->text + parser->at, symbol, length) != 0)
        return false;
    parser->at += length;
    return true;
}

static void add_step(struct parser *parser, struct formula_step step, unsigned n_taken)
{
    vec_push(&parser->formula->steps, step);
    parser->n_values = parser->n_values - n_taken + 1;
    if (parser->n_values > MOST_VALUES)
        fail(parser, parser->at, "too many values that wait for an operator");
}

static void apply(struct parser *parser, enum operation op)
{
    if (!parser->has_failed)
        add_step(parser, (struct formula_step){.operation = op}, operation_n_operands(op));
}

/* Names. */

static bool is_in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* Length of a name without quotes. A colon belongs to it if more of the name follows. */
static size_t name_length(const char *name)
{
    size_t length = 0;
    while (is_in_name(name[length]) ||
           (length > 0 && name[length] == ':' && is_in_name(name[length + 1])))
        length++;
    return length;
}

static bool is_name(const char *known, const char *name, size_t length)
{
    return strlen(known) == length && strncmp(known, name, length) == 0;
}

/* The metric with this name, or NO_METRIC; that is an error if the name must be one. */
static size_t find_metric(struct parser *parser, const char *name, size_t length, bool must_be)
{
    for (size_t m = 0; m < parser->n_metrics; m++)
        if (is_name(parser->metrics->at[m].name, name, length))
            return m;
    if (must_be)
        fail(parser, (size_t)(name - parser->text), "no metric '%.*s'", (int)(length < 100 ? length : 100), name);
    return NO_METRIC;
}

static size_t numbered_metric(struct parser *parser, const char *digits, size_t length)
{
    unsigned long number = length < 7 ? strtoul(digits, NULL, 10) : ULONG_MAX, last = 0;
    for (size_t m = 0; m < parser->n_metrics; m++) {
        bool is_shown = parser->metrics->at[m].is_in[parser->metrics->set];
        last += is_shown;
        if (is_shown && last == number)
            return m;
    }
    fail(parser, (size_t)(digits - parser->text), "no metric has number %.*s; the last is %lu",
         (int)(length < 20 ? length : 20), digits, last);
    return NO_METRIC;
}

static const char *const endings[] = {
    [PART_INCLUSIVE] = ":inclusive", [PART_EXCLUSIVE] = ":exclusive"};

/* Length without ":inclusive" or ":exclusive" at the end; sets *part if there is one. */
static size_t without_part(const char *name, size_t length, enum formula_part *part)
{
    for (int ending = PART_INCLUSIVE; ending <= PART_EXCLUSIVE; ending++) {
        size_t size = strlen(endings[ending]);
        if (length <= size || strncmp(name + length - size, endings[ending], size) != 0)
            continue;
        *part = (enum formula_part)ending;
        return length - size;
    }
    return length;
}

/* Parses a metric by name or number, possibly with its part. */
static size_t plain_metric(struct parser *parser, enum formula_part *part)
{
    const char *name = parser->text + parser->at;
    size_t length = name_length(name), metric = find_metric(parser, name, length, false);
    parser->at += length;
    if (metric != NO_METRIC)
        return metric;
    if (*part != PART_OF_PROGRAM)
        length = without_part(name, length, part);
    if (strspn(name, "0123456789") >= length)
        return numbered_metric(parser, name, length);
    return find_metric(parser, name, length, true);
}

/* Parses a quoted metric name, possibly with its part after the quotes. */
static size_t quoted_metric(struct parser *parser, enum formula_part *part)
{
    const char *name = parser->text + parser->at + 1;
    size_t length = strcspn(name, "\"");
    if (name[length] != '"') {
        fail(parser, parser->at, "the quote is not closed");
        return NO_METRIC;
    }
    parser->at += length + 2;
    for (int ending = PART_INCLUSIVE; ending <= PART_EXCLUSIVE; ending++)
        if (*part == PART_OF_RESULT && take(parser, endings[ending]))
            *part = (enum formula_part)ending;
    return find_metric(parser, name, length, true);
}

static void parse_metric(struct parser *parser)
{
    size_t start = parser->at++;
    enum formula_part part = parser->text[start] == '@' ? PART_OF_PROGRAM : PART_OF_RESULT;
    size_t metric = NO_METRIC;
    if (parser->text[parser->at] == '"')
        metric = quoted_metric(parser, &part);
    else if (name_length(parser->text + parser->at))
        metric = plain_metric(parser, &part);
    else
        fail(parser, start, "'%c' wants the name or the number of a metric", parser->text[start]);
    if (parser->has_failed)
        return;
    add_step(parser,
             (struct formula_step){.operation = METRIC,
                                   .part = (uint8_t)part,
                                   .metric = metric,
                                   .at = (uint32_t)start,
                                   .length = (uint32_t)(parser->at - start)},
             0);
}

/* Functions. */

struct function {
    const char *name;
    enum operation op;
    unsigned n_least, n_most;
};

static const struct function functions[] = {
    {"abs", ABSOLUTE, 1, 1},  {"sqrt", SQUARE_ROOT, 1, 1}, {"exp", EXPONENTIAL, 1, 1},
    {"log", LOGARITHM, 1, 1}, {"min", LEAST_OF, 2, 1000},  {"max", LARGEST_OF, 2, 1000},
    {"if", CHOICE, 3, 3},
};

#define N_FUNCTIONS (sizeof functions / sizeof *functions)

static void parse_arguments(struct parser *parser, const struct function *function)
{
    unsigned n = 0;
    size_t start = parser->at;
    bool is_chain = function->n_most > 3; /* max(a, b, c) is max(max(a, b), c) */
    do {
        parse_operators(parser, COMPARISONS);
        if (is_chain && n > 0)
            apply(parser, function->op);
        n++;
    } while (take(parser, ","));
    if (!take(parser, ")"))
        fail(parser, parser->at, "')' is missing");
    if (n < function->n_least || n > function->n_most)
        fail(parser, start, "%s takes %s%u values, not %u", function->name,
             is_chain ? "at least " : "", function->n_least, n);
    if (!is_chain)
        apply(parser, function->op);
}

static void parse_function(struct parser *parser)
{
    const char *name = parser->text + parser->at;
    size_t length = name_length(name), start = parser->at, f = 0;
    while (f < N_FUNCTIONS && !is_name(functions[f].name, name, length))
        f++;
    parser->at += length;
    if (f == N_FUNCTIONS)
        fail(parser, start, "no function '%.*s'; a metric's name begins with $ or @",
             (int)(length < 60 ? length : 60), name);
    else if (!take(parser, "("))
        fail(parser, parser->at, "'(' is missing");
    if (!parser->has_failed)
        parse_arguments(parser, &functions[f]);
}

/* Parses a decimal number. */
static void parse_number(struct parser *parser)
{
    const char *from = parser->text + parser->at;
    size_t length = strspn(from, "0123456789");
    if (from[length] == '.')
        length += 1 + strspn(from + length + 1, "0123456789");
    bool has_exponent = from[length] == 'e' || from[length] == 'E';
    size_t sign =
        length + 1 + (has_exponent && (from[length + 1] == '-' || from[length + 1] == '+'));
    if (has_exponent && isdigit((unsigned char)from[sign]))
        length = sign + strspn(from + sign, "0123456789");
    autofree char *copy = mem_strndup(from, length);
    double number = strtod(copy, NULL);
    if (length == 1 && *from == '.')
        fail(parser, parser->at, "a point alone is no number");
    else if (!isfinite(number))
        fail(parser, parser->at, "this number is too large");
    parser->at += length;
    if (!parser->has_failed)
        add_step(parser, (struct formula_step){.operation = NUMBER, .number = number}, 0);
}

static void parse_value(struct parser *parser)
{
    char next = peek(parser);
    if (next == '$' || next == '@') {
        parse_metric(parser);
    } else if (isdigit((unsigned char)next) || next == '.') {
        parse_number(parser);
    } else if (isalpha((unsigned char)next)) {
        parse_function(parser);
    } else if (take(parser, "(")) {
        parse_operators(parser, COMPARISONS);
        if (!take(parser, ")"))
            fail(parser, parser->at, "')' is missing");
    } else {
        fail(parser, parser->at, next ? "a value should stand here" : "a value is missing");
    }
}

/* Signs and powers. Every recursion passes here, so the depth is limited here. */
static void parse_signed(struct parser *parser)
{
    if (++parser->n_levels > MOST_LEVELS)
        fail(parser, parser->at, "more than %d levels within each other", MOST_LEVELS);
    if (parser->has_failed) {
        parser->n_levels--;
        return;
    }
    if (take(parser, "-")) {
        parse_signed(parser);
        apply(parser, NEGATE);
    } else {
        parse_value(parser);
        if (take(parser, "^")) {
            parse_signed(parser);
            apply(parser, POWER);
        }
    }
    parser->n_levels--;
}

/* Of those that begin alike the longer one first. */
static const struct operator {
    const char *text;
    enum rank rank;
    enum operation op;
} operators[] = {{"<=", COMPARISONS, LESS_OR_EQUAL}, {">=", COMPARISONS, GREATER_OR_EQUAL},
                 {"==", COMPARISONS, EQUAL},         {"!=", COMPARISONS, NOT_EQUAL},
                 {"<", COMPARISONS, LESS},           {">", COMPARISONS, GREATER},
                 {"+", SUMS, ADD},                   {"-", SUMS, SUBTRACT},
                 {"*", PRODUCTS, MULTIPLY},          {"/", PRODUCTS, DIVIDE}};

/* Takes the next operator of a rank if it is there; NULL if not. */
static const struct operator *take_operator(struct parser *parser, enum rank rank)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (operators[i].rank == rank && take(parser, operators[i].text))
            return &operators[i];
    return NULL;
}

/* "a * b / c": operators of a rank and above, from left to right. Comparisons are no chain. */
static void parse_operators(struct parser *parser, enum rank rank)
{
    const struct operator *operator = NULL;
    if (rank == RANKS) {
        parse_signed(parser);
        return;
    }
    do {
        parse_operators(parser, rank + 1);
        if (operator)
            apply(parser, operator->op);
    } while ((rank != COMPARISONS || !operator) && (operator = take_operator(parser, rank)));
}

bool formula_parse(struct formula *formula, const char *text, size_t start, const struct metrics *metrics,
                   size_t n_metrics, struct formula_error *error)
{
    *formula = (struct formula){0};
    struct parser parser = {.text = text,
                            .at = start,
                            .metrics = metrics,
                            .n_metrics = n_metrics,
                            .formula = formula,
                            .error = error};
    if (strlen(text) > MOST_LENGTH)
        fail(&parser, start, "it is longer than %d characters", MOST_LENGTH);
    parse_operators(&parser, COMPARISONS);
    if (peek(&parser))
        fail(&parser, parser.at, "nothing was expected to follow here");
    if (parser.has_failed)
        formula_free(formula);
    else
        formula_find_bounds(formula, metrics);
    return !parser.has_failed;
}

void formula_free(struct formula *formula)
{
    vec_free(&formula->steps);
}

bool formula_names(const char *text, const char *metric)
{
    size_t length = strlen(metric);
    for (const char *at = text + strcspn(text, "$@"); *at; at += strcspn(at, "$@")) {
        at++;
        at += *at == '"';
        if (length && strncmp(at, metric, length) == 0)
            return true;
    }
    return false;
}
