/* The agent for Cilk-5 on made-up memory: every window of a worker that agents/cilk5/agent.c
 * names, thieves that come between two reads, and memory that can't be read.
 *
 * The functions below have the names of the runtime's: this program is its library. */
#include "tests/unit/agents/recording_host.h"

#include "runtime-patches/cilk5/description.h"

#include <string.h>
#include <sys/auxv.h>

void Cilk_scheduler(void);
void Cilk_child_main(void);
void invoke_main_slow(void);
void _cilk_cilk_main_import(void);
extern int Cilk_flags_are_wrong_NODEBUG_NOTIMING_NOSTATS_please_recompile;
int Cilk_flags_are_wrong_NODEBUG_NOTIMING_NOSTATS_please_recompile;

/* What the patch adds; of no known version at first. */
extern struct hpctoolkit_cilk5 hpctoolkit_cilk5;
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

__attribute__((noinline)) void _cilk_cilk_main_import(void)
{
    effect = 4;
}

/* ---- the runtime's structures, as the facts have them ---- */

#define WORKERS 3

enum { RUNNING = 42, SUSPENDED, RETURNING, READY };

struct procedure {
    uint64_t other[2], slow;
};

struct frame {
    uint64_t entry, receiver, signature;
};

struct closure {
    uint8_t mutex[40];
    uint32_t join_counter, status;
    uint64_t other[4], parent, frame, abort, cache, site, more[11];
};

struct deque {
    uint8_t mutex[40];
    uint64_t top, bottom;
    uint8_t pad[64];
};

struct worker {
    uint64_t head, tail, exception, stack;
    uint8_t pad[64];
    uint32_t self;
    uint8_t other[276];
    uint64_t context;
};

struct parameters {
    uint64_t other[4];
    uint32_t workers, more[5];
    uint64_t deques;
};

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

#define CLOSURES 6

/* Closure 0 is the root's, closure 1 cilk_main's; each is the parent of the next. */
static struct image {
    struct {
        uint64_t parameters, state;
    } context;
    struct parameters parameters;
    struct deque deques[WORKERS];
    struct worker workers[WORKERS];
    uint64_t stacks[WORKERS][8];
    struct closure closures[CLOSURES];
    struct frame frames[CLOSURES];
    struct procedure procedures[CLOSURES];
} image;

static char user_code[CLOSURES * 16], libc_code[16];

/* What a worker's thread is created with. */
static struct {
    const void *context;
    int id;
} children[WORKERS];

static uint64_t address(const void *object)
{
    return (uint64_t)object;
}

/* ---- the host ---- */

static unsigned reads, unreadable_read, thief_at;
static void (*thief)(void);
static struct agent_frame path[8];
static uint32_t depth;

/* The thief comes before a certain read; a certain read fails. */
static bool read_memory(const struct agent_cursor *cursor, uint64_t from, void *to, size_t size)
{
    (void)cursor;
    uint64_t low = address(&image), high = low + sizeof image;
    if (from == address(&hpctoolkit_cilk5.working)) {
        low = from;
        high = from + sizeof hpctoolkit_cilk5.working;
    }
    reads++;
    if (thief && reads == thief_at)
        thief();
    if (reads == unreadable_read || from < low || from + size > high)
        return false;
    memcpy(to, (const void *)from, size);
    return true;
}

static bool frame_of_path(const struct agent_cursor *cursor, uint32_t i, struct agent_frame *frame)
{
    (void)cursor;
    if (i >= depth)
        return false;
    *frame = path[i];
    return true;
}

static const struct agent_host host = {.interface = AGENT_INTERFACE,
                                       .claim = record_claim,
                                       .log = record_line,
                                       .read = read_memory,
                                       .path = frame_of_path};

static uint64_t slots[WORKERS + 1][8];

static struct agent_cursor cursor_of(unsigned thread)
{
    return (struct agent_cursor){.slot = slots[thread], .tid = 1000 + (int)thread};
}

/* ---- the image ---- */

