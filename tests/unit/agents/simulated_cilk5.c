#include "tests/unit/agents/simulated_cilk5.h"

#include "agents/common/loaded-modules.h"

#include <string.h>

extern int Cilk_flags_are_wrong_NODEBUG_NOTIMING_NOSTATS_please_recompile;
int Cilk_flags_are_wrong_NODEBUG_NOTIMING_NOSTATS_please_recompile;

struct hpctoolkit_cilk5 hpctoolkit_cilk5 = {.size = sizeof hpctoolkit_cilk5};

static volatile int effect;

__attribute__((noinline)) void Cilk_scheduler(void)
{
    effect = 1;
}

__attribute__((noinline)) void Cilk_child_main(void)
{
    effect = 2;
}

__attribute__((noinline)) void invoke_main_slow(void)
{
    effect = 3;
}

__attribute__((noinline)) void Cilk_wakeup_workers(void)
{
    effect = 7;
}

__attribute__((noinline)) void mt_cilk_main(void)
{
    effect = 8;
}

__attribute__((noinline)) void cilk_main(void)
{
    effect = 4;
}

__attribute__((noinline)) void _cilk_cilk_main_import(void)
{
    cilk_main();
    effect = 5;
}

__attribute__((noinline)) void _cilk_other_import(void)
{
    effect = 6;
}

_Static_assert(sizeof(struct closure) == 208 && offsetof(struct closure, status) == 44 &&
                   offsetof(struct closure, parent) == 80 && offsetof(struct closure, cache) == 104,
               "a closure");
_Static_assert(sizeof(struct deque) == 120 && offsetof(struct deque, bottom) == 48, "a deque");
_Static_assert(sizeof(struct worker) == 384 && offsetof(struct worker, self) == 96 &&
                   offsetof(struct worker, context) == 376,
               "a worker");
_Static_assert(offsetof(struct parameters, workers) == 32 &&
                   offsetof(struct parameters, deques) == 56,
               "parameters");

struct image image;
char user_code[CLOSURES * 16];

/* The argument of a worker's start routine. */
static struct {
    const void *context;
    int id;
} children[WORKERS];

/* ---- the host ---- */

unsigned reads, unreadable_read, thief_at;
void (*thief)(void);

static struct agent_frame path[8];
static uint32_t depth;

/* ---- threads that wait ---- */

static struct agent_slot slots_of_threads[AGENT_SLOTS];
static struct agent_slots all_slots = {.end = WAITING_THREADS, .chunk = {slots_of_threads}};
static uint64_t wrappers[WAITING_THREADS][2]; /* frames of hpcrun's wrappers: bp, return address */
static const uint64_t *outside;               /* pcs of the frames that step gives */
static uint64_t next_sp;                      /* of the frame from which the next step is */

void set_waiting(unsigned thread, enum agent_slot_state state, uint64_t pc, const uint64_t *pcs)
{
    wrappers[thread][0] = CALLERS_BP;
    wrappers[thread][1] = pc + 1;
    slots_of_threads[thread].state = state;
    slots_of_threads[thread].frame = address(wrappers[thread]);
    slots_of_threads[thread].thread = WAITING_THREAD + thread;
    outside = pcs;
    next_sp = address(wrappers[thread]) + sizeof wrappers[thread];
}

/* Each step is one word up. The first one is from the wrapper's caller. */
static bool step_outwards(const struct agent_cursor *cursor, struct agent_frame *frame)
{
    assert_int_equal(frame->bp, CALLERS_BP);
    assert_int_equal(frame->sp, next_sp);
    if (!*outside)
        return false;
    *frame = (struct agent_frame){*outside++, next_sp += 8, frame->bp};
    return true;
}

static bool holds(const void *object, size_t size, uint64_t from, uint64_t to)
{
    return from >= address(object) && to <= address(object) + size;
}

/* A thief acts before a certain read; a certain read fails. */
static bool read_memory(const struct agent_cursor *cursor, uint64_t from, void *to, size_t size)
{
    bool is_known = holds(&image, sizeof image, from, from + size) ||
                    holds(&hpctoolkit_cilk5.working, sizeof hpctoolkit_cilk5.working, from, from + size) ||
                    holds(&all_slots, sizeof all_slots, from, from + size) ||
                    holds(slots_of_threads, sizeof slots_of_threads, from, from + size) ||
                    holds(wrappers, sizeof wrappers, from, from + size);
    reads++;
    if (thief && reads == thief_at)
        thief();
    if (reads == unreadable_read || !is_known)
        return false;
    memcpy(to, (const void *)from, size);
    return true;
}

static bool frame_of_path(const struct agent_cursor *cursor, uint32_t i, struct agent_frame *frame)
{
    if (i >= depth)
        return false;
    *frame = path[i];
    return true;
}

