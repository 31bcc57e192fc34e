/* The agent for OpenCilk on a simulated runtime. This program is the user's, simulated-cheetah.c is the
 * runtime's module. The runtime's data are here, and the tests put them into each state that
 * ../shared/facts/opencilk.md describes, and into the states in between. */
#include "tests/unit/agents/recording_host.h"

#include "agents/opencilk/opencilk-layout.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/uio.h>
#include <unistd.h>

extern uint64_t made_worker_0[128];
extern __thread void *__cilkrts_tls_worker, *__cilkrts_current_fh;
extern bool __cilkrts_need_to_cilkify;
void Cilk_exception_handler(void *worker, char *exception);
void __cilkrts_sync(void *frame);
extern void *__libc_stack_end;

enum { IDLE = 10, SCHED = 11, STEAL = 12, RUN = 13 };

/* ---- the user's program ---- */

static volatile int parent_was_stolen, work;

__attribute__((noinline)) static void user(void)
{
    work++;
}

__attribute__((noinline)) static void pure_helper(void)
{
    user();
    if (parent_was_stolen)
        Cilk_exception_handler(NULL, NULL);
    work++;
}

/* Ends in a jump to the runtime. */
__attribute__((noinline)) static void jumping_helper(void)
{
    user();
    if (parent_was_stolen)
        Cilk_exception_handler(NULL, NULL);
}

/* A part of a loop: spawns and is spawned. */
__attribute__((noinline)) static void loop_helper(void)
{
    for (int i = 0; i < 10; i++)
        work += i;
    __cilkrts_sync(NULL);
    if (parent_was_stolen)
        Cilk_exception_handler(NULL, NULL);
    work++;
}

/* ---- the host ---- */

static bool readable = true;
static struct agent_frame stack[4]; /* the frames that host.step returns */
static unsigned at_in_stack;
static unsigned scheduler_frames; /* on the own stack, SCHEDULER_FRAME apart */
#define SCHEDULER       ((uint64_t)Cilk_exception_handler) /* some pc in the runtime */
#define SCHEDULER_FRAME 64

