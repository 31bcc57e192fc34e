/* Work and span of random fork-join programs, executed by a simulated work-stealing scheduler with
 * a simulated clock, against their definition (program_graph.h). */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/process/process.h"
#include "hpcrun/span/strand-clock.h"
#include "hpcrun/span/work-span.h"
#include "tests/unit/hpcrun/program_graph.h"
#include "tests/unit/hpcrun/simulated_clock.h"
#include "tests/unit/random_numbers.h"

#include <math.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SITES = 2, MAX_WORKERS = 8, MAX_DEPTH = 64 };

struct sampling sampling;

/* ---- random programs ---- */

/* Addresses that are the same in each run, since classes of grains depend on them. */
static const void *code_of(uint32_t procedure)
{
    return (const void *)(uintptr_t)(0x1000 + 16 * procedure);
}

static const void *site_of(int step)
{
    return (const void *)(uintptr_t)(0x2000 + 16 * (step % SITES));
}

static void add_step(struct body *body, struct body *spawned)
{
    body->steps[body->n++] = (struct step){.kind = spawned ? CREATE : WAIT, .count = 1, .child = spawned};
    if (spawned)
        spawned->parent = body;
}

static struct body *make_body(int depth, int step)
{
    struct body *body = calloc(1, sizeof *body);
    int steps = depth > 0 ? (int)random_below(12) : 0;
    body->code = code_of(random_below(PROCEDURES));
    body->site = site_of(step);
    for (int i = 0; i <= steps; i++)
        body->time[i] = 64 * (uint64_t)((1 << 19) + random_below(1 << 20)); /* 33 to 98 us: no grains */
    for (int i = 0; i < steps; i++)
        add_step(body, random_below(4) ? make_body(depth - 1 - (int)random_below(2), i) : NULL);
    return body;
}

/* ---- the simulated scheduler ---- */

static struct worker {
    struct body *stack[MAX_DEPTH];
    int depth, stolen;
    int told;      /* what calls below this depth do is told; a grain has this depth */
    uint64_t time; /* of the current strand */
} workers[MAX_WORKERS];
static unsigned worker_count, steal_odds, grains, steals_in_grains;

/* Whether an event of the top call is told, with the time of its strand. */
static bool is_told(struct worker *worker)
{
    if (worker->depth > worker->told)
        return false;
    strand_time = worker->time;
    worker->time = 0;
    return true;
}

/* The same for what is always told. */
static void event(struct worker *worker)
{
    worker->told = MAX_DEPTH;
    is_told(worker);
}

static unsigned number_of(const struct worker *worker)
{
    return (unsigned)(worker - workers);
}

static struct agent_activation procedure_of(const struct body *call)
{
    return (struct agent_activation){&call->code, &call->site};
}

static void resume(struct worker *worker, struct body *call)
{
    work_span_resumed(number_of(worker), call);
    worker->stack[0] = call;
    worker->depth = 1;
    worker->stolen = 0;
    worker->told = MAX_DEPTH;
}

/* A child of the call has ended on this worker, which has no other work. */
static void join(struct worker *worker, struct body *parent)
{
    worker->depth = 0;
    if (parent && --parent->children == 0 && parent->waits) {
        parent->waits = false;
        resume(worker, parent);
    }
}

static void suspend(struct worker *worker, struct body *base)
{
    assert_int_equal(worker->depth, 1);
    event(worker);
    work_span_suspended(number_of(worker), base);
    base->waits = true;
    worker->depth = 0;
}

static void end_call(struct worker *worker, struct body *call)
{
    if (worker->depth == 1) {
        if (call->children > 0) {
            suspend(worker, call);
            return;
        }
        event(worker);
        work_span_ended(number_of(worker));
        join(worker, call->parent);
        return;
    }
    assert_int_equal(call->children, 0);
    if (worker->stolen == worker->depth - 1) {
        event(worker);
        work_span_orphaned(number_of(worker));
        join(worker, call->parent);
        return;
    }
    if (--worker->depth > worker->told)
        return;
    event(worker);
    work_span_returned(number_of(worker));
}

