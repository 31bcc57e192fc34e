#include "tests/unit/cmocka_suite.h"

#include "hpcprof/database/value-propagation.h"

/* 0 global
 * 1   entry
 * 2     main            called
 * 3       outer loop
 * 4         inner loop
 * 5           line
 * 6         line        of the outer loop
 * 7           helper    called there
 * 8             line
 * 9       line          of main, a call site
 * 10        tiny        inlined there
 * 11          line */
enum {
    ENTRY = 1,
    MAIN,
    OUTER,
    INNER,
    INNER_LINE,
    OUTER_LINE,
    HELPER,
    HELPER_LINE,
    SITE,
    TINY,
    TINY_LINE,
    CONTEXTS
};

static struct context tree[CONTEXTS] = {
    [0] = {.kind = CONTEXT_GLOBAL},
    [ENTRY] = {.parent = 0, .kind = CONTEXT_ENTRY},
    [MAIN] = {.parent = ENTRY, .kind = CONTEXT_CALL},
    [OUTER] = {.parent = MAIN, .kind = CONTEXT_LOOP},
    [INNER] = {.parent = OUTER, .kind = CONTEXT_LOOP_AT},
    [INNER_LINE] = {.parent = INNER, .kind = CONTEXT_LINE},
    [OUTER_LINE] = {.parent = OUTER, .kind = CONTEXT_LINE},
    [HELPER] = {.parent = OUTER_LINE, .kind = CONTEXT_CALL},
    [HELPER_LINE] = {.parent = HELPER, .kind = CONTEXT_LINE},
    [SITE] = {.parent = MAIN, .kind = CONTEXT_LINE},
    [TINY] = {.parent = SITE, .kind = CONTEXT_INLINED},
    [TINY_LINE] = {.parent = TINY, .kind = CONTEXT_LINE},
};

static uint32_t depth[CONTEXTS];
static struct numbered_contexts contexts = {.n = CONTEXTS, .at = tree, .depth = depth};
static struct event events[] = {{.name = "CPUTIME", .unit = "s"},
                                {.name = "FAULTS", .unit = "count"}};
static struct measurements measurements = {.events = {.at = events, .n = 2}};
static struct metric rows[] = {{.name = "work", .event = 0}, {.name = "FAULTS", .event = 1}};
static struct metric_table metrics = {.measurements = &measurements, .all = {.at = rows, .n = 2}};

STEP(measure_depths)
{
    for (uint32_t id = 1; id < CONTEXTS; id++) {
        depth[id] = depth[tree[id].parent] + 1;
        if (depth[id] > contexts.max_depth)
            contexts.max_depth = depth[id];
    }
}

/* The value of a block; 0 if it has none. Checks the order of the block. */
static double value_of(const struct value_block *block, uint32_t context, size_t metric,
                       enum propagation_scope scope)
{
    double found = 0;
    for (size_t i = 0; i < block->contexts.n; i++) {
        const struct v4_context_index *index = &block->contexts.at[i];
        size_t end = i + 1 < block->contexts.n ? index[1].start : block->values.n;
        assert_true(i == 0 || index[-1].context_id < index->context_id);
        assert_true(index->start < end);
        for (size_t k = index->start; k < end; k++) {
            const struct v4_metric_value *value = &block->values.at[k];
            assert_true(k == index->start || value[-1].metric_id < value->metric_id);
            assert_true(value->value != 0);
            if (index->context_id == context && value->metric_id == PROPAGATIONS * metric + scope)
                found = value->value;
        }
    }
    return found;
}

struct expected {
    uint32_t context;
    double point, function, lex_aware, execution;
};

static void check(const struct value_block *block, size_t metric, const struct expected *expected,
                  size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t context = expected[i].context;
        assert_true(value_of(block, context, metric, PROPAGATE_POINT) == expected[i].point);
        assert_true(value_of(block, context, metric, PROPAGATE_FUNCTION) == expected[i].function);
        assert_true(value_of(block, context, metric, PROPAGATE_LEX_AWARE) == expected[i].lex_aware);
        assert_true(value_of(block, context, metric, PROPAGATE_EXECUTION) == expected[i].execution);
    }
}