static bool read_memory(const struct agent_cursor *cursor, uint64_t address, void *to, size_t size)
{
    struct iovec local = {to, size}, remote = {(void *)address, size};
    return readable && process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/* Where the scheduler's innermost frame is. */
static uint64_t scheduler_sp(const struct agent_cursor *cursor)
{
    return cursor->stack_high - 512;
}

static bool step(const struct agent_cursor *cursor, struct agent_frame *frame)
{
    if (frame->pc == SCHEDULER) {
        frame->sp += SCHEDULER_FRAME;
        if (frame->sp >= scheduler_sp(cursor) + scheduler_frames * SCHEDULER_FRAME)
            frame->pc = 0x4000;
        return true;
    }
    assert_int_equal(frame->pc, stack[at_in_stack].pc);
    assert_int_equal(frame->sp, stack[at_in_stack].sp);
    assert_int_equal(frame->bp, stack[at_in_stack].bp);
    if (at_in_stack == 3)
        return false;
    *frame = stack[++at_in_stack];
    return true;
}

/* The thread on whose stack the outermost frame is. */
#define BOSS 42

static uint64_t stack_owner(const struct agent_cursor *cursor, uint64_t address)
{
    assert_int_equal(address, stack[3].sp);
    return BOSS;
}

static const struct agent_host host = {.claim = record_claim,
                                       .find_claim = recorded_claim,
                                       .refuse = record_refusal,
                                       .log = record_line,
                                       .read = read_memory,
                                       .step = step,
                                       .stack_owner = stack_owner};

/* ---- the image ---- */

#define WORKERS 4

static uint64_t global[256], thieves[WORKERS][128], locals[WORKERS][8], fibers[WORKERS][16];
static uint64_t *workers[WORKERS];
static uint64_t procedure[9]; /* the frame of the procedure that is resumed */

/* Stacks of threads: the initial one's is real, another's is made up. */
#define OTHER_LOW  0x500000u
#define OTHER_HIGH 0x600000u

static void set_half(uint64_t *object, unsigned offset, uint32_t value)
{
    memcpy((char *)object + offset, &value, sizeof value);
}

static void set_word(uint64_t *object, unsigned offset, uint64_t value)
{
    memcpy((char *)object + offset, &value, sizeof value);
}

static void set_state(unsigned worker, uint16_t value)
{
    memcpy((char *)locals[worker] + LOCAL_STATE, &value, sizeof value);
}

/* A region that the initial thread began. Worker i is in states[i] and has fiber i; state 0: the
 * worker was never used. */
static void set_image(const uint16_t *states)
{
    static uint64_t dummy[128];
    uint64_t here = (uint64_t)&here;
    readable = true;
    __cilkrts_need_to_cilkify = false;
    set_half(global, GLOBAL_WORKER_COUNT, WORKERS);
    set_word(global, GLOBAL_WORKERS, (uint64_t)workers);
    set_word(global, GLOBAL_BOSS_SP, here);
    for (unsigned i = 0; i < WORKERS; i++) {
        uint64_t *worker = i ? thieves[i] : made_worker_0;
        workers[i] = states[i] ? worker : dummy;
        set_half(worker, WORKER_SELF, i);
        set_word(worker, WORKER_GLOBAL, (uint64_t)global);
        set_word(worker, WORKER_LOCAL, (uint64_t)locals[i]);
        set_state(i, states[i]);
        set_word(fibers[i], FIBER_WORKER, (uint64_t)worker);
        set_word(fibers[i], FIBER_CURRENT_FRAME, (uint64_t)procedure);
    }
    memset(procedure, 0, sizeof procedure);
    set_half(procedure, FRAME_MAGIC, FRAME_MAGIC_VALUE);
    set_word(procedure, FRAME_PC, stack[0].pc);
    set_word(procedure, FRAME_SP, stack[0].sp);
    set_word(procedure, FRAME_FP, stack[0].bp);
    at_in_stack = 0;
}

static const uint16_t all_run[WORKERS] = {RUN, RUN, RUN, RUN};
static const uint16_t none_runs[WORKERS] = {IDLE, IDLE, SCHED, STEAL};

/* This thread becomes worker i, on fiber i. */
static void be(unsigned i)
{
    __cilkrts_tls_worker = i ? thieves[i] : made_worker_0;
    __cilkrts_current_fh = fibers[i];
}

static uint64_t slot; /* of threads that the runtime did not create */

static struct agent_cursor initial_thread(void)
{
    uint64_t high = (uint64_t)__libc_stack_end + 8;
    return (struct agent_cursor){.thread_data = &slot,
                                 .state = fresh_state(),
                                 .stack_low = high - (1 << 20),
                                 .stack_high = high};
}

static struct agent_cursor other_thread(void)
{
    return (struct agent_cursor){.thread_data = &slot,
                                 .state = fresh_state(),
                                 .stack_low = OTHER_LOW,
                                 .stack_high = OTHER_HIGH};
}

static enum agent_thread_status unwind_begin(struct agent_cursor cursor)
{
    return hpcrun_agent.unwind_begin(&cursor);
}

/* ---- tests ---- */

static const char *wanted;
static void (*tell)(const struct agent_module *module);

static int tell_module(struct dl_phdr_info *info, size_t size, void *data)
{
    if (wanted[0] ? !strstr(info->dlpi_name, wanted) : info->dlpi_name[0])
        return 0;
    struct agent_module module = {.bias = info->dlpi_addr, .path = info->dlpi_name};
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD) {
            if (!module.start)
                module.start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            module.end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
        }
    tell(&module);
    return 1;
}

static void add(const char *name)
{
    wanted = name;
    tell = hpcrun_agent.module_added;
    assert_true(dl_iterate_phdr(tell_module, NULL));
}

static bool is_claimed(uint64_t pc)
{
    for (unsigned i = 0; i < claim_count; i++)
        if (claims[i].start <= pc && pc < claims[i].end)
            return true;
    return false;
}

TEST(a_runtime_of_another_layout_is_not_used)
{
    assert_true(hpcrun_agent.start(&host));
    assert_non_null(dlopen("simulated-old-cheetah.so", RTLD_NOW | RTLD_LOCAL));
    add("simulated-old-cheetah");
    assert_int_equal(log_lines, 1);
    assert_non_null(strstr(last_line, "version"));
    assert_int_equal(claim_count, 0);
    set_image(all_run);
    be(1);
    assert_int_equal(unwind_begin(other_thread()), AGENT_FOREIGN);
}

TEST(the_runtime_is_claimed)
{
    add("simulated-cheetah");
    assert_int_equal(log_lines, 1);
    assert_int_equal(claim_count, 1);
    assert_true(is_claimed(SCHEDULER));
}