static void spawn(struct worker *worker, struct body *child)
{
    if (is_told(worker) && work_span_spawned(number_of(worker), procedure_of(child))) {
        worker->told = worker->depth;
        grains++;
    }
    worker->stack[worker->depth++] = child;
}

/* Executes one strand of the top call and what follows it. A call that waited continues behind the
 * strand. */
static void step(struct worker *worker)
{
    struct body *call = worker->stack[worker->depth - 1];
    if (call->at > call->n) {
        end_call(worker, call);
        return;
    }
    worker->time += call->time[call->at];
    struct body *child = call->at < call->n ? call->steps[call->at].child : NULL;
    bool at_end = call->at++ == call->n;
    if (at_end) {
        end_call(worker, call);
    } else if (child) {
        spawn(worker, child);
    } else if (call->children > 0) {
        suspend(worker, call);
    } else if (is_told(worker)) {
        work_span_synced(number_of(worker));
    }
}

static void try_to_steal(struct worker *thief)
{
    struct worker *victim = &workers[random_below(worker_count)];
    if (victim == thief || victim->stolen >= victim->depth - 1 || random_below(steal_odds) > 0)
        return;
    struct body *call = victim->stack[victim->stolen++];
    call->children++;
    strand_time = victim->time;
    work_span_stolen(number_of(victim), call);
    steals_in_grains += strand_time < victim->time;
    victim->time = strand_time;
    strand_time = 0;
    resume(thief, call);
}

static bool is_running(void)
{
    for (unsigned i = 0; i < worker_count; i++)
        if (workers[i].depth > 0)
            return true;
    return false;
}

static void execute(struct body *root, uint64_t serial)
{
    strand_time = serial;
    work_span_run_begins(root, procedure_of(root));
    resume(&workers[0], root);
    while (is_running()) {
        struct worker *worker = &workers[random_below(worker_count)];
        if (worker->depth > 0)
            step(worker);
        else
            try_to_steal(worker);
    }
    work_span_run_ended();
}

static void compare(void)
{
    struct span_totals totals = work_span_totals();
    strand_time = 1000;
    assert_int_equal(work_span_totals().work.time,
                     totals.work.time); /* the serial strand ended once */
    strand_time = 0;
    assert_false(span_contexts_overflowed());
    assert_int_equal(span_contexts_end(), context_count);
    compare_results(totals);
}

/* ---- grains ---- */

/* Recursion of one procedure with short strands. A quarter of the children is missing. */
static struct body *make_recursion(int depth)
{
    struct body *body = calloc(1, sizeof *body);
    int steps = depth > 0 ? 4 : 0;
    body->code = code_of(PROCEDURES);
    body->site = site_of(0);
    for (int i = 0; i <= steps; i++)
        body->time[i] = (20 + random_below(100)) << STRAND_SHIFT;
    if (depth == 0)
        body->time[0] *= 4;
    for (int i = 0; i < steps; i++)
        add_step(body, i != 2 && random_below(4) ? make_recursion(depth - 1) : NULL);
    return body;
}

static uint64_t expected_spawns(void)
{
    uint64_t spawns = 0;
    for (int i = 0; i < MAX_CONTEXTS; i++)
        spawns += expected.by[i].spawns;
    return spawns;
}

/* What the product says of a program, as parts of the right values. PLAIN and BURDENED are spans. */
enum { SPAWNS = KINDS, ESTIMATES };
struct said {
    double estimate[ESTIMATES];
    bool is_work_exact, has_grains;
    unsigned steals;
};

static void say(unsigned number, struct said *said)
{
    random_state = number;
    worker_count = 1 + number % 6;
    steal_odds = 50;
    struct body *root = make_recursion(13);
    expect_cilk(root, 0);
    execute(root, 0);
    struct span_totals of = work_span_totals();
    said->is_work_exact = !of.is_incomplete && of.work.time == expected.all.work;
    /* Without grains an activation has three strands and more. */
    said->has_grains = grains > 50 && of.work.strands < of.spawns / 2;
    said->steals = steals_in_grains;
    said->estimate[PLAIN] = (double)of.span.time / (double)expected.all.span[PLAIN];
    said->estimate[BURDENED] = (double)of.burdened_span.time / (double)expected.all.span[BURDENED];
    said->estimate[SPAWNS] = (double)of.spawns / (double)expected_spawns();
}

