#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/metrics/metric.h"

#include <math.h>

/* Metrics a, b, which is not shown, "c d", which is a lower bound, and e, which is derived and no sum. */
static struct metric all[] = {{.name = "a", .is_in = {true}},
                              {.name = "b"},
                              {.name = "c d", .is_in = {true}, .state = METRIC_LOWER_BOUND},
                              {.name = "e", .is_in = {true}, .is_ratio = true}};
#define N_METRICS (sizeof all / sizeof *all)

static const struct metrics metrics = {.at = all, .n = N_METRICS, .n_stored = 3};

static const struct cost row[] = {{8, 2}, {4, 1}, {0, 0}}, program[] = {{16, 3}, {20, 5}, {64, 7}};
static const struct cost derived[] = {{0.5, 0.25}}, derived_of_program[] = {{0.125, 0}};

static const struct formula_input known = {.n_stored = 3,
                                           .cost = formula_cost_in_array,
                                           .context = row,
                                           .derived = derived,
                                           .program = program,
                                           .derived_of_program = derived_of_program};

static struct formula parsed(const char *text)
{
    struct formula formula;
    struct formula_error error;
    if (!formula_parse(&formula, text, 0, &metrics, N_METRICS, &error))
        fail_msg("%s: %s at %zu", text, error.what, error.at);
    return formula;
}

static double value_of(const char *text, enum cost_part part)
{
    struct formula formula = parsed(text);
    struct formula_input input = known;
    double value = formula_value(&formula, &input, part);
    formula_free(&formula);
    return value;
}

TEST(formulas_have_the_values_of_arithmetic)
{
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"1", 1},
        {" .5 + 1e1 ", 10.5},
        {"2e-1*5", 1},
        {"7-2-1", 4},
        {"2+3*4", 14},
        {"10-2*3", 4},
        {"(2+3)*4", 20},
        {"16/4/2", 2},
        {"-2^2", -4},
        {"(-2)^2", 4},
        {"2^3^2", 512},
        {"2^-1", 0.5},
        {"2 - -3", 5},
        {"--3", 3},
        {"1 < 2", 1},
        {"2 <= 1", 0},
        {"1+1 == 2", 1},
        {"1 != 1", 0},
        {"2 >= 2", 1},
        {"1 > 2", 0},
        {"min(3, 1, 2)", 1},
        {"max(3,5,2) + 1", 6},
        {"abs(-3)", 3},
        {"sqrt(9)", 3},
        {"log(exp(2))", 2},
        {"if(1<2, 10, 20)", 10},
        {"if(0, 10, 20)", 20},
        {"if(1, 10, 1/0)", 10},
        {"$a / $b", 2},
        {"$1", 8},
        {"$2", 0},
        {"@a + @1", 32},
        {"$a:exclusive + $a:inclusive", 10},
        {"$\"c d\" + @\"c d\"", 64},
        {"$\"a\":exclusive", 2},
        {"$3", 0.5},
        {"@e", 0.125},
        {"$a-$b", 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value = value_of(cases[i].text, INCLUSIVE);
        if (fabs(value - cases[i].value) > 1e-12 || isnan(value))
            fail_msg("%s is %g", cases[i].text, value);
    }
    assert_true(value_of("$a / $b + $e", EXCLUSIVE) == 2.25);
    assert_true(value_of("$a:inclusive + @b", EXCLUSIVE) == 28);
}

TEST(what_has_no_finite_value_is_not_defined)
{
    static const char *const texts[] = {
        "1/0",      "-1/0",        "0/0",           "$a/$2",          "sqrt(-1)",     "log(0)",
        "exp(1e9)", "10^400",      "1/0 - 1/0",     "min(1/0, 1)",    "max(1, 1/0)",  "0 * (1/0)",
        "1/0 < 1",  "if(1/0,1,2)", "if(0, 1, 1/0)", "(1/0) == (1/0)", "1 / (1/(1/0))"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!isnan(value_of(texts[i], INCLUSIVE)))
            fail_msg("%s is defined", texts[i]);
}

