#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/base/task.h"
#include "viewer-tui/db/profile-values.h"

#include <math.h>

/* A part of profile.db in memory: values at 0, the index behind them. */
struct fixture {
    uint8_t bytes[8192];
    struct v4_map map;
    struct v4_context_values block;
    struct values values;
};

#define INDEX_AT 4096

/* Contexts ids[0..n-1], each with one value of metric 3: its id. */
static void fill(struct fixture *fixture, const uint32_t *ids, uint32_t n)
{
    memset(fixture, 0, sizeof *fixture);
    for (uint32_t i = 0; i < n; i++) {
        struct v4_metric_value value = {.metric_id = 3, .value = ids[i]};
        struct v4_context_index entry = {.context_id = ids[i], .start = i};
        memcpy(fixture->bytes + i * sizeof value, &value, sizeof value);
        memcpy(fixture->bytes + INDEX_AT + i * sizeof entry, &entry, sizeof entry);
    }
    fixture->map = (struct v4_map){
        .path = (char *)"profile.db", .bytes = fixture->bytes, .size = sizeof fixture->bytes};
    fixture->block = (struct v4_context_values){
        .n_values = n, .values = 0, .n_contexts = n, .contexts = INDEX_AT};
}

TEST(positions_are_found_from_anywhere)
{
    static struct fixture fixture;
    uint32_t ids[200];
    for (uint32_t n = 0; n <= 200; n += n < 10 ? 1 : 19) {
        for (uint32_t i = 0; i < n; i++)
            ids[i] = 5 + 3 * i;
        fill(&fixture, ids, n);
        assert_true(values_open(&fixture.values, &fixture.map, &fixture.block));
        for (uint32_t i = 0; i < n; i++) {
            size_t count;
            const struct v4_metric_value *its = values_at(&fixture.values, i, &count);
            assert_int_equal(count, 1);
            assert_true(its->value == ids[i]);
        }
        for (uint32_t id = 0; id < 5 + 3 * n + 4; id++)
            for (uint64_t near = 0; near < n + 3u; near++) {
                bool is_there = id >= 5 && (id - 5) % 3 == 0 && (id - 5) / 3 < n;
                uint64_t expected = is_there ? (id - 5) / 3 : NO_POSITION;
                assert_true(values_position(&fixture.values, id, near) == expected);
            }
    }
}

TEST(values_are_found_by_their_ids)
{
    static struct fixture fixture;
    const uint32_t id = 7;
    fill(&fixture, &id, 1);
    const double scopes[] = {1, 2, 4, 8};
    enum { METRIC_SCOPES = 4 };
    for (int scope = 0; scope < METRIC_SCOPES; scope++) {
        struct v4_metric_value value = {.metric_id = (uint16_t)(10 + scope),
                                        .value = scopes[scope]};
        memcpy(fixture.bytes + (size_t)scope * sizeof value, &value, sizeof value);
    }
    fixture.block.n_values = METRIC_SCOPES;
    assert_true(values_open(&fixture.values, &fixture.map, &fixture.block));
    for (int scope = 0; scope < METRIC_SCOPES; scope++)
        assert_true(values_get(&fixture.values, 0, 10 + scope) == scopes[scope]);
    assert_true(values_get(&fixture.values, 0, 99) == 0);
    assert_true(values_get(&fixture.values, NO_POSITION, 10) == 0);
}

TEST(damaged_tables_are_refused)
{
    static struct fixture fixture;
    const uint32_t falling[] = {3, 2}, twice[] = {3, 3}, sound[] = {2, 3};
    fill(&fixture, falling, 2);
    assert_false(values_open(&fixture.values, &fixture.map, &fixture.block));
    fill(&fixture, twice, 2);
    assert_false(values_open(&fixture.values, &fixture.map, &fixture.block));
    fill(&fixture, sound, 2);
    fixture.block.n_contexts = UINT32_MAX;
    assert_false(values_open(&fixture.values, &fixture.map, &fixture.block));
    fill(&fixture, sound, 2);
    fixture.block.n_values = UINT64_MAX;
    assert_false(values_open(&fixture.values, &fixture.map, &fixture.block));
    fill(&fixture, sound, 2);
    fixture.block.n_values = 0; /* the second context's values begin behind the end */
    assert_false(values_open(&fixture.values, &fixture.map, &fixture.block));
    fill(&fixture, sound, 2);
    fixture.block.contexts = INDEX_AT + 2; /* not aligned */
    assert_false(values_open(&fixture.values, &fixture.map, &fixture.block));
    fill(&fixture, sound, 2);
    assert_true(values_open(&fixture.values, &fixture.map, &fixture.block));
    assert_non_null(strstr(problem_text(), "profile.db: corrupt"));
    problem_clear();
}

TEST(what_is_no_number_is_nothing_and_a_problem)
{
    static struct fixture fixture;
    const uint32_t id = 1;
    fill(&fixture, &id, 1);
    struct v4_metric_value value = {.metric_id = 3, .value = NAN};
    memcpy(fixture.bytes, &value, sizeof value);
    assert_true(values_open(&fixture.values, &fixture.map, &fixture.block));
    assert_null(problem_text());
    assert_true(values_get(&fixture.values, 0, 3) == 0);
    assert_non_null(problem_text());
    problem_clear();
}