#define SCHEDULER (address((void *)Cilk_scheduler) + 1)
#define CHILD     (address((void *)Cilk_child_main) + 1)
#define ROOT      (address((void *)invoke_main_slow) + 1)
#define IMPORT    (address((void *)_cilk_cilk_main_import) + 1)
#define RUNTIME   (address((void *)read_memory) + 1)
#define USER      0x1000 /* no module's */
#define LIBC      0x2000
#define LINKER    (getauxval(AT_BASE) + 1)

/* Frames from the outermost inwards; 0 ends them. */
static void set_path(const uint64_t *pcs)
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

/* Worker `self` runs closure `bottom` on the stack that closure `base` began. */
static void set_worker(unsigned self, unsigned base, unsigned bottom)
{
    image.deques[self].bottom = image.deques[self].top = address(&image.closures[bottom]);
    for (unsigned i = base; i <= bottom; i++) {
        image.closures[i].cache = address(&image.workers[self]);
        image.closures[i].status = i == bottom ? RUNNING : READY;
        image.stacks[self][i - base] = address(&image.frames[i]);
    }
}

static int set_up(void **state)
{
    (void)state;
    memset(&image, 0, sizeof image);
    memset(slots, 0, sizeof slots);
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
            (struct agent_origin){address((void *)Cilk_child_main), address(&children[i])});
    }
    hpcrun_agent.thread_begin(slots[WORKERS], 2000, (struct agent_origin){0});
    set_usual_path();
    return 0;
}

/* The l-notes of the scheduler's frame; how many. */
static unsigned notes_of(struct agent_cursor *cursor, uint64_t *values)
{
    const struct agent_frame scheduler = {.pc = SCHEDULER};
    struct agent_lnote note;
    unsigned count = 0;
    enum agent_association association = hpcrun_agent.step_bichord(cursor, &scheduler);
    while (association == AGENT_1_M && hpcrun_agent.step_lnote(cursor, &note)) {
        assert_int_equal(note.space, AGENT_CODE);
        if (hpctoolkit_cilk5.magic)
            assert_int_equal(note.site, note.value + 5);
        else
            assert_int_equal(note.site, 0);
        values[count++] = note.value;
    }
    assert_int_equal(association, count ? AGENT_1_M : AGENT_1_0);
    return count;
}

/* That the worker works, on closures `above`, ..., 1. */
static void assert_works(unsigned self, unsigned above)
{
    uint64_t values[CLOSURES];
    struct agent_cursor cursor = cursor_of(self);
    assert_int_equal(hpcrun_agent.begin(&cursor), AGENT_WORKING);
    assert_int_equal(notes_of(&cursor, values), above);
    for (unsigned i = 0; i < above; i++)
        assert_int_equal(values[i], address(user_code + (above - i) * 16));
}

static enum agent_thread class_of(unsigned thread)
{
    struct agent_cursor cursor = cursor_of(thread);
    return hpcrun_agent.begin(&cursor);
}

static struct agent_counts counts_in(unsigned thread)
{
    struct agent_cursor cursor = cursor_of(thread);
    hpcrun_agent.begin(&cursor);
    return hpcrun_agent.counts(&cursor);
}

/* ---- the tests ---- */

static void ancestors_of_the_base_are_l_notes(void **state)
{
    (void)state;
    set_worker(1, 3, 3);
    assert_works(1, 2);
    set_worker(1, 4, 4);
    assert_works(1, 3);
}

static void stolen_frames_are_on_the_stack_still(void **state)
{
    (void)state;
    set_worker(2, 2, 5);
    assert_works(2, 1);
}

static void the_root_and_cilk_main_have_no_ancestors(void **state)
{
    (void)state;
    set_worker(0, 1, 1);
    assert_works(0, 0);
    set_worker(0, 0, 3);
    set_path((uint64_t[]){LIBC, CHILD, SCHEDULER, ROOT, USER, USER, 0});
    assert_works(0, 0);
}