TEST(spawn_helpers_are_found_by_what_they_call)
{
    add("");
    assert_int_equal(log_lines, 1);
    assert_int_equal(claim_count, 4);
    assert_true(is_claimed((uint64_t)pure_helper) && is_claimed((uint64_t)jumping_helper));
    assert_true(is_claimed((uint64_t)loop_helper));
    assert_false(is_claimed((uint64_t)user) || is_claimed((uint64_t)set_image));
}

TEST(threads_are_told_apart)
{
    set_image((const uint16_t[]){RUN, SCHED, RUN, STEAL});
    be(0);
    assert_int_equal(unwind_begin(initial_thread()), AGENT_WORKING);
    assert_int_equal(unwind_begin(other_thread()),
                     AGENT_FOREIGN); /* a plain thread: it looks the same */
    static const enum agent_thread_status classes[] = {0, AGENT_IDLE, AGENT_WORKING, AGENT_IDLE};
    for (unsigned i = 1; i < WORKERS; i++) {
        be(i);
        assert_int_equal(unwind_begin(other_thread()), classes[i]);
    }
}

TEST(a_thief_that_begins_is_idle)
{
    uint64_t thiefs_slot = 0;
    struct agent_cursor cursor = other_thread();
    set_image(all_run);
    be(0); /* not a worker yet */
    cursor.thread_data = &thiefs_slot;
    hpcrun_agent.thread_begin(&thiefs_slot, 1, (struct agent_start_routine){.function = SCHEDULER});
    assert_int_equal(unwind_begin(cursor), AGENT_IDLE);
    hpcrun_agent.thread_begin(&thiefs_slot, 1,
                              (struct agent_start_routine){.function = (uint64_t)user});
    assert_int_equal(unwind_begin(cursor), AGENT_FOREIGN);
}

TEST(the_boss_that_steals_is_idle)
{
    for (uint16_t state_of_boss = IDLE; state_of_boss < RUN; state_of_boss++) {
        set_image((const uint16_t[]){state_of_boss, RUN, RUN, RUN});
        be(0);
        __cilkrts_current_fh = NULL;
        assert_int_equal(unwind_begin(initial_thread()), AGENT_IDLE);
        assert_int_equal(unwind_begin(other_thread()), AGENT_FOREIGN);
    }
}

TEST(serial_code_between_regions_works)
{
    set_image(none_runs);
    __cilkrts_need_to_cilkify = true;
    be(0);
    struct agent_cursor cursor = initial_thread();
    assert_int_equal(hpcrun_agent.unwind_begin(&cursor), AGENT_WORKING);
    assert_int_equal(hpcrun_agent.worker_counts(&cursor).working, 1);
    assert_int_equal(unwind_begin(other_thread()), AGENT_FOREIGN);
    be(2);
    assert_int_equal(unwind_begin(other_thread()), AGENT_IDLE);
}

TEST(a_region_may_begin_in_another_thread)
{
    set_image(all_run);
    set_word(global, GLOBAL_BOSS_SP, OTHER_LOW + 0x1000);
    be(0);
    assert_int_equal(unwind_begin(other_thread()), AGENT_WORKING);
    assert_int_equal(unwind_begin(initial_thread()), AGENT_FOREIGN);
}

TEST(running_workers_are_counted)
{
    static const struct {
        uint16_t states[WORKERS];
        uint32_t working;
    } cases[] = {{{RUN, RUN, RUN, RUN}, 4},
                 {{IDLE, SCHED, STEAL, RUN}, 1},
                 {{RUN, 0, 0, 0}, 1}, /* before their first region workers are dummies */
                 {{SCHED, SCHED, STEAL, SCHED}, 0}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        set_image(cases[i].states);
        be(0);
        struct agent_cursor cursor = initial_thread();
        hpcrun_agent.unwind_begin(&cursor);
        struct agent_worker_counts counts = hpcrun_agent.worker_counts(&cursor);
        assert_int_equal(counts.workers, WORKERS);
        assert_int_equal(counts.working, cases[i].working);
    }
}

/* State RUN in a sync that must wait: the worker gives its fiber back, then the procedure away,
 * which others may resume; in the scheduler it has no fiber. */
