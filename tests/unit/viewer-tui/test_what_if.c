/* Work and span after a change of one procedure, against random fork-join programs that are changed
 * and measured again. */
#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/advice/what-if.h"

#include <math.h>

/* ---- command line ---- */

TEST(changes_are_read)
{
    static const struct {
        const char *text, *procedure;
        double speed; /* 0: refused */
    } lines[] = {
        {"partition parallel", "partition", INFINITY},
        {"partition 2x", "partition", 2},
        {"a b(c d) 0.25x", "a b(c d)", 0.25},
        {"<serial code, between computations> 3x", "<serial code, between computations>", 3},
        {"partition", NULL, 0},
        {"", NULL, 0},
        {" 2x", NULL, 0},
        {"partition 2", NULL, 0},
        {"partition x", NULL, 0},
        {"partition 0x", NULL, 0},
        {"partition -2x", NULL, 0},
        {"partition nanx", NULL, 0},
        {"partition infx", NULL, 0},
        {"partition 2xx", NULL, 0},
        {"partition parallels", NULL, 0},
        {"partition 2x ", NULL, 0},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct speed_change change = {0};
        bool is_read = speed_change_read(lines[i].text, &change);
        assert_int_equal(is_read, lines[i].speed > 0);
        if (is_read) {
            assert_string_equal(change.procedure, lines[i].procedure);
            assert_true(change.speed == lines[i].speed);
        }
        free(change.procedure);
    }
}

/* ---- programs ---- */

enum { SERIAL, PROCEDURES = 4, MOST_DEPTH = 5, PROGRAMS = 20000 };

/* A path, or all strands: its length, and the part of each procedure. */
struct length {
    double all, of[PROCEDURES];
};

struct lengths {
    struct length work, span, burdened;
};

/* Times are multiplied by `factor` in strands of `changed`, for work by `work_factor`. */
struct program {
    uint64_t random;
    unsigned changed;
    double factor, work_factor;
};

static unsigned draw(struct program *program, unsigned below)
{
    program->random = program->random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(program->random >> 33) % below;
}

static void append(struct length *path, const struct length *tail)
{
    path->all += tail->all;
    for (unsigned i = 0; i < PROCEDURES; i++)
        path->of[i] += tail->of[i];
}

static void add_time(struct length *path, unsigned procedure, double time)
{
    path->all += time;
    path->of[procedure] += time;
}

static void add_strand(struct program *program, struct lengths *at, unsigned procedure)
{
    double time = draw(program, 10);
    bool is_changed = procedure == program->changed;
    add_time(&at->work, procedure, is_changed ? time * program->work_factor : time);
    add_time(&at->span, procedure, is_changed ? time * program->factor : time);
    add_time(&at->burdened, procedure, is_changed ? time * program->factor : time);
}

/* Strands and pairs of branches, one behind the other. The second branch has a burden. */
static struct lengths run(struct program *program, unsigned depth)
{
    struct lengths at = {0};
    unsigned owner = 1 + draw(program, PROCEDURES - 1);
    for (unsigned n = draw(program, 3); n > 0 && depth < MOST_DEPTH; n--) {
        add_strand(program, &at, owner);
        struct lengths left = run(program, depth + 1), right = run(program, depth + 1);
        add_time(&right.burdened, owner, 2);
        append(&at.work, &left.work);
        append(&at.work, &right.work);
        append(&at.span, left.span.all > right.span.all ? &left.span : &right.span);
        append(&at.burdened,
               left.burdened.all > right.burdened.all ? &left.burdened : &right.burdened);
    }
    add_strand(program, &at, owner);
    return at;
}

static struct lengths run_program(uint64_t seed, unsigned changed, double factor,
                                  double work_factor)
{
    struct program program = {seed, changed, factor, work_factor};
    struct lengths whole = {0}, computation;
    add_strand(&program, &whole, SERIAL);
    computation = run(&program, 0);
    append(&whole.work, &computation.work);
    append(&whole.span, &computation.span);
    append(&whole.burdened, &computation.burdened);
    add_strand(&program, &whole, SERIAL);
    return whole;
}

static struct costs_of_change costs_in(const struct length *length, unsigned procedure)
{
    return (struct costs_of_change){length->all, length->of[SERIAL], length->of[procedure]};
}

static bool is_between(double value, const struct bounds *bounds)
{
    return value >= bounds->least - 1e-9 && value <= bounds->most + 1e-9;
}

/* How often the span is one of two bounds that differ. */
static struct reached {
    unsigned least, most;
} reached;

