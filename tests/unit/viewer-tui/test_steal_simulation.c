/* The simulated work stealer: dags whose schedules are known, the bounds of greedy schedules on
 * random dags, and a simulation of every strand on its own. */
#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/scaling/simulated-speedups.h"
#include "tests/unit/random_numbers.h"

#include <math.h>
#include <stdlib.h>

/* ---- dags ---- */

/* Begins a node; the items follow. Returns its id. */
static uint32_t add_node(struct spawn_dag *dag, enum dag_kind kind)
{
    while (dag->nodes.n < DAG_FIRST_NODE)
        vec_push(&dag->nodes, (struct dag_node){0});
    vec_push(&dag->nodes, (struct dag_node){.kind = kind, .first = (uint32_t)dag->items.n});
    return (uint32_t)dag->nodes.n - 1;
}

/* `count` times a strand and a child, each of this length. */
static void add_item(struct spawn_dag *dag, uint32_t node, uint32_t count, double strand,
                     double work)
{
    struct dag_item item = {node, count, strand * count, work * count, 0};
    struct dag_node *last = &dag->nodes.at[dag->nodes.n - 1];
    vec_push(&dag->items, item);
    last->n++;
    last->work += item.strand + item.work;
}

static void complete(struct spawn_dag *dag, double burden)
{
    dag->burden = burden;
    assert_null(spawn_dag_complete(dag));
}

static double time_with(const struct spawn_dag *dag, unsigned workers, uint64_t seed)
{
    return simulate_stealing(dag, workers, seed).time;
}

static double work_of(const struct spawn_dag *dag)
{
    return dag->nodes.at[spawn_dag_root(dag)].work;
}

/* ---- schedules by hand ---- */

/* A spawned child of 10 beside a strand of 10, then a strand of 5 behind the sync. */
static void one_spawn(void **state)
{
    (void)state;
    static const struct {
        double burden, two;
    } known[] = {{0, 15}, {3, 18}, {100, 115}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct spawn_dag dag = {0};
        add_node(&dag, DAG_SPAWNS);
        add_item(&dag, DAG_STRAND, 1, 0, 10);
        add_item(&dag, DAG_NOTHING, 1, 10, 0);
        add_item(&dag, DAG_NOTHING, 1, 5, 0);
        complete(&dag, known[i].burden);
        assert_true(spawn_dag_span(&dag) == 15);
        assert_true(time_with(&dag, 1, 1) == 25);
        for (unsigned workers = 2; workers < 10; workers++)
            assert_true(time_with(&dag, workers, workers) == known[i].two);
        spawn_dag_free(&dag);
    }
}

/* Each procedure spawns the next one and does nothing beside it: no schedule is faster. The thief of
 * such a rest waits at its sync, and the burden does not lengthen the chain. */
static void chain(void **state)
{
    (void)state;
    struct spawn_dag dag = {0};
    uint32_t inner = DAG_STRAND;
    for (int i = 0; i < 50; i++) {
        double work = i ? dag.nodes.at[inner].work : 7;
        uint32_t outer = add_node(&dag, DAG_SPAWNS);
        add_item(&dag, inner, 1, 7, work);
        inner = outer;
    }
    complete(&dag, 3);
    for (unsigned workers = 1; workers < 20; workers++)
        assert_true(time_with(&dag, workers, 1) == 51 * 7);
    spawn_dag_free(&dag);
}

/* A perfect binary tree with 2^depth leaves. */
static void add_tree(struct spawn_dag *dag, int depth, double leaf)
{
    uint32_t below = DAG_STRAND;
    double work = leaf;
    for (int i = 0; i < depth; i++) {
        uint32_t node = add_node(dag, DAG_SPAWNS);
        add_item(dag, below, 1, 0, work);
        add_item(dag, below, 1, 0, work);
        below = node;
        work *= 2;
    }
}

/* Two workers have one half each. The tree of 2^40 leaves takes as little time to simulate as that
 * of two: its nodes are shared. */
static void binary_tree(void **state)
{
    (void)state;
    for (int depth = 1; depth <= 40; depth += 3) {
        struct spawn_dag dag = {0};
        add_tree(&dag, depth, 1);
        complete(&dag, 0);
        double work = ldexp(1, depth);
        assert_true(spawn_dag_span(&dag) == 1);
        assert_true(time_with(&dag, 1, 1) == work);
        assert_true(time_with(&dag, 2, 1) == work / 2);
        assert_in_range(simulate_stealing(&dag, 2, 1).steals, 1, 3);
        for (unsigned workers = 4; workers <= 1024; workers *= 4) {
            struct simulated_run run = simulate_stealing(&dag, workers, 1);
            assert_true(run.time >= fmax(work / workers, 1) && run.time <= work / workers + 1);
        }
        spawn_dag_free(&dag);
    }
}

