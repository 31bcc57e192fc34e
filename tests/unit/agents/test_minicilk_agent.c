/* The agent for minicilk on simulated memory: every state of a worker in minicilk-introspect.h, and
 * unreadable memory. */
#include "tests/unit/agents/recording_host.h"

#include "runtime-patches/minicilk/minicilk-introspect.h"

#define WORKERS 4
#define TID(i)  (1000 + (int)(i))

struct frame {
    const struct frame *parent;
    const void *body;
    const char *site;
};

struct worker {
    uint64_t other[3];
    const struct frame *base;
    uint32_t state;
    int32_t tid;
};

/* The simulated memory of a process, and the part of it that is readable. */
static struct image {
    struct minicilk_live live;
    struct worker workers[WORKERS];
    struct frame frames[4];
    struct agent_slots slots;
    struct agent_slot slot[AGENT_SLOTS]; /* slot i + 1 is that of worker i */
} image;
static bool readable;

static char text[64], base_code[64], user_code[64];

static struct minicilk_introspection description = {
    .magic = MINICILK_MAGIC,
    .layout = MINICILK_LAYOUT,
    .size = sizeof description,
    .live = &image.live,
    .text_begin = text,
    .text_end = text + sizeof text,
    .base_begin = base_code,
    .base_end = base_code + sizeof base_code,
    .worker_size = sizeof(struct worker),
    .worker_tid = offsetof(struct worker, tid),
    .worker_state = offsetof(struct worker, state),
    .worker_base = offsetof(struct worker, base),
    .frame_parent = offsetof(struct frame, parent),
    .frame_body = offsetof(struct frame, body),
    .frame_site = offsetof(struct frame, site),
};

/* ---- the host ---- */

static unsigned frames_of_caller;

static bool read_memory(const struct agent_cursor *cursor, uint64_t address, void *to, size_t size)
{
    uint64_t low = (uint64_t)&image, high = low + sizeof image;
    if (!readable || address < low || address + size > high)
        return false;
    memcpy(to, (const void *)address, size);
    return true;
}

/* The caller's stack has three frames, at pcs 500, 501 and 502. */
static bool step(const struct agent_cursor *cursor, struct agent_frame *frame)
{
    assert_int_equal(frame->sp, 0x1000 + frames_of_caller);
    assert_int_equal(frame->bp, 0x2000);
    if (++frames_of_caller == 3)
        return false;
    *frame = (struct agent_frame){frame->pc + 1, frame->sp + 1, frame->bp};
    return true;
}

static const struct agent_host host = {.claim = record_claim,
                                       .find_claim = recorded_claim,
                                       .refuse = record_refusal,
                                       .log = record_line,
                                       .read = read_memory,
                                       .slots = &image.slots,
                                       .step = step};

/* ---- the image ---- */

static uint32_t guesses[WORKERS + 1];

static struct agent_cursor cursor_of(unsigned thread)
{
    return (struct agent_cursor){
        .thread_data = &guesses[thread], .state = fresh_state(), .tid = TID(thread)};
}

/* A running computation: worker i is in state[i], its base is frame i. Frame 0 is the root, and
 * each frame is a child of the previous one. */
static void set_image(const uint32_t *states)
{
    memset(&image, 0, sizeof image);
    readable = true;
    frames_of_caller = 0;
    image.live.n = WORKERS;
    image.live.workers = (const char *)image.workers;
    image.live.running = 1;
    image.live.caller_pc = (const void *)501;
    image.live.caller_sp = (const void *)0x1000;
    image.live.caller_bp = (const void *)0x2000;
    image.slots.chunk[0] = image.slot;
    image.slots.end = WORKERS + 1;
    for (unsigned i = 0; i < WORKERS; i++) {
        image.workers[i] = (struct worker){.tid = TID(i), .state = states[i]};
        image.slot[i + 1] = (struct agent_slot){
            .tid = TID(i),
            .thread = 70 + i,
            .state = states[i] == MINICILK_SCHEDULING ? AGENT_SLOT_WAITING : AGENT_SLOT_WORKING};
        image.frames[i].parent = i ? &image.frames[i - 1] : NULL;
        image.frames[i].site = user_code + 10 + i;
        if (states[i] == MINICILK_WORKING) {
            image.workers[i].base = &image.frames[i];
            image.live.n_w++;
        }
    }
}

static const uint32_t all_work[WORKERS] = {MINICILK_WORKING, MINICILK_WORKING, MINICILK_WORKING,
                                           MINICILK_WORKING};

/* Collects the l-notes at cilk_call_base, innermost first; returns their number. */
static uint32_t lnotes_at_base(struct agent_cursor *cursor, uint64_t *sites)
{
    const struct agent_frame base = {.pc = (uint64_t)base_code + 5};
    enum agent_association association = hpcrun_agent.step_bichord(cursor, &base);
    struct agent_lnote note;
    uint32_t count = 0;
    if (association == AGENT_1_0)
        return 0;
    assert_int_equal(association, AGENT_1_M);
    for (; hpcrun_agent.step_lnote(cursor, &note); sites[count++] = note.site) {
        assert_int_equal(note.space, AGENT_CODE);
        assert_int_equal(note.value, note.site);
        assert_true(count < 20);
    }
    return count;
}