static void bichords_beside_the_scheduler(void **state)
{
    (void)state;
    struct agent_cursor cursor = cursor_of(1);
    struct agent_frame frame = {.pc = RUNTIME};
    set_worker(1, 3, 3);
    hpcrun_agent.begin(&cursor);
    assert_int_equal(hpcrun_agent.step_bichord(&cursor, &frame), AGENT_1_0);
    frame.pc = IMPORT;
    assert_int_equal(hpcrun_agent.step_bichord(&cursor, &frame), AGENT_1_0);
    frame.pc = SCHEDULER;
    assert_int_equal(hpcrun_agent.step_bichord(&cursor, &frame), AGENT_1_M);
    frame.pc = CHILD;
    assert_int_equal(hpcrun_agent.step_bichord(&cursor, &frame), AGENT_M_0);
    frame.pc = LIBC;
    assert_true(hpcrun_agent.step_pnote(&cursor, &frame));
}

static void a_worker_without_a_running_closure_is_idle(void **state)
{
    (void)state;
    assert_int_equal(class_of(1), AGENT_IDLE);
    set_worker(1, 3, 3);
    const uint32_t not_running[] = {SUSPENDED, READY};
    for (unsigned i = 0; i < 2; i++) {
        image.closures[3].status = not_running[i];
        assert_int_equal(class_of(1), AGENT_IDLE);
    }
}

/* Cilk_set_result has cleared the frame of a closure that gives its result; its memory is in use
 * again. */
static void a_slow_clone_that_returns(void **state)
{
    (void)state;
    set_worker(1, 3, 3);
    image.closures[3].status = RETURNING;
    image.closures[3].frame = 0;
    image.stacks[1][0] = 1;
    assert_works(1, 2);
    set_path((uint64_t[]){LIBC, CHILD, SCHEDULER, RUNTIME, 0});
    assert_int_equal(class_of(1), AGENT_IDLE);
}

/* The exception handler has made the closure RETURNING: the stack, down to closure 2's, unwinds. */
static void the_return_cascade_after_a_theft(void **state)
{
    (void)state;
    set_worker(1, 2, 4);
    image.closures[4].status = RETURNING;
    image.closures[4].frame = 1;
    assert_works(1, 1);
}

/* The closure is in the deque, the slow clone isn't called. */
static void between_the_deque_and_the_call(void **state)
{
    (void)state;
    set_worker(1, 3, 3);
    set_path((uint64_t[]){LIBC, CHILD, SCHEDULER, 0});
    assert_int_equal(class_of(1), AGENT_IDLE);
    set_path((uint64_t[]){LIBC, CHILD, SCHEDULER, RUNTIME, LIBC, 0});
    assert_int_equal(class_of(1), AGENT_IDLE);
    set_worker(0, 0, 0);
    set_path((uint64_t[]){LIBC, CHILD, SCHEDULER, ROOT, 0});
    assert_int_equal(class_of(0), AGENT_IDLE);
    set_path((uint64_t[]){LIBC, CHILD, SCHEDULER, ROOT, USER, 0});
    assert_int_equal(class_of(0), AGENT_IDLE);
    set_path((uint64_t[]){LIBC, CHILD, SCHEDULER, ROOT, RUNTIME, LIBC, 0});
    assert_int_equal(class_of(0), AGENT_IDLE);
    set_path((uint64_t[]){LIBC, CHILD, SCHEDULER, ROOT, LINKER, LINKER, 0});
    assert_int_equal(class_of(0), AGENT_IDLE);
}

/* A thief promotes the worker's innermost closure, as promote_child and finish_promote do. */
static void promote(unsigned parent)
{
    struct closure *child = &image.closures[parent + 1];
    child->parent = address(&image.closures[parent]);
    child->cache = address(&image.workers[1]);
    child->status = RUNNING;
    image.deques[1].bottom = address(child);
    image.closures[parent].cache = 0;
    image.closures[parent].status = READY;
}

static void one_theft(void)
{
    promote(3);
}

static void two_thefts(void)
{
    promote(3);
    promote(4);
}

