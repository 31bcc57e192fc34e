#include "tests/unit/hpcrun/simulated_cilk.h"

#include "tests/unit/cmocka_suite.h"

#include "hpcrun/cilktool/cilkscale-probes.h"
#include "hpcrun/cilktool/csi-hooks.h"
#include "hpcrun/span/strand-clock.h"
#include "hpcrun/span/task-threads.h"
#include "tests/unit/hpcrun/simulated_clock.h"
#include "tests/unit/random_numbers.h"

enum { MAY_SPAWN_ENTRY = 1 << 8, MAY_SPAWN_EXIT = 1, STACK = 128 };

/* ---- the observer's records of threads ---- */

static struct task_thread records[MAX_WORKERS], *self = records;

struct task_thread *task_thread_mine(void)
{
    if (!self->tally)
        self->tally = span_tally_new();
    return self;
}

struct task_thread *task_thread_existing(void)
{
    return self;
}

/* ---- calls of hooks ---- */

/* hook_from_N(frame, hook, a, b, c, d): calls hook(a, b, c, d) with `frame` as the frame pointer, and
 * returns to called_from_N. */
__asm__(".macro hook_from number\n"
        "hook_from_\\number:\n"
        "    push %rbp\n"
        "    mov %rdi, %rbp\n"
        "    mov %rsi, %rax\n"
        "    mov %rdx, %rdi\n"
        "    mov %rcx, %rsi\n"
        "    mov %r8, %rdx\n"
        "    mov %r9, %rcx\n"
        "    call *%rax\n"
        "called_from_\\number:\n"
        "    pop %rbp\n"
        "    ret\n"
        ".endm\n"
        ".text\n"
        "hook_from 0\n hook_from 1\n hook_from 2\n hook_from 3\n");

typedef void caller(const void *frame, void (*hook)(void), uint64_t a, uint64_t b, uint64_t c,
                    uint64_t d);
caller hook_from_0, hook_from_1, hook_from_2, hook_from_3;
extern const char called_from_0[], called_from_1[], called_from_2[], called_from_3[];

static caller *const callers[] = {hook_from_0, hook_from_1, hook_from_2, hook_from_3};
static const char *const places[] = {called_from_0, called_from_1, called_from_2, called_from_3};
static const char call_sites[SITES];

_Static_assert(PROCEDURES == 4 && SITES <= 4, "there is a caller for each");

void call_hook(unsigned worker, unsigned place, const void *frame, void (*hook)(void), uint64_t a,
               uint64_t b, uint64_t c, uint64_t d)
{
    self = &records[worker];
    callers[place](frame, hook, a, b, c, d);
}

/* ---- programs ---- */

static struct body *make_body(struct body *parent, bool is_task, int depth);

/* The compiler puts a sync before the end of a body that has spawned. */
static void add_step(struct body *body, enum kind kind, int depth)
{
    struct step *step = &body->steps[body->n++];
    *step = (struct step){.kind = kind, .count = 1};
    if (kind == CREATE || kind == CALL)
        step->child = make_body(body, kind == CREATE, depth - 1 - (int)random_below(2));
}

static struct body *make_body(struct body *parent, bool is_task, int depth)
{
    static const enum kind kinds[] = {NOTHING, CREATE, CREATE, CREATE, CALL, CALL, WAIT};
    struct body *body = calloc(1, sizeof *body);
    int steps = depth > 0 ? (int)random_below(12) : 0;
    bool spawns = false, is_open = false;
    body->parent = parent;
    body->is_task = is_task;
    body->procedure = random_below(PROCEDURES);
    body->place = random_below(SITES);
    body->code = places[body->procedure];
    body->site = is_task ? places[body->place] : &call_sites[body->place];
    for (int i = 0; i < steps; i++) {
        add_step(body, kinds[random_below(sizeof kinds / sizeof *kinds)], depth);
        enum kind kind = body->steps[i].kind;
        is_open = kind == CREATE || (is_open && kind != WAIT);
        spawns |= kind == CREATE;
    }
    if (is_open)
        add_step(body, WAIT, depth);
    body->is_hidden = is_task || (!spawns && parent);
    for (int i = 0; i < body->n; i++)
        if (body->steps[i].kind == WAIT && !spawns)
            body->steps[i].kind = NOTHING; /* as compilers do */
    for (int i = 0; i <= body->n; i++)
        body->time[i] = 64 * (uint64_t)(1 + random_below(1 << 20)); /* up to 66 us */
    return body;
}

struct body *make_root(void)
{
    return make_body(NULL, false, 5);
}

/* ---- workers ---- */

/* A chain of bodies: each calls or spawns the next one. */
struct stack {
    struct body *at[STACK];
    int depth;
};

static struct worker {
    struct stack stack;
    uint64_t time; /* of the current strand */
} workers[MAX_WORKERS];

static struct {
    struct sim_frame *frames;
    unsigned free[MAX_FRAMES], free_count;
    unsigned workers;
    uint64_t steals;
} machine;

/* A hook that ends no strand leaves the time to the next one. */
static void hook(struct worker *worker, unsigned place, const struct body *body,
                 void (*function)(void), uint64_t b, uint64_t c)
{
    strand_time = worker->time;
    call_hook((unsigned)(worker - workers), place, body->frame, function, 0, b, c, 0);
    worker->time = strand_time;
    strand_time = 0;
}

/* Addresses are used again. */
static void push(struct worker *worker, struct body *body)
{
    assert_true(machine.free_count > 0 && worker->stack.depth < STACK);
    unsigned number = machine.free[--machine.free_count];
    machine.frames[number].return_address = &call_sites[body->place];
    body->frame = &machine.frames[number];
    worker->stack.at[worker->stack.depth++] = body;
}

