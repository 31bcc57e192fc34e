/* Wake-ups: which of them leave something, and which stay when there are too many. */
#include "tests/unit/cmocka_suite.h"
#include "tests/unit/random_numbers.h"

#include "hpcrun/logical/last-wakers.h"
#include "hpcrun/logical/wait-slots.h"
#include "hpcrun/sample/own-path.h"
#include "hpcrun/sample/wake-up-record.h"

#include <signal.h>
#include <ucontext.h>

#define SECOND 1000000000u

struct process process;
struct sampling sampling;
__thread struct thread *thread_self;
__thread struct agent_slot *own_slot;

static struct thread thread;
static struct arena_thread image;
static struct agent_slot slot;

/* ---- stubs ---- */

bool own_path_begin(struct thread *self, uint64_t *mask)
{
    return true;
}

void own_path_end(struct thread *self, uint64_t mask)
{
}

bool slot_thread_index(uint64_t of, uint32_t *index)
{
    *index = (uint32_t)of - 1;
    return of != 0;
}

/* ---- a thread, whose index is 5 ---- */

STEP(begin)
{
    memset(&thread, 0, sizeof thread);
    memset(&image, 0, sizeof image);
    thread.image = &image;
    thread.index = 5;
    thread.traced = &thread.events[0];
    segments_init(&thread.wake_ups, sizeof(struct arena_wake_up), ARENA_MARK_BITS);
    thread_self = &thread;
    own_slot = &slot;
    atomic_store(&slot.thread, 8); /* the thread with index 7 */
}

STEP(end)
{
    segments_free(&thread.wake_ups);
}

static const struct arena_wake_up *item(uint32_t i)
{
    return segments_item(&thread.wake_ups, i);
}

static void add_wait(uint64_t at, uint64_t length, uint64_t released, uint32_t waker)
{
    wake_up_add(&(struct arena_wake_up){.ticks = at, .began = at - length, .released = released, .thread = waker});
}

TEST(a_long_wait_that_another_thread_ended_leaves_a_wake_up)
{
    add_wait(SECOND, WAKE_UP_TICKS, SECOND - 10, 7);
    assert_int_equal(image.wake_ups, 1);
    assert_int_equal(item(0)->began, SECOND - WAKE_UP_TICKS);
    assert_int_equal(item(0)->released, SECOND - 10);
    assert_int_equal(item(0)->thread, 7);
    assert_int_equal(item(0)->ticks, SECOND);
    add_wait(SECOND, WAKE_UP_TICKS - 1, SECOND - 10, 7);
    add_wait(SECOND, WAKE_UP_TICKS, SECOND - 10, thread.index);
    add_wait(SECOND, -(uint64_t)SECOND, SECOND - 10, 7); /* the counter of the new CPU is lower */
    thread.traced = NULL;
    add_wait(SECOND, WAKE_UP_TICKS, SECOND - 10, 7);
    assert_int_equal(image.wake_ups, 1);
    assert_int_equal(image.lost_wake_ups, 0);
}

static char object, others[1 << 16]; /* some of these share its entry */

/* If it did so during the wait. */
TEST(the_waker_is_the_one_that_let_go_last)
{
    uint64_t now = ticks_now(), since = now - SECOND;
    assert_false(hpctoolkit_waited(&object, since)); /* nobody did so yet */
    assert_int_equal(image.wake_ups, 0);
    waker_note(&object, WAKES_NEXT_HOLDER);
    for (size_t i = 0; i < sizeof others; i++)
        wake_up_by_last(&others[i], since, now);
    assert_int_equal(image.wake_ups, 0);
    assert_true(hpctoolkit_waited(&object, since));
    assert_true(hpctoolkit_waited(&others, hpctoolkit_lets_go(NULL))); /* too short to matter */
    assert_int_equal(image.wake_ups, 1);
    assert_int_equal(item(0)->thread, 7);
    assert_true(item(0)->released >= now && item(0)->released <= ticks_now());
    atomic_store(&slot.thread, 10);
    waker_note(&object, WAKES_NEXT_HOLDER);
    own_slot = NULL;
    waker_note(&object, WAKES_NEXT_HOLDER); /* by a thread that is not measured */
    wake_up_by_last(&object, since, now);
    assert_int_equal(item(1)->thread, 9);
    wake_up_by_last(&object, now + SECOND, now + 2 * SECOND); /* it was let go before this wait */
    assert_int_equal(image.wake_ups, 2);
}

TEST(an_agent_knows_the_waker)
{
    uint64_t since;
    do { /* too short to matter, unless others have the CPU meanwhile */
        image.wake_ups = 0;
        since = hpctoolkit_lets_go(NULL);
        hpctoolkit_woken_by(atomic_load(&slot.thread), since);
    } while (ticks_now() - since >= WAKE_UP_TICKS);
    hpctoolkit_woken_by(0, ticks_now() - SECOND); /* no thread */
    assert_int_equal(image.wake_ups, 0);
    hpctoolkit_woken_by(atomic_load(&slot.thread), ticks_now() - SECOND);
    assert_int_equal(image.wake_ups, 1);
    assert_int_equal(item(0)->thread, 7);
    assert_int_equal(item(0)->released, item(0)->ticks);
}

/* So that the clock is read once. */
TEST(the_time_of_a_release_is_the_one_that_is_noted)
{
    uint32_t index;
    uint64_t released, now = hpctoolkit_lets_go(&object);
    assert_true(waker_find(&object, now, &index, &released));
    assert_int_equal(released, now);
}

#define NOTES 8 /* of an entry */