TEST(who_waits_at_a_sync_is_idle)
{
    for (unsigned i = 0; i < WORKERS; i++) {
        struct agent_cursor thread = i ? other_thread() : initial_thread();
        set_image(all_run);
        be(i);
        assert_int_equal(unwind_begin(thread), AGENT_WORKING);
        set_word(fibers[i], FIBER_WORKER, 0);
        assert_int_equal(unwind_begin(thread), AGENT_IDLE);
        set_word(fibers[i], FIBER_WORKER, (uint64_t)thieves[(i + 1) % WORKERS]);
        assert_int_equal(unwind_begin(thread), AGENT_IDLE);
        set_word(fibers[i], FIBER_WORKER, (uint64_t)workers[i]);
        __cilkrts_current_fh = NULL;
        assert_int_equal(unwind_begin(thread), AGENT_IDLE);
    }
}

TEST(frames_nobody_wrote_are_hidden)
{
    set_image(all_run);
    be(1);
    struct agent_cursor cursor = other_thread();
    struct agent_frame runtime = {.pc = SCHEDULER, .sp = (uint64_t)fibers[1] - 64};
    struct agent_frame helper = {.pc = (uint64_t)pure_helper + 4, .sp = runtime.sp + 16};
    struct agent_frame loop = {.pc = (uint64_t)loop_helper + 4, .sp = helper.sp + 16};
    cursor.leaf = runtime;
    assert_int_equal(hpcrun_agent.unwind_begin(&cursor), AGENT_WORKING);
    assert_int_equal(hpcrun_agent.step_bichord(&cursor, &runtime), AGENT_1_0);
    assert_true(cursor.include_libc);
    cursor.include_libc = false; /* as hpcrun does */
    assert_int_equal(hpcrun_agent.step_bichord(&cursor, &helper), AGENT_1_0);
    assert_false(cursor.include_libc); /* the user's code may be in it */
    assert_int_equal(hpcrun_agent.step_bichord(&cursor, &loop), AGENT_1_0);
    cursor.leaf = helper;
    assert_int_equal(hpcrun_agent.step_bichord(&cursor, &helper), AGENT_1_0);
}

TEST(a_loops_body_in_a_helper_is_shown)
{
    set_image(all_run);
    be(1);
    struct agent_cursor cursor = other_thread();
    struct agent_frame loop = {.pc = (uint64_t)loop_helper + 4, .sp = (uint64_t)fibers[1] - 64};
    struct agent_lnote note;
    cursor.leaf = loop;
    hpcrun_agent.unwind_begin(&cursor);
    assert_int_equal(hpcrun_agent.step_bichord(&cursor, &loop), AGENT_1_1);
    assert_true(hpcrun_agent.step_lnote(&cursor, &note));
    assert_int_equal(note.value, loop.pc);
    assert_int_equal(note.site, loop.pc);
    assert_false(hpcrun_agent.step_lnote(&cursor, &note));
}

/* State RUN in the scheduler, on the thread's own stack: before the jump to a procedure, and after
 * the return from a child whose caller was stolen. */
static void check_scheduler(struct agent_cursor cursor)
{
    struct agent_frame frame = {.pc = SCHEDULER, .sp = scheduler_sp(&cursor)};
    struct agent_lnote note;
    assert_int_equal(hpcrun_agent.unwind_begin(&cursor), AGENT_WORKING);
    if (scheduler_frames > 2) {
        assert_int_equal(hpcrun_agent.step_bichord(&cursor, &frame), AGENT_1_0);
        frame.sp += SCHEDULER_FRAME;
    }
    assert_int_equal(hpcrun_agent.step_bichord(&cursor, &frame), AGENT_1_M);
    for (unsigned told = 0; told < 4; told++)
        if (told != 1) { /* the helper */
            assert_true(hpcrun_agent.step_lnote(&cursor, &note));
            assert_int_equal(note.value, stack[told].pc);
        }
    assert_false(hpcrun_agent.step_lnote(&cursor, &note));
    assert_int_equal(cursor.owner, BOSS);
    frame.sp += SCHEDULER_FRAME;
    assert_int_equal(hpcrun_agent.step_bichord(&cursor, &frame), AGENT_M_0);
    assert_true(hpcrun_agent.step_pnote(&cursor, &frame)); /* whatever is outside */
    assert_false(hpcrun_agent.step_lnote(&cursor, &note));
}

TEST(in_the_scheduler_the_path_is_the_procedures)
{
    stack[1].pc = (uint64_t)pure_helper + 4;
    for (scheduler_frames = 2; scheduler_frames <= 5; scheduler_frames++)
        for (unsigned i = 0; i < 2; i++) {
            set_image(all_run);
            be(i);
            check_scheduler(i ? other_thread() : initial_thread());
        }
}