/* A loop that spawns its chunks one after the other, with one worker for each of them. At each spawn
 * the rest of the loop is stolen. So the last chunk begins after all these steals. */
static void loop(void **state)
{
    (void)state;
    struct spawn_dag dag = {0};
    add_node(&dag, DAG_SPAWNS);
    add_item(&dag, DAG_STRAND, 8, 1, 100);
    complete(&dag, 4);
    assert_true(time_with(&dag, 1, 1) == 808);
    assert_true(time_with(&dag, 8, 1) == 8 * 1 + 7 * 4 + 100);
    assert_true(time_with(&dag, 1024, 1) == 8 * 1 + 7 * 4 + 100);
    spawn_dag_free(&dag);
}

/* A serial loop around a parallel one: each of its turns waits for all. */
static void series(void **state)
{
    (void)state;
    struct spawn_dag dag = {0};
    uint32_t block = add_node(&dag, DAG_SPAWNS);
    add_item(&dag, DAG_STRAND, 1, 0, 10);
    add_item(&dag, DAG_NOTHING, 1, 10, 0);
    add_node(&dag, DAG_SERIES);
    add_item(&dag, block, 1000, 2, 20);
    add_item(&dag, DAG_NOTHING, 1, 5, 0);
    complete(&dag, 1);
    assert_true(time_with(&dag, 1, 1) == 22005);
    for (unsigned workers = 2; workers < 100; workers *= 3)
        assert_true(time_with(&dag, workers, 1) == 1000 * (2 + 1 + 10) + 5);
    spawn_dag_free(&dag);
}

/* Ten million turns, each of which is a strand of 2, a steal and two strands of 10 beside each other. */
static void long_series(void **state)
{
    (void)state;
    struct spawn_dag dag = {0};
    uint32_t block = add_node(&dag, DAG_SPAWNS);
    add_item(&dag, DAG_STRAND, 2, 0, 10);
    add_node(&dag, DAG_SERIES);
    add_item(&dag, block, 10000000, 2, 20);
    complete(&dag, 1);
    for (unsigned workers = 2; workers < 100; workers *= 3) {
        struct simulated_run run = simulate_stealing(&dag, workers, 1);
        assert_true(run.time == 10000000.0 * (2 + 1 + 10));
        assert_true(run.steps < 10000);
    }
    spawn_dag_free(&dag);
}

/* A subtree that is scaled takes the scaled time; a summary is as parallel as its span allows. */
static void scaled_and_summarized(void **state)
{
    (void)state;
    struct spawn_dag dag = {0};
    uint32_t child = add_node(&dag, DAG_SPAWNS);
    add_item(&dag, DAG_STRAND, 2, 0, 10);
    add_node(&dag, DAG_SERIES);
    add_item(&dag, child, 1, 0, 60);
    complete(&dag, 0);
    assert_true(time_with(&dag, 2, 1) == 30);
    spawn_dag_free(&dag);
    child = add_node(&dag, DAG_SUMMARY);
    dag.nodes.at[child].work = 60;
    dag.nodes.at[child].span = 20;
    add_node(&dag, DAG_SERIES);
    add_item(&dag, child, 1, 0, 60);
    add_item(&dag, DAG_NOTHING, 1, 40, 0);
    complete(&dag, 0);
    assert_true(dag.summary == 0.6);
    assert_true(spawn_dag_span(&dag) == 60);
    assert_true(time_with(&dag, 3, 1) == 60);
    assert_true(time_with(&dag, 9, 1) == 60);
    spawn_dag_free(&dag);
}

/* ---- random dags ---- */

/* Nodes whose items refer to earlier ones, with integers for times. */
static void make_random(struct spawn_dag *dag, unsigned nodes, unsigned items)
{
    for (unsigned i = 0; i < nodes; i++) {
        bool is_series = i == nodes - 1 || random_below(4) == 0;
        uint32_t id = add_node(dag, is_series ? DAG_SERIES : DAG_SPAWNS);
        for (unsigned k = 1 + random_below(items); k > 0; k--) {
            unsigned node = random_below(id < 6 ? id : 6);
            node = node < DAG_FIRST_NODE ? node : id - node + 1;
            double work =
                node < DAG_FIRST_NODE ? node * random_below(30) : dag->nodes.at[node].work;
            add_item(dag, node, 1 + random_below(3) % 2 * (node == DAG_STRAND), random_below(20),
                     work);
        }
        if (dag->nodes.at[id].work == 0)
            add_item(dag, DAG_NOTHING, 1, 1, 0);
    }
}