/* ---- releases that wake one waiter, or all ---- */

static char event;

static void release_by(uint64_t by, enum wakes wakes)
{
    atomic_store(&slot.thread, by);
    waker_note(&event, wakes);
}

/* 1 + the index of the thread that ended a wait since then; 0: unknown. */
static uint32_t waker_since(uint64_t since)
{
    uint32_t index;
    uint64_t released;
    return waker_find(&event, since, &index, &released) ? index + 1 : 0;
}

/* Whoever waits first is woken first, and may ask when others have been woken. */
TEST(of_releases_that_wake_one_each_waiter_has_its_own)
{
    release_by(11, WAKES_ONE);
    uint64_t since = ticks_now(), later;
    release_by(12, WAKES_ONE);
    later = ticks_now();
    release_by(13, WAKES_ONE);
    release_by(14, WAKES_ONE);
    assert_int_equal(waker_since(since), 12);
    assert_int_equal(waker_since(later), 13);
    assert_int_equal(waker_since(since), 14);
    assert_int_equal(waker_since(since), 0);
}

TEST(a_release_that_wakes_all_is_that_of_all_who_wait)
{
    uint64_t since = ticks_now(), later;
    release_by(11, WAKES_ALL);
    later = ticks_now();
    release_by(12, WAKES_ALL);
    assert_int_equal(waker_since(since), 11);
    assert_int_equal(waker_since(since), 11);
    assert_int_equal(waker_since(later), 12);
}

/* The first one may have been replaced. */
TEST(of_too_many_releases_none_is_named)
{
    uint64_t since = ticks_now();
    for (int i = 1; i < NOTES; i++)
        release_by((uint64_t)(10 + i), WAKES_ONE);
    uint64_t later = ticks_now();
    release_by(20, WAKES_ONE);
    assert_int_equal(waker_since(later), 20);
    assert_int_equal(waker_since(since), 0);
}

/* ---- two threads at the same time ---- */

static const char *other; /* one of `others` that shares the object's entry */
static struct agent_slot other_slot;
static bool is_stepping;
static unsigned steps, step_of_other;

#define TRAP_FLAG 0x100

/* So that each of the entry's notes is one of them. */
static void note_often(const char *of)
{
    for (int i = 0; i < NOTES; i++)
        waker_note(of, WAKES_NEXT_HOLDER);
}

/* After that many instructions, another thread notes another object. */
static void on_step(int signal, siginfo_t *info, void *context)
{
    greg_t *flags = &((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];
    *flags = is_stepping ? *flags | TRAP_FLAG : *flags & ~(greg_t)TRAP_FLAG;
    if (steps++ != step_of_other)
        return;
    own_slot = &other_slot;
    note_often(other);
    own_slot = &slot;
}

static void set_stepping(bool on)
{
    is_stepping = on;
    raise(SIGTRAP);
}

static void note_while_another_notes(unsigned step)
{
    steps = 0;
    step_of_other = step;
    set_stepping(true);
    waker_note(&object, WAKES_NEXT_HOLDER);
    set_stepping(false);
}

static const char *find_other(void)
{
    uint32_t index;
    uint64_t released;
    waker_note(&object, WAKES_NEXT_HOLDER);
    for (size_t i = 0; i < sizeof others; i++) {
        note_often(&others[i]);
        if (!waker_find(&object, 0, &index, &released))
            return &others[i];
    }
    return NULL;
}

TEST(two_notes_at_the_same_time_do_not_mix)
{
    const struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
    struct sigaction before;
    unsigned found = 0, step = 0;
    other = find_other();
    assert_non_null(other);
    atomic_store(&other_slot.thread, 20);
    sigaction(SIGTRAP, &action, &before);
    do {
        uint32_t index;
        uint64_t released;
        note_while_another_notes(step++);
        if (waker_find(&object, 0, &index, &released)) {
            assert_int_equal(index, 7);
            found++;
        }
        if (waker_find(other, 0, &index, &released))
            assert_int_equal(index, 19);
    } while (step <= steps);
    sigaction(SIGTRAP, &before, NULL);
    assert_true(found > 0 && step > 10);
}

/* All stay in one window of 2^scale, and the longest waits everywhere. */
TEST(of_too_many_some_windows_stay_complete)
{
    enum { ALL = 3 * MAX_WAKE_UPS };
    static uint64_t ticks[ALL], lengths[ALL];
    process.began_ticks = 77 * SECOND;
    for (uint32_t i = 0; i < ALL; i++) {
        ticks[i] = process.began_ticks + i * (WAKE_UP_WINDOW / 256); /* 256 in a window */
        lengths[i] = WAKE_UP_TICKS + random_below(1000) + (i % 100 ? 0 : random_below(10) * WAKE_UP_WINDOW);
        add_wait(ticks[i], lengths[i], ticks[i], 10 + i);
        assert_true(image.wake_ups <= MAX_WAKE_UPS);
    }
    uint32_t scale = image.wake_up_scale, kept = 0;
    assert_int_equal(scale, 2);
    for (uint32_t i = 0; i < ALL; i++) {
        bool is_in_window = i / 256 % (1 << scale) == 0, is_long = lengths[i] >= WAKE_UP_WINDOW << scale;
        bool is_kept = kept < image.wake_ups && item(kept)->thread == 10 + i;
        assert_int_equal(is_kept, is_in_window || is_long);
        kept += is_kept;
    }
    assert_int_equal(kept, image.wake_ups);
    assert_int_equal(kept + image.lost_wake_ups, ALL);
}

EACH_TEST(begin, end);