static enum agent_association at_runtime_frame(struct agent_cursor *cursor)
{
    const struct agent_frame frame = {.pc = (uint64_t)text + 5};
    return hpcrun_agent.step_bichord(cursor, &frame);
}

/* ---- tests ---- */

TEST(the_description_is_checked)
{
    static struct {
        int64_t distance;
        struct minicilk_introspection description;
    } module;
    module.description = description;
    module.distance = (char *)&module.description - (char *)&module.distance;
    struct agent_module added = {.start = (uint64_t)&module,
                                 .note = &module.distance,
                                 .note_bytes = sizeof module.distance,
                                 .note_address = (uint64_t)&module.distance};
    assert_true(hpcrun_agent.start(&host));
    module.description.layout++;
    hpcrun_agent.module_added(&added);
    assert_int_equal(log_lines, 1);
    assert_non_null(strstr(last_line, "version"));
    assert_int_equal(claim_count, 0);
    struct agent_cursor cursor = cursor_of(0);
    assert_int_equal(hpcrun_agent.unwind_begin(&cursor), AGENT_FOREIGN);
    module.description.layout--;
    hpcrun_agent.module_added(&added);
    assert_int_equal(log_lines, 1);
    assert_int_equal(claim_count, 2);
    assert_int_equal(claims[0].start, (uint64_t)text);
    assert_int_equal(claims[1].end, (uint64_t)base_code + sizeof base_code);
}

TEST(threads_are_told_apart)
{
    set_image((const uint32_t[]){MINICILK_WORKING, MINICILK_SCHEDULING, MINICILK_WORKING,
                                 MINICILK_SCHEDULING});
    static const enum agent_thread_status classes[] = {AGENT_WORKING, AGENT_IDLE, AGENT_WORKING,
                                                       AGENT_IDLE, AGENT_FOREIGN};
    for (int twice = 0; twice < 2; twice++) /* the second time they are where they were */
        for (unsigned i = 0; i <= WORKERS; i++) {
            struct agent_cursor cursor = cursor_of(i);
            assert_int_equal(hpcrun_agent.unwind_begin(&cursor), classes[i]);
            struct agent_worker_counts counts = hpcrun_agent.worker_counts(&cursor);
            assert_int_equal(counts.workers, WORKERS);
            assert_int_equal(counts.working, 2);
        }
}

TEST(serial_code_between_computations_works)
{
    set_image((const uint32_t[]){MINICILK_OUTSIDE, MINICILK_SCHEDULING, MINICILK_SCHEDULING,
                                 MINICILK_SCHEDULING});
    for (unsigned i = 0; i < WORKERS; i++) {
        struct agent_cursor cursor = cursor_of(i);
        assert_int_equal(hpcrun_agent.unwind_begin(&cursor), i == 0 ? AGENT_WORKING : AGENT_IDLE);
        assert_int_equal(hpcrun_agent.worker_counts(&cursor).working, 1);
    }
}

/* In a lock, for example. The others pay for it. */
TEST(a_worker_that_waits_in_libc_does_not_work)
{
    set_image((const uint32_t[]){MINICILK_WORKING, MINICILK_WORKING, MINICILK_SCHEDULING,
                                 MINICILK_WORKING});
    image.slot[0] = (struct agent_slot){.tid = TID(1), .state = AGENT_SLOT_FREE}; /* an old one */
    for (int waits = 0; waits < 2; waits++) {
        image.slot[1 + 1].state = waits ? AGENT_SLOT_WAITING : AGENT_SLOT_WORKING;
        for (unsigned i = 0; i < WORKERS; i++) {
            struct agent_cursor cursor = cursor_of(i);
            enum agent_thread_status status = hpcrun_agent.unwind_begin(&cursor);
            assert_int_equal(status, i == 2            ? AGENT_IDLE
                                     : i == 1 && waits ? AGENT_WAITING
                                                       : AGENT_WORKING);
            struct agent_worker_counts counts = hpcrun_agent.worker_counts(&cursor);
            assert_int_equal(counts.workers, WORKERS);
            assert_int_equal(counts.working, 3 - waits);
        }
    }
}

/* pthread_join, for example. */
TEST(worker_0_is_none_while_it_waits_outside)
{
    set_image((const uint32_t[]){MINICILK_OUTSIDE, MINICILK_SCHEDULING, MINICILK_SCHEDULING,
                                 MINICILK_SCHEDULING});
    image.slot[0 + 1].state = AGENT_SLOT_WAITING;
    struct agent_cursor cursor = cursor_of(0);
    assert_int_equal(hpcrun_agent.unwind_begin(&cursor), AGENT_WAITING);
    struct agent_worker_counts counts = hpcrun_agent.worker_counts(&cursor);
    assert_int_equal(counts.workers, WORKERS - 1);
    assert_int_equal(counts.working, 0);
}