static void check(uint64_t seed, unsigned procedure, double speed)
{
    struct lengths before = run_program(seed, procedure, 1, 1);
    double factor = isinf(speed) ? 0 : 1 / speed;
    struct lengths after = run_program(seed, procedure, factor, isinf(speed) ? 1 : factor);
    struct what_if costs = {.is_serial = procedure == SERIAL,
                            .work = costs_in(&before.work, procedure),
                            .span = costs_in(&before.span, procedure),
                            .burdened_span = costs_in(&before.burdened, procedure)};
    struct predicted predicted = what_if_predict(&costs, speed);
    assert_true(fabs(predicted.work - after.work.all) < 1e-9);
    assert_true(is_between(after.span.all, &predicted.span));
    assert_true(is_between(after.burdened.all, &predicted.burdened_span));
    if (procedure == SERIAL)
        assert_true(predicted.span.least == predicted.span.most);
    bool is_exact = predicted.span.most - predicted.span.least < 1e-9;
    reached.least += !is_exact && after.span.all - predicted.span.least < 1e-9;
    reached.most += !is_exact && predicted.span.most - after.span.all < 1e-9;
}

TEST(the_changed_program_is_within_the_bounds)
{
    static const double speeds[] = {INFINITY, 4, 2, 0.5, 0.2};
    reached = (struct reached){0};
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++)
        for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
            check(seed, (unsigned)seed % PROCEDURES, speeds[i]);
    /* Bounds that nothing reaches would be too wide. */
    assert_true(reached.least > PROGRAMS / 10);
    assert_true(reached.most > PROGRAMS / 200);
}

/* ---- by hand ---- */

static void assert_bounds(struct bounds bounds, double least, double most)
{
    assert_true(fabs(bounds.least - least) < 1e-9);
    assert_true(fabs(bounds.most - most) < 1e-9);
}

/* 20 s in a row, beside them 10 s of others: as fast as the others, if these are in a row, too. */
TEST(others_may_become_the_longest_path)
{
    const struct what_if costs = {
        .work = {30, 0, 20}, .span = {20, 0, 20}, .burdened_span = {21, 0, 21}};
    struct predicted parallel = what_if_predict(&costs, INFINITY),
                     twice = what_if_predict(&costs, 2);
    assert_bounds(parallel.span, 0, 10);
    assert_true(parallel.work == 30);
    assert_true(parallel.parallelism.least == 3 && isinf(parallel.parallelism.most));
    assert_bounds(twice.span, 10, 15);
    assert_true(twice.work == 20);
    assert_bounds(twice.parallelism, 20 / 15.0, 2);
    /* At least 20 / (20 / 4 + 1.7 * 21), at most by the span law. */
    assert_bounds(predicted_speedup(&twice, 4), 20 / (5 + 1.7 * 21), 2);
    assert_bounds(predicted_speedup(&parallel, 4), 30 / (7.5 + 1.7 * 21), 4);
}

/* Nothing runs beside the procedure: there is no other path. */
TEST(a_serial_program_has_one_path)
{
    const struct what_if costs = {
        .work = {10, 4, 5}, .span = {10, 4, 5}, .burdened_span = {10, 4, 5}};
    struct predicted twice = what_if_predict(&costs, 2);
    assert_bounds(twice.span, 7.5, 7.5);
}

/* The order that was not followed may be that of all strands: a serial program. */
TEST(a_lower_bound_says_nothing_about_the_longest_span)
{
    static const double speeds[] = {INFINITY, 2, 0.5};
    for (uint64_t seed = 1; seed <= PROGRAMS / 100; seed++)
        for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++) {
            unsigned procedure = (unsigned)seed % PROCEDURES;
            double factor = isinf(speeds[i]) ? 0 : 1 / speeds[i];
            struct lengths before = run_program(seed, procedure, 1, 1);
            struct lengths after = run_program(seed, procedure, factor, factor);
            struct what_if costs = {.is_serial = procedure == SERIAL,
                                    .is_lower_bound = true,
                                    .work = costs_in(&before.work, procedure),
                                    .span = costs_in(&before.span, procedure),
                                    .burdened_span = costs_in(&before.burdened, procedure)};
            struct predicted predicted = what_if_predict(&costs, speeds[i]);
            assert_true(predicted.span.least <= after.work.all + 1e-9);
            assert_true(predicted.burdened_span.least <= after.burdened.all + 1e-9);
            assert_true(isinf(predicted.span.most) && isinf(predicted.burdened_span.most));
            assert_true(predicted.parallelism.least == 0);
            assert_true(predicted_speedup(&predicted, 4).least == 0);
            assert_true(predicted_speedup(&predicted, 4).most <= 4);
        }
}