TEST(additivity_follows_from_the_metrics)
{
    static const struct {
        const char *text;
        bool is_additive;
    } cases[] = {
        {"$a", true},
        {"$a + $b", true},
        {"-$a", true},
        {"2 * $a - $b / 4", true},
        {"$a / $b", false},
        {"$a / @b", true},
        {"100 * $a / @a", true},
        {"$a * $b", false},
        {"$a * $2", false},
        {"$a * @2", true},
        {"$a + 1", false},
        {"max($a, $b)", false},
        {"abs($a)", false},
        {"sqrt($a)", false},
        {"$a + $2", true},
        {"$e", false},
        {"$a + $e", false},
        {"$a:inclusive", false},
        {"@a", false},
        {"if(@a > 1, $a, $b)", true},
        {"if($a > 1, $a, 0)", false},
        {"$a < $b", false},
        {"3", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct formula formula = parsed(cases[i].text);
        if (formula.is_additive != cases[i].is_additive)
            fail_msg("%s: additive %d", cases[i].text, formula.is_additive);
        formula_free(&formula);
    }
}

TEST(errors_are_where_they_are)
{
    static const struct {
        const char *text;
        size_t at;
        const char *what; /* is in the message */
    } cases[] = {
        {"", 0, "a value is missing"},
        {"1 +", 3, "a value is missing"},
        {"1 + * 2", 4, "a value should stand here"},
        {"(1", 2, "')' is missing"},
        {"1)", 1, "nothing was expected"},
        {"1 2", 2, "nothing was expected"},
        {"1 < 2 < 3", 6, "nothing was expected"},
        {"2 * $nothing", 5, "no metric 'nothing'"},
        {"$\"no such\"", 2, "no metric 'no such'"},
        {"$\"a", 1, "quote"},
        {"$4", 1, "no metric has number 4; the last is 3"},
        {"$0", 1, "no metric has number 0"},
        {"$99999999999999999999999", 1, "no metric has number"},
        {"@a:exclusive", 1, "no metric 'a:exclusive'"},
        {"$ a", 0, "'$' wants the name"},
        {"work", 0, "no function 'work'"},
        {"min 1", 4, "'(' is missing"},
        {"min(1)", 4, "at least 2"},
        {"sqrt(1,2)", 5, "takes 1 values, not 2"},
        {"if(1,2)", 3, "takes 3"},
        {"sqrt()", 5, "a value should stand here"},
        {"1e999", 0, "too large"},
        {".", 0, "no number"},
        {"1e", 1, "nothing was expected"},
        {"0x10", 1, "nothing was expected"},
        {"\xff", 0, "a value should stand here"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct formula formula;
        struct formula_error error;
        assert_false(formula_parse(&formula, cases[i].text, 0, &metrics, N_METRICS, &error));
        if (error.at != cases[i].at || !strstr(error.what, cases[i].what))
            fail_msg("'%s': %s at %zu", cases[i].text, error.what, error.at);
        assert_null(formula.steps.at);
    }
}

/* `n` times `open`, a value, `n` times `close`. */
static char *nested(size_t n, const char *open, const char *close)
{
    char *text = mem_alloc(n * (strlen(open) + strlen(close)) + 2), *end = text;
    for (size_t i = 0; i < n; i++)
        end = stpcpy(end, open);
    end = stpcpy(end, "1");
    for (size_t i = 0; i < n; i++)
        end = stpcpy(end, close);
    return text;
}

TEST(what_is_too_deep_is_an_error)
{
    static const struct {
        const char *open, *close;
    } shapes[] = {{"(", ")"}, {"-", ""}, {"1^", ""}, {"abs(", ")"}, {"1+2*(3<if(1,2,", "))"}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t n = 1; n < 5000; n *= 3) {
            char *text = nested(n, shapes[i].open, shapes[i].close);
            struct formula formula;
            struct formula_error error;
            bool is_sound = formula_parse(&formula, text, 0, &metrics, N_METRICS, &error);
            assert_true(n <= 27 ? is_sound : n < 81 || !is_sound);
            if (is_sound) {
                struct formula_input input = known;
                assert_true(isfinite(formula_value(&formula, &input, INCLUSIVE)));
                formula_free(&formula);
            } else {
                assert_true(error.at <= strlen(text));
            }
            free(text);
        }
    char *sum = nested(1000, "1+", "");
    assert_true(value_of(sum, INCLUSIVE) == 1001);
    free(sum);
}

TEST(random_text_is_a_formula_or_an_error_within_it)
{
    static const char *const pieces[] = {
        "$a", "$",   "@",  "\"",    "c d", "1", "2.5", "e",          "E+",   ".", "(",
        ")",  ",",   "+",  "-",     "*",   "/", "^",   "<",          "=",    "!", "==",
        " ",  "min", "if", "sqrt(", "$1",  "@", ":e",  ":exclusive", "\x80", "[", "999999999999",
        "log"};
    unsigned n_sound = 0;
    srand(7);
    for (int i = 0; i < 200000; i++) {
        char text[256] = "";
        for (int n = rand() % 12; n > 0; n--)
            strcat(text, pieces[(size_t)rand() % (sizeof pieces / sizeof *pieces)]);
        struct formula formula;
        struct formula_error error = {.at = SIZE_MAX};
        if (!formula_parse(&formula, text, 0, &metrics, N_METRICS, &error)) {
            assert_true(error.at <= strlen(text) && error.what[0]);
            continue;
        }
        struct formula_input input = known;
        double value = formula_value(&formula, &input, EXCLUSIVE);
        assert_true(isnan(value) || isfinite(value));
        formula_free(&formula);
        n_sound++;
    }
    assert_true(n_sound > 1000);
}

TEST(names_are_found_in_formulas)
{
    assert_true(formula_names("$a + 1", "a"));
    assert_true(formula_names("x = 1/@\"c d\"", "c d"));
    assert_true(formula_names("$b*$a", "a"));
    assert_false(formula_names("a + $b", "a"));
    assert_false(formula_names("$b", ""));
}

TEST(bounds_follow_from_those_of_the_metrics)
{
    static const struct {
        const char *text;
        enum formula_bound bound;
    } cases[] = {{"$a*2", BOUND_EXACT},
                 {"$\"c d\" + $a", BOUND_LOWER},
                 {"-$\"c d\"", BOUND_UPPER},
                 {"$a/$\"c d\"", BOUND_UPPER},
                 {"$a - $\"c d\"", BOUND_UPPER},
                 {"$\"c d\" - $\"c d\"", BOUND_NONE},
                 {"abs($\"c d\" - 1)", BOUND_NONE},
                 {"$\"c d\" < 1", BOUND_NONE},
                 {"max($a, $\"c d\", 1)", BOUND_LOWER},
                 {"if($\"c d\", 1, 2)", BOUND_NONE},
                 {"if(1, 2, $\"c d\")", BOUND_NONE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct formula formula = parsed(cases[i].text);
        assert_int_equal(formula.bound, cases[i].bound);
        formula_free(&formula);
    }
}