static void a_thief_comes_before_any_read(void **state)
{
    set_up(state);
    set_worker(1, 3, 3);
    assert_works(1, 2);
    unsigned most = reads;
    void (*const thieves[])(void) = {one_theft, two_thefts};
    for (unsigned i = 0; i < 2; i++)
        for (unsigned at = 1; at <= most; at++) {
            set_up(state);
            set_worker(1, 3, 3);
            thief = thieves[i];
            thief_at = at;
            assert_works(1, 2);
        }
}

/* The read number `at` fails: the ancestors that are told are right, or the thread isn't working.
 */
static bool works_without_read(unsigned at)
{
    const struct agent_frame scheduler = {.pc = SCHEDULER};
    struct agent_cursor cursor = cursor_of(1);
    struct agent_lnote note;
    unreadable_read = at;
    if (hpcrun_agent.begin(&cursor) != AGENT_WORKING)
        return false;
    unsigned told = 0;
    hpcrun_agent.counts(&cursor);
    if (hpcrun_agent.step_bichord(&cursor, &scheduler) == AGENT_1_M)
        while (hpcrun_agent.step_lnote(&cursor, &note))
            assert_int_equal(note.value, address(user_code + (2 - told++) * 16));
    assert_true(told <= 2);
    return true;
}

static void reads_that_fail(void **state)
{
    unsigned working = 0;
    for (unsigned at = 1; at < 60; at++) {
        set_up(state);
        set_worker(1, 3, 3);
        working += works_without_read(at);
    }
    assert_true(working > 0 && working < 59);
}

static void workers_with_a_running_closure_are_counted(void **state)
{
    (void)state;
    struct agent_counts counts = counts_in(0);
    assert_int_equal(counts.workers, WORKERS);
    assert_int_equal(counts.working, 0);
    set_worker(1, 3, 3);
    set_worker(2, 4, 4);
    assert_int_equal(counts_in(0).working, 2);
    assert_int_equal(counts_in(1).working, 2);
    assert_int_equal(counts_in(WORKERS).working, 2);
    image.closures[3].status = RETURNING;
    assert_int_equal(counts_in(1).working, 2);
    image.closures[3].status = SUSPENDED;
    assert_int_equal(counts_in(1).working, 1);
    hpcrun_agent.thread_end(slots[0]);
    assert_int_equal(counts_in(WORKERS).workers, 0);
}

static void other_threads_are_owned_in_the_runtime_only(void **state)
{
    (void)state;
    set_path((uint64_t[]){LIBC, USER, RUNTIME, LIBC, 0});
    assert_int_equal(class_of(WORKERS), AGENT_OWNED);
    set_path((uint64_t[]){LIBC, USER, LIBC, 0});
    assert_int_equal(class_of(WORKERS), AGENT_FOREIGN);
}

/* Of a thread that is no worker, frames that were claimed are native. */
static void other_threads_have_native_paths(void **state)
{
    (void)state;
    struct agent_cursor cursor = cursor_of(WORKERS);
    const struct agent_frame frame = {.pc = IMPORT};
    struct agent_lnote note;
    hpcrun_agent.begin(&cursor);
    assert_int_equal(hpcrun_agent.step_bichord(&cursor, &frame), AGENT_1_1);
    assert_true(hpcrun_agent.step_lnote(&cursor, &note));
    assert_int_equal(note.value, IMPORT);
    assert_int_equal(note.site, IMPORT);
    assert_false(hpcrun_agent.step_lnote(&cursor, &note));
}

static void threads_that_do_not_start_as_workers_are_none(void **state)
{
    (void)state;
    memset(slots[0], 0, sizeof slots[0]);
    hpcrun_agent.thread_begin(slots[0], 1, (struct agent_origin){address(libc_code), 0});
    set_path((uint64_t[]){LIBC, USER, 0});
    assert_int_equal(class_of(0), AGENT_FOREIGN);
}

