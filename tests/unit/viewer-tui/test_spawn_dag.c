/* The reader of recorded dags: what it reads, and what it refuses. */
#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/db/spawn-dag.h"

#include "lib/bytes.h"

#include <stdlib.h>
#include <string.h>

/* ---- a dag of known numbers ---- */

/* Version, nodes, burden; then kind, work, span and items of each node, and of each item what it
 * refers to, how often, its strand and its work. */
static const uint64_t good[] = {
    DAG_VERSION, 3, 5,                                                               /**/
    DAG_SPAWNS,  30, 12, 2, DAG_STRAND, 2,           2,  20, DAG_NOTHING, 1, 8, 0,   /**/
    DAG_SUMMARY, 40, 10, 0,                                                          /**/
    DAG_SERIES,  80, 32, 3, 2,          1,           0,  15, 3,           1, 0, 60,  /**/
    DAG_NOTHING, 1,  5,  0,
};

#define NUMBERS (sizeof good / sizeof *good)

static size_t encode(const uint64_t *numbers, size_t n, uint8_t *bytes)
{
    uint8_t *at = bytes;
    for (size_t i = 0; i < n; i++)
        at = put_varint(at, numbers[i]);
    return (size_t)(at - bytes);
}

static const char *decode(const uint64_t *numbers, size_t n, struct spawn_dag *dag)
{
    uint8_t bytes[NUMBERS * VARINT_MAX_BYTES + VARINT_MAX_BYTES];
    return spawn_dag_decode(dag, bytes, encode(numbers, n, bytes));
}

static void all_is_read(void **state)
{
    (void)state;
    struct spawn_dag dag;
    assert_null(decode(good, NUMBERS, &dag));
    assert_int_equal(dag.nodes.n, DAG_FIRST_NODE + 3);
    assert_true(dag.burden == 5);
    const struct dag_node *first = &dag.nodes.at[2], *root = &dag.nodes.at[spawn_dag_root(&dag)];
    assert_true(first->kind == DAG_SPAWNS && first->work == 30 && first->n == 2);
    assert_true(spawn_dag_items(&dag, first)[1].begin == 22);
    assert_true(root->kind == DAG_SERIES && root->work == 80 && root->span == 32);
    assert_true(spawn_dag_items(&dag, root)[2].begin == 75);
    assert_true(dag.summary == 0.75);
    /* 12 x 15 / 30 for the first child, 10 x 60 / 40 for the summary, and the last strand. */
    assert_true(spawn_dag_span(&dag) == 6 + 15 + 5);
    spawn_dag_free(&dag);
}

/* A program without spawns that takes no time. */
static void empty_dag_is_read(void **state)
{
    (void)state;
    static const uint64_t empty[] = {DAG_VERSION, 1, 0, DAG_SPAWNS, 0, 0, 0};
    struct spawn_dag dag;
    assert_null(decode(empty, sizeof empty / sizeof *empty, &dag));
    assert_null(spawn_dag_items(&dag, &dag.nodes.at[spawn_dag_root(&dag)]));
    assert_true(spawn_dag_span(&dag) == 0 && dag.summary == 0);
    spawn_dag_free(&dag);
}

static void assert_refused(const uint64_t *numbers, size_t n)
{
    struct spawn_dag dag;
    assert_non_null(decode(numbers, n, &dag));
    spawn_dag_free(&dag);
}

static void changes_are_refused(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint64_t value;
    } bad[] = {
        {0, 2},                        /* another version */
        {1, 2},                        /* fewer nodes */
        {1, 4},                        /* more nodes */
        {1, DAG_MAX_NODES + 1},        /* too many */
        {3, DAG_KINDS},                /* an unknown kind */
        {4, 31},                       /* work that its items do not have */
        {5, 31},                       /* a span above the work */
        {6, DAG_MAX_ITEMS + 1},        /* too many items */
        {7, DAG_FIRST_NODE},           /* a node that is its own child */
        {7, 65},                       /* a node that does not exist */
        {8, 0},                        /* a child that is never spawned */
        {10, UINT64_MAX},              /* a time of centuries */
        {13, 7},                       /* strands that do not add up */
        {19, 3},                       /* a node that is missing */
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t numbers[NUMBERS];
        memcpy(numbers, good, sizeof good);
        numbers[bad[i].at] = bad[i].value;
        assert_refused(numbers, NUMBERS);
    }
}

static void cut_and_longer_ones_are_refused(void **state)
{
    (void)state;
    uint64_t numbers[NUMBERS + 1] = {0};
    memcpy(numbers, good, sizeof good);
    for (size_t n = 0; n < NUMBERS; n++)
        assert_refused(numbers, n);
    assert_refused(numbers, NUMBERS + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_read),
        cmocka_unit_test(empty_dag_is_read),
        cmocka_unit_test(changes_are_refused),
        cmocka_unit_test(cut_and_longer_ones_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