TEST(without_runtime_all_are_foreign)
{
    set_image(all_work);
    image.live.workers = NULL;
    image.live.n = 0;
    struct agent_cursor cursor = cursor_of(1);
    assert_int_equal(hpcrun_agent.unwind_begin(&cursor), AGENT_FOREIGN);
    assert_int_equal(hpcrun_agent.worker_counts(&cursor).workers, 0);
    assert_int_equal(at_runtime_frame(&cursor), AGENT_1_0);
}

TEST(ancestors_come_from_the_heap)
{
    uint64_t sites[20];
    set_image(all_work);
    struct agent_cursor cursor = cursor_of(3);
    hpcrun_agent.unwind_begin(&cursor);
    assert_int_equal(at_runtime_frame(&cursor), AGENT_1_0); /* a slow path of spawn */
    assert_true(cursor.include_callees);
    assert_int_equal(lnotes_at_base(&cursor, sites), 3 + 3);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(sites[i], (uint64_t)user_code + 10 + 3 - i - 1);
        assert_int_equal(sites[3 + i], 500 + i);
    }
    assert_int_equal(cursor.owner, 70); /* the caller is in worker 0's thread */
    const struct agent_frame outer = {.pc = 7};
    assert_int_equal(at_runtime_frame(&cursor), AGENT_M_0); /* the scheduler, to the stack's end */
    assert_false(cursor.include_callees);
    assert_true(hpcrun_agent.step_pnote(&cursor, &outer));
}

TEST(the_root_hangs_below_the_caller)
{
    uint64_t sites[20];
    set_image(all_work);
    image.workers[2].base = &image.frames[0]; /* the root was stolen */
    struct agent_cursor cursor = cursor_of(2);
    hpcrun_agent.unwind_begin(&cursor);
    assert_int_equal(lnotes_at_base(&cursor, sites), 3);
    assert_int_equal(sites[0], 500);
}

TEST(worker_0_stands_on_the_caller_itself)
{
    uint64_t sites[20];
    set_image(all_work);
    struct agent_cursor cursor = cursor_of(0);
    hpcrun_agent.unwind_begin(&cursor);
    assert_int_equal(lnotes_at_base(&cursor, sites), 0);
    assert_int_equal(at_runtime_frame(&cursor), AGENT_1_0); /* main's frames follow: native */
    image.workers[0].base = &image.frames[2];
    cursor = cursor_of(0);
    hpcrun_agent.unwind_begin(&cursor);
    assert_int_equal(lnotes_at_base(&cursor, sites), 2);
    assert_int_equal(sites[1], (uint64_t)user_code + 10 + 1 - 1);
}

/* `state` is set after `base`, and `base` is cleared after `state`: in between, there may be a
 * base. */
TEST(windows_of_the_scheduler_are_safe)
{
    uint64_t sites[20];
    set_image(all_work);
    image.workers[1].state = MINICILK_SCHEDULING;
    struct agent_cursor cursor = cursor_of(1);
    assert_int_equal(hpcrun_agent.unwind_begin(&cursor), AGENT_IDLE);
    image.workers[1].base = NULL;
    cursor = cursor_of(1);
    assert_int_equal(hpcrun_agent.unwind_begin(&cursor), AGENT_IDLE);
    image.workers[1].state = MINICILK_WORKING;
    cursor = cursor_of(1);
    hpcrun_agent.unwind_begin(&cursor);
    assert_int_equal(lnotes_at_base(&cursor, sites), 0);
}

TEST(unreadable_memory_gives_native_paths)
{
    uint64_t sites[20];
    set_image(all_work);
    readable = false;
    struct agent_cursor cursor = cursor_of(1);
    assert_int_equal(hpcrun_agent.unwind_begin(&cursor), AGENT_FOREIGN);
    assert_int_equal(lnotes_at_base(&cursor, sites), 0);
    readable = true;
    image.frames[1].parent = (const struct frame *)16; /* garbage */
    cursor = cursor_of(1);
    hpcrun_agent.unwind_begin(&cursor);
    assert_in_range(lnotes_at_base(&cursor, sites), 0, 4);
}

/* The last test: nothing is known of the runtime after it. */
TEST(an_unloaded_runtime_is_forgotten)
{
    set_image(all_work);
    struct agent_cursor cursor = cursor_of(1);
    const struct agent_module other = {.start = 1, .end = (uint64_t)text},
                              own = {.start = (uint64_t)text, .end = (uint64_t)text + 1};
    hpcrun_agent.module_removed(&other);
    assert_int_equal(hpcrun_agent.unwind_begin(&cursor), AGENT_WORKING);
    hpcrun_agent.module_removed(&own);
    assert_int_equal(hpcrun_agent.unwind_begin(&cursor), AGENT_FOREIGN);
}