static void pop(struct worker *worker)
{
    const struct body *body = worker->stack.at[--worker->stack.depth];
    machine.free[machine.free_count++] =
        (unsigned)((const struct sim_frame *)body->frame - machine.frames);
}

static void begin(struct worker *worker, struct body *body)
{
    body->phase = RUNS;
    if (body->is_task)
        hook(worker, 0, body, HOOK_OF(__csi_task), 0, 0);
    else
        hook(worker, body->procedure, body, HOOK_OF(__csi_func_entry),
             body->is_hidden ? 0 : MAY_SPAWN_ENTRY, 0);
}

static void end(struct worker *worker, struct body *body)
{
    body->phase = EXITED;
    if (body->is_task)
        hook(worker, 0, body, HOOK_OF(__csi_task_exit), 0, 0);
    else if (!body->is_hidden)
        hook(worker, 0, body, HOOK_OF(__csi_func_exit), 0, MAY_SPAWN_EXIT);
}

/* The worker has no more code behind a task that ended. */
static void join(struct worker *worker, struct body *spawner)
{
    struct stack *suspended = spawner->suspended;
    if (--spawner->children > 0 || !suspended)
        return;
    worker->stack = *suspended;
    spawner->suspended = NULL;
    free(suspended);
}

/* The body below continues, if it was not stolen meanwhile. */
static void leave(struct worker *worker, struct body *body)
{
    pop(worker);
    if (worker->stack.depth > 0)
        return;
    if (body->parent)
        join(worker, body->parent);
}

static void suspend(struct worker *worker, struct body *body)
{
    body->suspended = malloc(sizeof *body->suspended);
    *body->suspended = worker->stack;
    worker->stack.depth = 0;
}

static void compare_probe(struct worker *worker, const struct lengths *right)
{
    self = &records[worker - workers];
    strand_time = worker->time;
    worker->time = 0;
    wsp_t values = wsp_getworkspan();
    assert_int_equal(values.work, right->work >> STRAND_SHIFT);
    assert_int_equal(values.span, right->span[PLAIN] >> STRAND_SHIFT);
    assert_int_equal(values.bspan, right->span[BURDENED] >> STRAND_SHIFT);
}

static void do_step(struct worker *worker, struct body *body, struct step *step)
{
    if (random_below(4) == 0)
        compare_probe(worker, &step->probe);
    switch (step->kind) {
    case NOTHING: break;
    case CREATE:
        body->phase = CONTINUES;
        hook(worker, step->child->place, body, HOOK_OF(__csi_detach), 0, 0);
        push(worker, step->child);
        break;
    case CALL: push(worker, step->child); break;
    case WAIT:
        body->phase = WAITS;
        hook(worker, 0, body, HOOK_OF(__csi_before_sync), 0, 0);
        break;
    default: break;
    }
}

static void run_body(struct worker *worker, struct body *body)
{
    int at = body->at++;
    worker->time += body->time[at];
    if (at == body->n)
        end(worker, body);
    else
        do_step(worker, body, &body->steps[at]);
}

/* One action of the top body; between any two of them others may act. */
static void act(struct worker *worker)
{
    struct body *body = worker->stack.at[worker->stack.depth - 1];
    switch (body->phase) {
    case BEGINS: begin(worker, body); break;
    case RUNS: run_body(worker, body); break;
    case CONTINUES:
        body->phase = RUNS;
        hook(worker, 0, body, HOOK_OF(__csi_detach_continue), 0, 0);
        break;
    case WAITS:
        body->phase = SYNCS;
        if (body->children > 0)
            suspend(worker, body);
        break;
    case SYNCS:
        body->phase = RUNS;
        hook(worker, 0, body, HOOK_OF(__csi_after_sync), 0, 0);
        break;
    case EXITED: leave(worker, body);
    }
}

/* The thief gets all bodies up to the outermost one that waits for a task it has spawned. */
static void steal(struct worker *thief, struct worker *victim)
{
    struct stack *from = &victim->stack;
    int kept = 1;
    while (kept < from->depth && !from->at[kept]->is_task)
        kept++;
    if (kept >= from->depth)
        return;
    memcpy(thief->stack.at, from->at, (size_t)kept * sizeof *from->at);
    memmove(from->at, from->at + kept, (size_t)(from->depth - kept) * sizeof *from->at);
    thief->stack.depth = kept;
    from->depth -= kept;
    thief->stack.at[kept - 1]->children++;
    machine.steals++;
}

static bool is_running(void)
{
    for (unsigned i = 0; i < machine.workers; i++)
        if (workers[i].stack.depth > 0)
            return true;
    return false;
}

uint64_t execute(struct body *root, uint64_t serial, struct sim_frame frames[MAX_FRAMES],
                 unsigned count, unsigned rarity)
{
    machine.frames = frames;
    machine.workers = count;
    machine.steals = 0;
    for (machine.free_count = 0; machine.free_count < MAX_FRAMES; machine.free_count++)
        machine.free[machine.free_count] = machine.free_count;
    workers[0].time = serial;
    push(&workers[0], root);
    while (is_running()) {
        struct worker *worker = &workers[random_below(count)];
        struct worker *victim = &workers[random_below(count)];
        if (worker->stack.depth > 0)
            act(worker);
        else if (worker != victim && random_below(rarity) == 0)
            steal(worker, victim);
    }
    self = records;
    return machine.steals;
}
