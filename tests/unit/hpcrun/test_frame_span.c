/* libhpctoolkit-cilktool.so: hooks called as by compiled programs, against the definition of work and
 * span (random_cilk.h). */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/cilktool/csi-hooks.h"
#include "hpcrun/cilktool/probe-output.h"
#include "hpcrun/span/frame-span.h"
#include "tests/unit/hpcrun/simulated_cilk.h"
#include "tests/unit/hpcrun/simulated_clock.h"

#include <stdlib.h>
#include <string.h>

/* ---- comparison ---- */

static unsigned number_of(const void *(*address)(unsigned), unsigned limit, uint64_t value)
{
    unsigned number = 0;
    while (number < limit && (uint64_t)address(number) != value)
        number++;
    return number;
}

/* The definition's context for one of the product's. */
static int defined_context(uint32_t id)
{
    if (id == CONTEXT_PROGRAM)
        return 0;
    const struct span_context *context = span_context(id);
    int parent = defined_context(context->parent), count = defined_count;
    unsigned code = number_of(code_address, PROCEDURES, context->procedure);
    unsigned site = number_of(call_address, SITES, context->site);
    if (site == SITES)
        site = number_of(spawn_address, SITES, context->site);
    bool is_outermost;
    int found = defined_below(parent, code, site, &is_outermost);
    assert_true(is_outermost);
    assert_int_equal(defined_count, count);
    return found;
}

/* One context by its definition may be two: of a call and of a spawn at the same number. */
static void add_values(struct span_values *sum, const struct span_values *more)
{
    sum->work += more->work;
    sum->span += more->span;
    sum->burdened_span += more->burdened_span;
    sum->calls += more->calls;
    sum->call_work += more->call_work;
    sum->call_span += more->call_span;
    sum->spawns += more->spawns;
}

static void compare(void)
{
    static struct span_values sums[MAX_CONTEXTS];
    struct span_totals totals = span_totals_so_far();
    assert_false(totals.is_incomplete);
    assert_null(frame_span_problem());
    assert_int_equal(totals.work, expected.work);
    assert_int_equal(totals.span, expected.span[PLAIN]);
    assert_int_equal(totals.burdened_span, expected.span[BURDENED]);
    memset(sums, 0, sizeof sums);
    for (uint32_t id = 0; id < span_contexts_end(); id++) {
        struct span_values values = work_span_values(id);
        add_values(&sums[defined_context(id)], &values);
    }
    for (int i = 0; i < defined_count; i++)
        assert_memory_equal(&sums[i], &defined[i].values, sizeof sums[i]);
}

static void test_random_programs(void **state)
{
    (void)state;
    struct sim_frame frames[MAX_FRAMES];
    uint64_t steals = 0;
    for (int round = 0; round < 300; round++) {
        unsigned workers = 1 + (unsigned)round % MAX_WORKERS;
        struct body *root = make_root();
        uint64_t serial = random_below(1 << 20);
        expect(root, serial);
        steals += execute(root, serial, frames, workers, 1 + random_below(5));
        free_body(root);
        compare();
    }
    assert_true(steals > 1000);
    assert_true(span_totals_so_far().steals > 500);
}

static int init(void **state)
{
    (void)state;
    setenv("CILKSCALE_OUT", "/dev/null", 1);
    __csi_init();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_programs),
    };
    return cmocka_run_group_tests(tests, init, NULL);
}