/* In a process of its own, whose workers know no classes yet: so the estimates are independent. */
static void say_of_own(unsigned number, struct said *said)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        bool can = work_span_init(BURDEN);
        work_span_go_on();
        if (can)
            say(number, said);
        _exit(!can);
    }
    assert_true(waitpid(child, &status, 0) == child && status == 0);
}

#define PROGRAMS 16

/* Of two estimated paths the longer one is taken, and that is shorter than the longer true one: spans of
 * 60 such programs were 3 % too short on average. */
static const double bias[ESTIMATES] = {0.05, 0.05, 0};

/* An estimate rests on the activations that chance has chosen: one of a program is off by 5 %. The mean of
 * several is right within five standard deviations of that, which their spread shows. */
static void assert_right_on_average(const struct said *said, int which)
{
    double sum = 0, squares = 0;
    for (int i = 0; i < PROGRAMS; i++) {
        sum += said[i].estimate[which];
        squares += said[i].estimate[which] * said[i].estimate[which];
    }
    double mean = sum / PROGRAMS, variance = (squares / PROGRAMS - mean * mean) / (PROGRAMS - 1);
    assert_true(fabs(mean - 1) <= bias[which] + 5 * sqrt(variance));
    assert_true(sqrt(variance) < 0.03); /* else this says nothing */
}

/* The work of grains is exact, however they are stolen; spans are estimated. The first test: its children
 * know nothing yet. */
TEST(test_grains)
{
    struct said *said = mmap(NULL, PROGRAMS * sizeof *said, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsigned steals = 0;
    assert_ptr_not_equal(said, MAP_FAILED);
    for (unsigned i = 0; i < PROGRAMS; i++) {
        say_of_own(i, &said[i]);
        assert_true(said[i].is_work_exact && said[i].has_grains);
        assert_true(i % 6 > 0 || said[i].steals == 0); /* one worker */
        steals += said[i].steals;
    }
    assert_true(steals > 0);
    for (int which = 0; which < ESTIMATES; which++)
        assert_right_on_average(said, which);
    munmap(said, PROGRAMS * sizeof *said);
}

TEST(test_random_programs)
{
    uint64_t steals = 0;
    assert_true(work_span_init(BURDEN));
    work_span_go_on();
    for (int round = 0; round < 150; round++) {
        worker_count = 1 + (unsigned)round % MAX_WORKERS;
        steal_odds = 1 + random_below(5);
        struct body *root = make_body(6, 0);
        uint64_t serial = random_below(1 << 20);
        expect_cilk(root, serial);
        execute(root, serial);
        free_body(root);
        compare();
        bool alone = worker_count == 1;
        assert_true(!alone || work_span_totals().steals == steals);
        steals = work_span_totals().steals;
        work_span_go_on();
    }
    assert_true(steals > 1000);
}

/* Their number does not fit into 32 bits: a path of an hour has 2^33 strands of 0.4 us. */
TEST(test_strands_of_a_long_path)
{
    const uint64_t many = UINT64_C(5) << 32;
    struct worker_memory memory = {0};
    struct critical_path paths[KINDS] = {{many, many, many, NULL}, {many, many, many, NULL}};
    struct critical_path *const path[KINDS] = {&paths[PLAIN], &paths[BURDENED]};
    const struct span_totals before = span_totals_so_far();
    span_add_computation(many, path, span_context_of(CONTEXT_PROGRAM, (uint64_t)code_of(0), 0), &memory);
    assert_true(span_totals_so_far().span.strands == before.span.strands + many);
    assert_true(span_totals_so_far().burdened_span.strands == before.burdened_span.strands + many);
}