static const struct agent_host host = {.claim = record_claim,
                                       .find_claim = recorded_claim,
                                       .refuse = record_refusal,
                                       .log = record_line,
                                       .read = read_memory,
                                       .path_frame = frame_of_path,
                                       .slots = &all_slots,
                                       .step = step_outwards};

/* ---- paths ---- */

void set_path(const uint64_t *pcs)
{
    for (depth = 0; pcs[depth]; depth++)
        path[depth] = (struct agent_frame){.pc = pcs[depth], .sp = 100 - depth};
}

static const uint64_t in_slow_clone[] = {LIBC, 0, 0, USER, USER, 0};

static void set_usual_path(void)
{
    uint64_t pcs[6];
    memcpy(pcs, in_slow_clone, sizeof pcs);
    pcs[1] = CHILD;
    pcs[2] = SCHEDULER;
    set_path(pcs);
}

/* ---- the image ---- */

static uint64_t slots[WORKERS + 1][8];

void set_worker(unsigned self, unsigned base, unsigned bottom)
{
    image.deques[self].bottom = image.deques[self].top = address(&image.closures[bottom]);
    for (unsigned i = base; i <= bottom; i++) {
        image.closures[i].cache = address(&image.workers[self]);
        image.closures[i].status = i == bottom ? RUNNING : READY;
        image.stacks[self][i - base] = address(&image.frames[i]);
    }
}

int set_up(void **state)
{
    memset(&image, 0, sizeof image);
    memset(slots, 0, sizeof slots);
    memset(slots_of_threads, 0, sizeof slots_of_threads);
    thief = NULL;
    unreadable_read = log_lines = reads = 0;
    image.context.parameters = address(&image.parameters);
    image.parameters.workers = WORKERS;
    image.parameters.deques = address(image.deques);
    for (unsigned i = 0; i < CLOSURES; i++) {
        image.closures[i] = (struct closure){.status = SUSPENDED,
                                             .parent = i ? address(&image.closures[i - 1]) : 0,
                                             .frame = address(&image.frames[i]),
                                             .site = i ? address(user_code + i * 16 - 11) : 0};
        image.frames[i].signature = address(&image.procedures[i]);
        image.procedures[i].slow = address(user_code + i * 16);
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        image.workers[i] = (struct worker){
            .self = i, .context = address(&image.context), .stack = address(image.stacks[i])};
        children[i].context = &image.context;
        children[i].id = (int)i;
        hpcrun_agent.thread_begin(
            slots[i], 1000 + (int)i,
            (struct agent_start_routine){address((void *)Cilk_child_main), address(&children[i])});
    }
    hpcrun_agent.thread_begin(slots[WORKERS], 2000, (struct agent_start_routine){0});
    set_usual_path();
    return 0;
}

/* ---- the agent ---- */

/* The module stands for a library, though it is this program: it stays loaded. */
bool module_pin(uint64_t at, const char *path, struct pinned_module *module)
{
    struct agent_module this = this_module();
    module->range = (struct code_range){this.start, this.end};
    return true;
}

void module_unpin(const struct pinned_module *module)
{
}

struct agent_module this_module(void)
{
    extern char __executable_start, _end;
    return (struct agent_module){.start = address(&__executable_start),
                                 .end = address(&_end),
                                 .bias = address(&__executable_start),
                                 .path = "/proc/self/exe"};
}

int recognize_runtime(void **state)
{
    const struct agent_module module = this_module();
    const struct agent_module linker = {
        .start = getauxval(AT_BASE), .end = getauxval(AT_BASE) + 16, .path = "/nowhere"};
    assert_true(hpcrun_agent.start(&host));
    hpcrun_agent.module_added(&linker);
    hpcrun_agent.module_added(&module);
    assert_int_equal(log_lines, 1); /* of the patch */
    assert_int_equal(claim_count, 3);
    return 0;
}

struct agent_cursor cursor_of(unsigned thread)
{
    return (struct agent_cursor){
        .thread_data = slots[thread], .state = fresh_state(), .tid = 1000 + (int)thread};
}

enum agent_thread_status class_of(unsigned thread)
{
    struct agent_cursor cursor = cursor_of(thread);
    return hpcrun_agent.unwind_begin(&cursor);
}

struct agent_worker_counts counts_in(unsigned thread)
{
    struct agent_cursor cursor = cursor_of(thread);
    hpcrun_agent.unwind_begin(&cursor);
    return hpcrun_agent.worker_counts(&cursor);
}

void begin_thread(unsigned thread, struct agent_start_routine origin)
{
    memset(slots[thread], 0, sizeof slots[thread]);
    hpcrun_agent.thread_begin(slots[thread], 1000 + (int)thread, origin);
}

void end_thread(unsigned thread)
{
    hpcrun_agent.thread_end(slots[thread]);
}