/* Structures of another layout: native paths from then on, and one line in the end. */
static void structures_that_disagree(void **state)
{
    (void)state;
    set_worker(1, 3, 3);
    set_worker(2, 4, 4);
    image.workers[1].self = 2;
    image.workers[2].context = 0;
    assert_int_equal(class_of(1), AGENT_FOREIGN);
    image.workers[1].self = 1;
    assert_int_equal(class_of(1), AGENT_FOREIGN);
    assert_int_equal(class_of(2), AGENT_FOREIGN);
    assert_int_equal(log_lines, 0);
    hpcrun_agent.thread_end(slots[1]);
    hpcrun_agent.thread_end(slots[2]);
    assert_int_equal(log_lines, 1);
    assert_memory_equal(last_line, "cilk5: ", 7);
}

/* The addresses of this program's mapping. */
static struct agent_module this_program(void)
{
    extern char __executable_start, _end;
    return (struct agent_module){.start = address(&__executable_start),
                                 .end = address(&_end),
                                 .bias = address(&__executable_start),
                                 .path = ""};
}

static void the_runtime_is_recognised(void **state)
{
    (void)state;
    const struct agent_module module = this_program();
    const struct agent_module linker = {
        .start = getauxval(AT_BASE), .end = getauxval(AT_BASE) + 16, .path = "/nowhere"};
    assert_true(hpcrun_agent.start(&host));
    hpcrun_agent.module_added(&linker);
    hpcrun_agent.module_added(&module);
    assert_int_equal(log_lines, 1); /* of the patch */
    assert_int_equal(claim_count, 2);
}

/* Each ancestor's site is in the closure that it spawned; site_in_closure is told by the patch. */
static void the_patch_tells_sites_and_the_count(void **state)
{
    const struct agent_module module = this_program();
    hpcrun_agent.module_removed(&module);
    hpctoolkit_cilk5.magic = HPCTOOLKIT_CILK5_MAGIC;
    hpctoolkit_cilk5.site_in_closure = offsetof(struct closure, site);
    hpctoolkit_cilk5.working = 2;
    hpcrun_agent.module_added(&module);
    set_up(state);
    set_worker(1, 4, 4);
    assert_works(1, 3);
    assert_int_equal(counts_in(1).working, 2);
    assert_int_equal(counts_in(WORKERS).working, 2);
    assert_int_equal(counts_in(WORKERS).workers, WORKERS);
}

static void without_the_runtime_all_is_native(void **state)
{
    (void)state;
    const struct agent_module module = this_program();
    set_worker(1, 3, 3);
    hpcrun_agent.module_removed(&module);
    assert_int_equal(class_of(1), AGENT_FOREIGN);
    assert_int_equal(class_of(WORKERS), AGENT_FOREIGN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_runtime_is_recognised), /* and used by the others */
        cmocka_unit_test_setup(ancestors_of_the_base_are_l_notes, set_up),
        cmocka_unit_test_setup(stolen_frames_are_on_the_stack_still, set_up),
        cmocka_unit_test_setup(the_root_and_cilk_main_have_no_ancestors, set_up),
        cmocka_unit_test_setup(bichords_beside_the_scheduler, set_up),
        cmocka_unit_test_setup(a_worker_without_a_running_closure_is_idle, set_up),
        cmocka_unit_test_setup(a_slow_clone_that_returns, set_up),
        cmocka_unit_test_setup(the_return_cascade_after_a_theft, set_up),
        cmocka_unit_test_setup(between_the_deque_and_the_call, set_up),
        cmocka_unit_test_setup(a_thief_comes_before_any_read, set_up),
        cmocka_unit_test_setup(reads_that_fail, set_up),
        cmocka_unit_test_setup(workers_with_a_running_closure_are_counted, set_up),
        cmocka_unit_test_setup(other_threads_are_owned_in_the_runtime_only, set_up),
        cmocka_unit_test_setup(other_threads_have_native_paths, set_up),
        cmocka_unit_test_setup(threads_that_do_not_start_as_workers_are_none, set_up),
        cmocka_unit_test_setup(structures_that_disagree, set_up),
        cmocka_unit_test_setup(the_patch_tells_sites_and_the_count, set_up),
        cmocka_unit_test_setup(without_the_runtime_all_is_native, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