/* Without burden, the schedule is greedy. */
static void greedy_bounds(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        struct spawn_dag dag = {0};
        make_random(&dag, 2 + random_below(12), 5);
        complete(&dag, 0);
        double work = work_of(&dag), span = spawn_dag_span(&dag), tiny = 1e-9 * work;
        for (unsigned workers = 1; workers < 50; workers = 2 * workers + random_below(2)) {
            struct simulated_run run = simulate_stealing(&dag, workers, random_state);
            assert_true(run.time >= fmax(work / workers, span) - tiny);
            assert_true(run.time <= work / workers + span * (1 - 1.0 / workers) + tiny);
            assert_true(run.time == time_with(&dag, workers, random_state));
        }
        spawn_dag_free(&dag);
    }
}

/* ---- every strand on its own ---- */

/* Two workers: each has only one victim, so nothing is chosen. */
enum { WORKERS = 2, MOST_DEPTH = 64 };

/* An activation or a called block, executed item by item. */
struct call {
    const struct dag_node *node;
    const struct dag_item *items;
    struct call *parent;
    bool is_call, is_waiting;
    uint32_t item, turn;
    int outstanding;
    double leaf; /* of a child without spawns: its time */
};

static struct naive {
    struct call
        *stack[MOST_DEPTH]; /* oldest first; those below the top can be stolen, if spawned */
    int depth, stolen;
    double free_at;   /* when it has executed its strand */
    bool is_at_child; /* it has executed the strand before the child, or the child without spawns */
} naive[WORKERS];

static const struct spawn_dag *naive_dag;

static struct call *make_call(struct call *parent, const struct dag_item *item, bool is_call)
{
    struct call *call = calloc(1, sizeof *call);
    call->parent = parent;
    call->is_call = is_call;
    if (item && item->node == DAG_STRAND) {
        call->leaf = item->work / item->count;
        return call;
    }
    call->node = &naive_dag->nodes.at[item ? item->node : spawn_dag_root(naive_dag)];
    call->items = spawn_dag_items(naive_dag, call->node);
    return call;
}

static void push(struct naive *worker, struct call *call)
{
    assert_true(worker->depth < MOST_DEPTH);
    worker->stack[worker->depth++] = call;
}

/* The place in the stack of the oldest call that has a spawned child above it; -1: none. */
static int oldest_rest(const struct naive *worker)
{
    for (int i = 0; i + 1 < worker->depth; i++)
        if (!worker->stack[i + 1]->is_call && worker->stack[i + 1]->parent == worker->stack[i])
            return i;
    return -1;
}

static bool end_call(struct naive *worker)
{
    struct call *call = worker->stack[--worker->depth], *parent = call->parent;
    bool is_on_stack = worker->depth > 0, is_call = call->is_call;
    free(call);
    if (!parent)
        return false;
    if (is_on_stack)
        return true;
    if (is_call || (--parent->outstanding == 0 && parent->is_waiting)) {
        parent->is_waiting = false;
        push(worker, parent);
    }
    return true;
}

/* Does all that takes no time after the worker's strand. False at the end of the program. */
static bool step(struct naive *worker, double now)
{
    for (;;) {
        if (worker->depth == 0)
            return true;
        struct call *call = worker->stack[worker->depth - 1];
        if (!call->node && worker->is_at_child) {
            worker->is_at_child = false;
            if (!end_call(worker))
                return false;
            continue;
        }
        if (!call->node) {
            worker->is_at_child = true;
            worker->free_at = now + call->leaf;
            return true;
        }
        if (call->item == call->node->n) {
            if (call->outstanding) {
                call->is_waiting = true;
                worker->depth--;
                assert_int_equal(worker->depth, 0);
                return true;
            }
            if (!end_call(worker))
                return false;
            continue;
        }
        const struct dag_item *item = &call->items[call->item];
        if (!worker->is_at_child) {
            worker->is_at_child = true;
            worker->free_at = now + item->strand / item->count;
            return true;
        }
        worker->is_at_child = false;
        call->turn++;
        if (call->turn == item->count) {
            call->turn = 0;
            call->item++;
        }
        if (item->node != DAG_NOTHING) {
            push(worker, make_call(call, item, call->node->kind == DAG_SERIES));
        } else if (call->outstanding && call->node->kind == DAG_SPAWNS) {
            call->is_waiting = true;
            worker->depth--;
            assert_int_equal(worker->depth, 0);
            return true;
        }
    }
}