TEST(a_frame_that_is_none_gives_no_path)
{
    struct agent_frame frame = {.pc = SCHEDULER, .sp = OTHER_HIGH - 512};
    struct agent_lnote note;
    scheduler_frames = 2;
    static const uint64_t garbage[] = {0, 16, (uint64_t)-16};
    set_image(all_run);
    set_half(procedure, FRAME_MAGIC, 7);
    be(1);
    for (unsigned i = 0; i < 4; i++) {
        struct agent_cursor cursor = other_thread();
        assert_int_equal(hpcrun_agent.unwind_begin(&cursor), AGENT_WORKING);
        assert_int_equal(hpcrun_agent.step_bichord(&cursor, &frame), AGENT_M_0);
        assert_false(hpcrun_agent.step_lnote(&cursor, &note));
        if (i < 3)
            set_word(fibers[1], FIBER_CURRENT_FRAME, garbage[i]);
    }
}

TEST(before_and_after_the_runtime_all_are_foreign)
{
    be(0);
    for (int after = 0; after < 2; after++) {
        set_image(none_runs);
        __cilkrts_need_to_cilkify = true;
        set_word(made_worker_0, after ? WORKER_LOCAL : WORKER_GLOBAL, 0);
        struct agent_cursor cursor = initial_thread();
        assert_int_equal(hpcrun_agent.unwind_begin(&cursor), AGENT_FOREIGN);
        assert_int_equal(hpcrun_agent.worker_counts(&cursor).workers, 0);
    }
}

TEST(what_is_not_laid_out_as_known_is_foreign)
{
    be(0);
    set_image(all_run);
    workers[0] = thieves[3]; /* the state's memory was freed and used again */
    assert_int_equal(unwind_begin(initial_thread()), AGENT_FOREIGN);
    set_image(all_run);
    set_half(global, GLOBAL_WORKER_COUNT, 12345678);
    assert_int_equal(unwind_begin(initial_thread()), AGENT_FOREIGN);
    set_image(all_run);
    __cilkrts_tls_worker = procedure;
    assert_int_equal(unwind_begin(other_thread()), AGENT_FOREIGN);
    __cilkrts_tls_worker = (void *)16;
    assert_int_equal(unwind_begin(other_thread()), AGENT_FOREIGN);
}

TEST(unreadable_memory_gives_native_paths)
{
    set_image(all_run);
    be(1);
    readable = false;
    struct agent_cursor cursor = other_thread();
    struct agent_frame frame = {.pc = SCHEDULER, .sp = OTHER_HIGH - 512};
    assert_int_equal(hpcrun_agent.unwind_begin(&cursor), AGENT_FOREIGN);
    assert_int_equal(hpcrun_agent.worker_counts(&cursor).workers, 0);
    assert_int_equal(hpcrun_agent.step_bichord(&cursor, &frame), AGENT_1_0);
}

TEST(a_patched_runtime_counts_itself)
{
    set_image(none_runs);
    __cilkrts_need_to_cilkify = true;
    wanted = "simulated-cheetah";
    tell = hpcrun_agent.module_removed;
    assert_true(dl_iterate_phdr(tell_module, NULL));
    struct agent_cursor without = initial_thread();
    struct agent_frame helper = {.pc = (uint64_t)pure_helper + 4};
    assert_int_equal(hpcrun_agent.unwind_begin(&without), AGENT_FOREIGN);
    assert_int_equal(hpcrun_agent.step_bichord(&without, &helper), AGENT_1_1); /* native */
    void *patched = dlopen("simulated-patched-cheetah.so", RTLD_NOW | RTLD_LOCAL);
    assert_non_null(patched);
    add("simulated-patched-cheetah");
    for (uint32_t working = 0; working <= WORKERS; working++) {
        *(uint32_t *)dlsym(patched, "hpctoolkit_opencilk_working") = working;
        struct agent_cursor cursor = initial_thread();
        assert_int_equal(hpcrun_agent.unwind_begin(&cursor), AGENT_WORKING);
        assert_int_equal(hpcrun_agent.worker_counts(&cursor).working, working + 1);
        assert_int_equal(hpcrun_agent.worker_counts(&cursor).workers, WORKERS);
    }
}

STEP(prepare)
{
    for (unsigned i = 0; i < 4; i++)
        stack[i] = (struct agent_frame){0x1000 + i, 0x2000 + 16 * i, 0x3000 + i};
    /* Work is done where it can be seen. */
    user(), pure_helper(), jumping_helper(), loop_helper();
}

ALL_TESTS(prepare, NULL);
