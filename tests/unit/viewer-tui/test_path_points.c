/* Shares of call paths by points, of paths whose time is known. */
#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/advice/path-points.h"

#include <math.h>

#define PATHS 8192

static uint32_t node_of[PATHS];

static bool works(enum trace_state state)
{
    return state == TRACE_WORK;
}

/* Points at node 1 of paths with equal times, of which `one` in `of` are there, and the others at node 2. */
static double share_of(uint32_t one, uint32_t of)
{
    struct record_sums sums = {0};
    double found = 0;
    for (uint32_t i = 0; i < PATHS; i++) {
        node_of[i] = i % of < one ? 1 : 2;
        vec_push(&sums.list, ((struct record_sum){.place = i, .state = TRACE_WORK, .amount = 10}));
        vec_push(&sums.list, ((struct record_sum){.place = i, .state = TRACE_WAITING, .amount = 1000}));
    }
    struct path_points points = path_points_of(&sums, node_of, works);
    assert_int_equal(points.n, 4096);
    assert_true(points.amount == 10.0 * PATHS);
    for (size_t i = 0; i < points.list.n; i++)
        found += points.list.at[i].node == 1 ? points.list.at[i].n : 0;
    vec_free(&points.list);
    vec_free(&sums.list);
    return found / points.n;
}

/* Three deviations: the points are always the same. */
TEST(paths_in_turns)
{
    for (uint32_t of = 2; of <= 64; of *= 2)
        for (uint32_t one = 1; one < of; one++) {
            double share = (double)one / of;
            assert_true(fabs(share_of(one, of) - share) < 3 * sqrt(share * (1 - share) / 4096));
        }
}