static void add_cost(struct profile *profile, uint32_t context, uint32_t metric, uint64_t amount)
{
    const struct cost cost = {.context = context, .metric = metric, .amount = amount};
    vec_push(&profile->costs, cost);
}

TEST(each_scope_sums_its_descendants)
{
    struct profile profile = {0};
    add_cost(&profile, MAIN, 1, 1);
    add_cost(&profile, INNER_LINE, 1, 2);
    add_cost(&profile, OUTER_LINE, 1, 4);
    add_cost(&profile, HELPER_LINE, 1, 8);
    add_cost(&profile, SITE, 1, 16);
    add_cost(&profile, TINY_LINE, 1, 32);
    struct value_block block = {0};
    struct values_scratch scratch = {0};
    values_of_profile(&block, &scratch, &contexts, &metrics, &profile);
    static const struct expected expected[] = {
        {0, 0, 0, 0, 63},          {ENTRY, 0, 0, 0, 63},  {MAIN, 1, 23, 23, 63},
        {OUTER, 0, 6, 4, 14},      {INNER, 0, 2, 2, 2},   {INNER_LINE, 2, 2, 2, 2},
        {OUTER_LINE, 4, 4, 4, 12}, {HELPER, 0, 8, 8, 8},  {HELPER_LINE, 8, 8, 8, 8},
        {SITE, 16, 16, 16, 48},    {TINY, 0, 32, 32, 32}, {TINY_LINE, 32, 32, 32, 32},
    };
    check(&block, 1, expected, sizeof expected / sizeof *expected);
    value_block_free(&block);
    values_scratch_free(&scratch);
    vec_free(&profile.costs);
}

TEST(scratch_can_be_used_again)
{
    struct value_block block = {0};
    struct values_scratch scratch = {0};
    for (uint64_t amount = 1; amount < 4; amount++) {
        struct profile profile = {0};
        add_cost(&profile, INNER, 0, amount << TIME_SHIFT);
        values_of_profile(&block, &scratch, &contexts, &metrics, &profile);
        const struct expected expected[] = {
            {0, 0, 0, 0, (double)amount / 1e9},
            {OUTER, 0, (double)amount / 1e9, 0, (double)amount / 1e9},
            {HELPER, 0, 0, 0, 0},
        };
        check(&block, 0, expected, 3);
        vec_free(&profile.costs);
    }
    value_block_free(&block);
    values_scratch_free(&scratch);
}

TEST(sums_of_all_threads_are_exact)
{
    struct profile profiles[2] = {0};
    add_cost(&profiles[0], INNER_LINE, 1, UINT64_MAX);
    add_cost(&profiles[1], INNER_LINE, 1, UINT64_MAX);
    add_cost(&profiles[1], MAIN, 1, 2);
    add_cost(&profiles[1], MAIN, 0, 5 << TIME_SHIFT);
    const struct projection projection = {.profiles = {.at = profiles, .n = 2}};
    struct value_block block = {0};
    struct values_scratch scratch = {0};
    values_of_all(&block, &scratch, &contexts, &metrics, &projection);
    assert_true(value_of(&block, 0, 1, PROPAGATE_EXECUTION) == 0x1p65); /* 2 (2^64 - 1) + 2 */
    assert_true(value_of(&block, 0, 0, PROPAGATE_EXECUTION) == 5e-9);
    assert_true(value_of(&block, MAIN, 0, PROPAGATE_POINT) == 5e-9);
    assert_true(value_of(&block, INNER, 0, PROPAGATE_EXECUTION) == 0);
    value_block_free(&block);
    values_scratch_free(&scratch);
    for (size_t i = 0; i < 2; i++)
        vec_free(&profiles[i].costs);
}

TEST(a_thread_without_costs_has_no_values)
{
    struct profile profile = {0};
    struct value_block block = {0};
    struct values_scratch scratch = {0};
    values_of_profile(&block, &scratch, &contexts, &metrics, &profile);
    assert_int_equal(block.values.n + block.contexts.n, 0);
    value_block_free(&block);
    values_scratch_free(&scratch);
}

ALL_TESTS(measure_depths, NULL);
