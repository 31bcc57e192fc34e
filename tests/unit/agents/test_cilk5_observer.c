/* The observer for a patched Cilk-5: what hpcrun is told of the events of its workers. */
#include "tests/unit/cmocka_suite.h"

#include "agents/cilk5/cilk5-observer.h"

/* ---- hpcrun's side: a line of what it was told ---- */

static char told[256];
static const char *refusal;

static void tell(const char *what, unsigned worker)
{
    size_t end = strlen(told);
    snprintf(told + end, sizeof told - end, " %s-%u", what, worker);
}

static struct agent_activation root, last;
static const void *begun, *last_key;

static void run_begins(const void *key, struct agent_activation activation)
{
    root = activation;
    begun = key;
}

static void run_ended(void)
{
    begun = NULL;
}

static void resumed(unsigned worker, const void *key)
{
    last_key = key;
    tell("resumed", worker);
}

static bool spawns_grain;

static bool spawned(unsigned worker, struct agent_activation child)
{
    last = child;
    tell("spawned", worker);
    return spawns_grain;
}

static void returned(unsigned worker)
{
    tell("returned", worker);
}

static void orphaned(unsigned worker)
{
    tell("orphaned", worker);
}

static void synced(unsigned worker)
{
    tell("synced", worker);
}

static void suspended(unsigned worker, const void *key)
{
    last_key = key;
    tell("suspended", worker);
}

static void ended(unsigned worker)
{
    tell("ended", worker);
}

static void stolen(unsigned victim, const void *key)
{
    last_key = key;
    tell("stolen", victim);
}

static void cannot_follow(const char *why)
{
    refusal = why;
}

static const struct agent_dag dag = {.run_begins = run_begins,
                                     .run_ended = run_ended,
                                     .resumed = resumed,
                                     .spawned = spawned,
                                     .returned = returned,
                                     .orphaned = orphaned,
                                     .synced = synced,
                                     .suspended = suspended,
                                     .ended = ended,
                                     .stolen = stolen};
static const struct agent_tasks tasks = {.cannot_follow = cannot_follow};
static const struct agent_host host = {.dag = &dag, .tasks = &tasks};

/* ---- Cilk-5's side ---- */

static struct hpctoolkit_cilk5 runtime;
static char first_frame, main_frame, call_of_runtime[2];
static char code_of[4][16], slow_clone[4];
static const void *const slow[] = {&slow_clone[0], &slow_clone[1], &slow_clone[2], &slow_clone[3]};

static const struct hpctoolkit_cilk5_observer *begin(void)
{
    return runtime.observer->run_begins(&first_frame, &call_of_runtime[1]);
}

STEP(set_up)
{
    cilk5_observe(&host, &runtime);
    told[0] = '\0';
    refusal = NULL;
}

/* ---- tests ---- */

TEST(the_root_is_the_first_procedure)
{
    const struct hpctoolkit_cilk5_observer *observer = begin();
    assert_ptr_equal(begun, &first_frame);
    observer->resumed(0, &first_frame);
    observer->spawned(0, 1, &slow[0], &code_of[0][4]);
    assert_ptr_equal(*root.code, &slow_clone[0]);
    assert_ptr_equal(*root.site, &call_of_runtime[1]);
    observer->spawned(0, 2, &slow[1], &code_of[1][4]);
    assert_ptr_equal(*root.code, &slow_clone[0]);
    observer->run_ended();
    assert_null(begun);
    observer = begin();
    assert_null(*root.code);
    observer->spawned(0, 1, &slow[2], &code_of[0][4]);
    assert_ptr_equal(*root.code, &slow_clone[2]);
    observer->run_ended();
}

/* hpcrun reads a site as late as when the procedure ends. A site is one byte behind the address that
 * the runtime recorded. */
TEST(sites_stay_while_procedures_run)
{
    const struct hpctoolkit_cilk5_observer *observer = begin();
    struct agent_activation activations[3];
    for (int i = 0; i < 3; i++) {
        observer->resumed(i % 2, &first_frame);
        observer->spawned(i % 2, 1 + i / 2, &slow[i], &code_of[i][4]);
        activations[i] = last;
    }
    for (int i = 0; i < 3; i++) {
        assert_ptr_equal(*activations[i].code, &slow_clone[i]);
        assert_ptr_equal(*activations[i].site, &code_of[i][5]);
    }
    observer->run_ended();
}

TEST(sites_beyond_the_limits_are_unknown)
{
    const struct hpctoolkit_cilk5_observer *observer = begin();
    const long places[][2] = {{0, 65536}, {256, 1}, {5, 1}}; /* the last one was not resumed */
    observer->resumed(0, &first_frame);
    observer->resumed(256, &first_frame);
    for (int i = 0; i < 3; i++) {
        observer->spawned((int)places[i][0], places[i][1], &slow[i], &code_of[0][4]);
        assert_null(*last.site);
        assert_ptr_equal(*last.code, &slow_clone[i]);
    }
    observer->run_ended();
}

TEST(events_are_passed_on)
{
    const struct hpctoolkit_cilk5_observer *observer = begin();
    observer->resumed(0, &first_frame);
    assert_ptr_equal(last_key, &first_frame);
    observer->spawned(0, 1, &slow[0], &code_of[0][4]);
    observer->stolen(0, &main_frame);
    assert_ptr_equal(last_key, &main_frame);
    observer->resumed(1, &first_frame);
    observer->returned(0);
    observer->synced(2);
    observer->orphaned(0);
    observer->suspended(1, &main_frame);
    assert_ptr_equal(last_key, &main_frame);
    observer->ended(3);
    spawns_grain = true;
    assert_true(observer->spawned(0, 1, &slow[0], &code_of[0][4]));
    spawns_grain = false;
    assert_false(observer->spawned(0, 1, &slow[0], &code_of[0][4]));
    observer->run_ended();
    assert_string_equal(told,
                        " resumed-0 spawned-0 stolen-0 resumed-1 returned-0 synced-2 orphaned-0"
                        " suspended-1 ended-3 spawned-0 spawned-0");
}

TEST(a_second_computation_at_the_same_time_is_not_observed)
{
    const struct hpctoolkit_cilk5_observer *observer = begin();
    assert_null(refusal);
    assert_null(begin());
    assert_string_equal(refusal, "several computations of Cilk-5 ran at the same time");
    observer->run_ended();
    assert_non_null(begin());
    observer->run_ended();
}

EACH_TEST(set_up, NULL);