static void naive_steal(struct naive *thief, struct naive *victim, double now)
{
    int at = oldest_rest(victim);
    if (at < 0)
        return;
    /* What lies below was called: it goes along, since it waits for this call. */
    struct call *rest = victim->stack[at];
    rest->outstanding++;
    for (int i = at + 1; i < victim->depth; i++)
        victim->stack[i - at - 1] = victim->stack[i];
    victim->depth -= at + 1;
    push(thief, rest);
    thief->is_at_child = false;
    thief->free_at = now + naive_dag->burden;
}

/* Lets both do what they can do now. False at the end of the program. */
static bool naive_advance(double now)
{
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        for (int w = 0; w < WORKERS; w++)
            for (; naive[w].depth > 0 && naive[w].free_at <= now; is_changed = true)
                if (!step(&naive[w], now))
                    return false;
    }
    for (int w = 0; w < WORKERS; w++)
        if (naive[w].depth == 0)
            naive_steal(&naive[w], &naive[1 - w], now);
    return true;
}

static double naive_time(const struct spawn_dag *dag)
{
    double now = 0;
    naive_dag = dag;
    for (int w = 0; w < WORKERS; w++)
        naive[w] = (struct naive){0};
    push(&naive[0], make_call(NULL, NULL, false));
    while (naive_advance(now)) {
        double next = INFINITY;
        for (int w = 0; w < WORKERS; w++)
            if (naive[w].depth > 0)
                next = fmin(next, naive[w].free_at);
        now = next;
    }
    return now;
}

static void strand_by_strand(void **state)
{
    (void)state;
    for (int round = 0; round < 600; round++) {
        struct spawn_dag dag = {0};
        make_random(&dag, 2 + random_below(7), 5);
        complete(&dag, round % 3 * 7);
        double expected = naive_time(&dag);
        assert_true(fabs(time_with(&dag, 2, random_state) - expected) < 1e-6);
        spawn_dag_free(&dag);
    }
}

/* ---- points of a curve ---- */

static void points(void **state)
{
    (void)state;
    static const unsigned others[] = {3, 6, 2000, 4};
    static const unsigned expected[] = {1, 2, 3, 4, 6, 8};
    struct spawn_dag dag = {0};
    add_tree(&dag, 20, 1);
    complete(&dag, 1);
    struct simulated_speedups found = simulated_speedups_of(&dag, 8, others, 4);
    assert_int_equal(found.points.n, 6);
    assert_false(found.is_cut);
    for (size_t i = 0; i < 6; i++) {
        const struct simulated_point *point = &found.points.at[i];
        assert_int_equal(point->workers, expected[i]);
        assert_true(point->low <= point->time && point->time <= point->high);
        assert_true(simulated_point_of(&found, expected[i]) == point);
    }
    assert_true(found.points.at[0].time == ldexp(DAG_UNIT, 20));
    assert_null(simulated_point_of(&found, 5));
    simulated_speedups_free(&found);
    spawn_dag_free(&dag);
}

/* A loop with so many steals that it is given up. */
static void too_many_steals(void **state)
{
    (void)state;
    struct spawn_dag dag = {0};
    add_node(&dag, DAG_SPAWNS);
    add_item(&dag, DAG_STRAND, MOST_STEPS, 1, 10);
    complete(&dag, 0);
    assert_true(isfinite(time_with(&dag, 1, 1)));
    assert_true(isnan(time_with(&dag, 2, 1)));
    struct simulated_speedups found = simulated_speedups_of(&dag, 8, NULL, 0);
    assert_true(found.is_cut);
    assert_int_equal(found.points.n, 1);
    simulated_speedups_free(&found);
    spawn_dag_free(&dag);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_spawn),
        cmocka_unit_test(chain),
        cmocka_unit_test(binary_tree),
        cmocka_unit_test(loop),
        cmocka_unit_test(series),
        cmocka_unit_test(long_series),
        cmocka_unit_test(scaled_and_summarized),
        cmocka_unit_test(greedy_bounds),
        cmocka_unit_test(strand_by_strand),
        cmocka_unit_test(points),
        cmocka_unit_test(too_many_steals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
