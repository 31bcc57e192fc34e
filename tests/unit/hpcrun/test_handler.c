/* The handler of the sampling signal: which signals are samples, what is done for one and in which
 * order, and when the thread's data is written. All that it calls is made up here. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/process/process.h"
#include "hpcrun/record/arena-file.h"
#include "hpcrun/record/flush.h"
#include "hpcrun/record/process-chunks.h"
#include "hpcrun/restart/cancellation.h"
#include "hpcrun/restart/ended-calls.h"
#include "hpcrun/restart/restart.h"
#include "hpcrun/sample/handler.h"
#include "hpcrun/sample/sample-trace.h"
#include "hpcrun/sample/sample.h"
#include "hpcrun/span/strand-clock.h"
#include "hpcrun/thread/thread-image.h"

#include <signal.h>

/* Ticks between two looks at the clock: handler.c. */
#define TICKS_PER_LOOK ((uint64_t)1 << 32)

struct process process;
struct sampling sampling;
__thread struct thread *thread_self;
__thread unsigned thread_samples_handled;

static struct thread thread;
static struct arena_thread image;

/* What happened, a letter each: m mark, g the call goes on, k test for cancellation, s measure, r record, c commit, t trace, a arm, x count a missed one,
 * b begin the arena file, l look at the clock, p write pending chunks, f flush, S a strand pauses, G it goes on. */
static char done[64];
static bool was_busy; /* in all of it */

static bool fires, can_begin, is_cancelable_call;
static int of_signal; /* index of the event; -1: none */
static bool is_due[2], is_perf[2], is_lost[2];
static int recorded, missed; /* index of the last event */
static uint64_t ticks_since_look, since_flush;

static void note(char what)
{
    done[strlen(done)] = what;
    was_busy = was_busy && atomic_load(&thread.busy);
}

static int index_of(const struct thread_event *event)
{
    return (int)(event - thread.events);
}

/* ---- stubs for handler.c ---- */

void restart_mark(const ucontext_t *context)
{
    note('m');
    was_busy = true; /* from the next one on */
}

bool ended_call_goes_on(struct thread *its, ucontext_t *context)
{
    note('g');
    return is_cancelable_call;
}

void cancel_if_requested(const ucontext_t *context)
{
    assert_false(atomic_load(&thread.busy)); /* it may not return */
    done[strlen(done)] = 'k';
}

struct strand_pause strand_pause(bool may_wait)
{
    assert_false(may_wait); /* that is not for signal handlers */
    done[strlen(done)] = 'S';
    return (struct strand_pause){.begin = 77};
}

void strand_go_on(const struct strand_pause *pause)
{
    assert_int_equal(pause->begin, 77);
    done[strlen(done)] = 'G';
}

struct thread_event *source_of_signal(struct thread *its, const siginfo_t *info)
{
    return of_signal < 0 ? NULL : &its->events[of_signal];
}

struct increment source_measure(struct thread *its, struct thread_event *event,
                                const siginfo_t *info, const ucontext_t *context)
{
    note('s');
    return (struct increment){.fired = fires, .amount = 7};
}

struct increment source_overdue(struct thread_event *event)
{
    return (struct increment){.fired = is_due[index_of(event)]};
}

bool source_is_perf(const struct thread_event *event)
{
    return is_perf[index_of(event)];
}

bool source_has_lost_sample(const struct thread_event *event)
{
    return is_lost[index_of(event)];
}

bool source_is_due(const struct thread_event *event)
{
    return is_due[index_of(event)];
}

void source_arm(struct thread *its, struct thread_event *event)
{
    assert_int_equal(index_of(event), recorded);
    note('a');
}

void sample_record(struct thread *its, struct thread_event *event,
                   const struct increment *increment, const ucontext_t *context,
                   struct trace_record *found)
{
    assert_int_equal(increment->amount, 7);
    assert_ptr_equal(found, &image.trace_recent[image.trace_recent_count]);
    recorded = index_of(event);
    found->amount = TRACE_WORK;
    note('r');
}

void sample_trace_parts(struct thread *its, const struct increment *increment)
{
    note('t');
}

void sample_count_missed(struct thread_event *event, const struct increment *increment)
{
    assert_true(increment->fired);
    missed = index_of(event);
    note('x');
}

/* The clocks stand as the test wants: what the handler compares with is set when it tells its time. */
void arena_file_commit(struct thread *its, uint64_t ticks)
{
    if (its->looked_at)
        its->looked_at = ticks - ticks_since_look;
    note('c');
}

bool arena_file_begin_thread(struct thread *its)
{
    note('b');
    return can_begin;
}

void arena_file_look(struct thread *its, struct moment now)
{
    assert_int_equal(its->looked_at, now.ticks);
    assert_int_not_equal(its->flushed_at, 0);
    its->flushed_at = now.wall - since_flush;
    note('l');
}

bool flush_thread(struct thread *its, bool ended)
{
    assert_false(ended);
    note('f');
    return true;
}

void process_chunks_write_pending(bool retry)
{
    assert_true(retry);
    note('p');
}

/* ---- tests ---- */

STEP(set_up)
{
    memset(&thread, 0, sizeof thread);
    memset(&image, 0, sizeof image);
    memset(done, 0, sizeof done);
    thread.image = &image;
    thread.event_count = 2;
    thread.looked_at = 1;
    thread_self = &thread;
    sampling = (struct sampling){.on = true};
    fires = can_begin = true;
    of_signal = 1;
    memset(is_due, 0, sizeof is_due);
    memset(is_perf, 0, sizeof is_perf);
    memset(is_lost, 0, sizeof is_lost);
    ticks_since_look = since_flush = 0;
    recorded = missed = -1;
}

/* Handles a signal of the sampling signal's kind. */
static bool handle(int code, pid_t sender)
{
    siginfo_t info = {.si_code = code};
    info.si_pid = sender;
    return handler_on_signal(&info, NULL);
}

TEST(a_sample_is_recorded_before_the_next_is_armed)
{
    const unsigned before = thread_samples_handled;
    assert_true(handle(SI_TIMER, 0));
    assert_string_equal(done, "msrcag");
    assert_int_equal(recorded, 1);
    assert_true(was_busy);
    assert_false(thread.busy);
    assert_int_equal(thread_samples_handled, before + 1);
}

/* Only after its node is published. */
TEST(samples_of_one_event_are_traced)
{
    handle(SI_TIMER, 0);
    assert_int_equal(image.trace_recent_count, 0);
    thread.traced = &thread.events[1];
    handle(SI_TIMER, 0);
    assert_int_equal(image.trace_recent_count, 1);
    assert_int_equal(image.trace_recent[0].amount, 7 << TRACE_FLAG_BITS | TRACE_WORK);
    of_signal = 0;
    handle(SI_TIMER, 0);
    assert_int_equal(image.trace_recent_count, 1);
    of_signal = 1;
    image.trace_recent_count = ARENA_RECENT - TRACE_PARTS;
    memset(done, 0, sizeof done);
    handle(SI_TIMER, 0);
    assert_string_equal(done, "msrctag");
}

TEST(a_canceled_thread_is_done_with_its_sample)
{
    is_cancelable_call = true;
    assert_true(handle(SI_TIMER, 0));
    assert_string_equal(done, "msrcagk");
    is_cancelable_call = false;
}

TEST(a_sample_is_no_part_of_a_strand)
{
    process.config.work_span = true;
    assert_true(handle(SI_TIMER, 0));
    assert_string_equal(done, "SmsrcaGg");
    process.config.work_span = false;
}

TEST(signals_of_others_are_no_samples)
{
    const unsigned before = thread_samples_handled;
    of_signal = -1;
    assert_false(handle(SI_TIMER, 0));
    assert_false(handle(SI_QUEUE, getpid()));
    assert_false(handle(SI_USER, 0x7ffffff0)); /* not our tracer */
    of_signal = 0;
    thread_self = NULL;
    assert_false(handle(SI_TIMER, 0));
    assert_string_equal(done, "");
    assert_int_equal(thread_samples_handled, before);
}

TEST(without_sampling_nothing_is_measured)
{
    atomic_store(&sampling.on, false);
    assert_true(handle(SI_TIMER, 0));
    assert_string_equal(done, "mg");
    atomic_store(&sampling.on, true);
    atomic_store(&thread.samples_blocked, true);
    assert_true(handle(SI_TIMER, 0));
    assert_string_equal(done, "mgmg");
    atomic_store(&thread.samples_blocked, false);
    fires = false;
    assert_true(handle(SI_TIMER, 0));
    assert_string_equal(done, "mgmgmsg");
    assert_false(thread.busy);
}

TEST(samples_at_the_end_are_only_counted)
{
    atomic_store(&sampling.stopping, true);
    assert_true(handle(SI_TIMER, 0));
    assert_string_equal(done, "msxg");
    assert_int_equal(missed, 1);
    fires = false;
    assert_true(handle(SI_TIMER, 0));
    assert_string_equal(done, "msxgmsg");
}

TEST(the_clock_is_read_seldom)
{
    ticks_since_look = TICKS_PER_LOOK - 1;
    handle(SI_TIMER, 0);
    assert_string_equal(done, "msrcag");
    ticks_since_look = TICKS_PER_LOOK;
    handle(SI_TIMER, 0);
    assert_string_equal(done, "msrcagmsrcablg");
}

TEST(the_first_sample_reads_the_clock)
{
    thread.looked_at = 0;
    can_begin = false;
    handle(SI_TIMER, 0);
    assert_string_equal(done, "msrcabg");
    assert_int_equal(thread.looked_at, 0); /* the next one tries again */
    assert_int_equal(thread.flushed_at, 0);
    can_begin = true;
    handle(SI_TIMER, 0);
    assert_string_equal(done, "msrcabgmsrcablg");
    assert_int_not_equal(thread.looked_at, 0);
    assert_int_not_equal(thread.flushed_at, 0);
}

TEST(a_thread_without_arena_file_is_flushed_each_ten_seconds)
{
    ticks_since_look = TICKS_PER_LOOK;
    since_flush = FLUSH_INTERVAL - 1;
    handle(SI_TIMER, 0);
    assert_string_equal(done, "msrcablg");
    since_flush = FLUSH_INTERVAL;
    const uint64_t before = sys_clock(CLOCK_MONOTONIC);
    handle(SI_TIMER, 0);
    assert_string_equal(done, "msrcablgmsrcablfg");
    assert_true(thread.flushed_at >= before); /* the next one is ten seconds later */
}

/* Unless its tree has outgrown it. */
TEST(a_live_image_is_not_flushed)
{
    static struct arena_segments offsets;
    image.state = THREAD_IMAGE_LIVE;
    thread.cct.nodes.offsets = thread.cct.values.offsets = &offsets;
    thread.logical.lnotes.notes.offsets = thread.trace.offsets = thread.marks.offsets =
        thread.wake_ups.offsets = &offsets;
    ticks_since_look = TICKS_PER_LOOK;
    since_flush = 2 * FLUSH_INTERVAL;
    handle(SI_TIMER, 0);
    assert_string_equal(done, "msrcablpg");
    thread.cct.values.offsets = NULL;
    ticks_since_look = 0;
    handle(SI_TIMER, 0);
    assert_string_equal(done, "msrcablpgmsrcafg");
}

TEST(lost_samples_are_those_of_perf)
{
    siginfo_t from_kernel = {.si_code = SI_KERNEL}, from_program = {.si_code = SI_USER};
    is_lost[0] = true;
    assert_false(handler_take_lost(SIGIO, &from_kernel, NULL, false)); /* no event is perf's */
    is_perf[1] = true;
    assert_false(handler_take_lost(SIGIO, &from_program, NULL, false));
    assert_false(handler_take_lost(SIGUSR1, &from_kernel, NULL, false));
    atomic_store(&thread.busy, true);
    assert_true(handler_take_lost(SIGIO, &from_kernel, NULL, false)); /* it interrupted a sample */
    assert_string_equal(done, "");
    atomic_store(&thread.busy, false);
    process.signal = SIGUSR2;
    assert_true(handler_take_lost(SIGIO, &from_kernel, NULL, false));
    assert_string_equal(done, "srca");
    assert_true(handler_take_lost(SIGIO, &from_kernel, NULL, true));
    assert_string_equal(done, "srcasrcag");
    assert_int_equal(recorded, 0);
}

TEST(a_pending_sample_is_not_taken_twice)
{
    siginfo_t from_kernel = {.si_code = SI_KERNEL};
    is_perf[0] = is_lost[0] = true;
    process.signal = SIGUSR2;
    sigset_t blocked, before;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR2);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    raise(SIGUSR2);
    assert_true(handler_take_lost(SIGIO, &from_kernel, NULL, false));
    assert_string_equal(done, "");
    int number;
    sigwait(&blocked, &number);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

TEST(overdue_samples_are_counted_at_the_end)
{
    is_due[0] = true;
    atomic_store(&sampling.on, false);
    handler_count_overdue(&thread);
    assert_string_equal(done, "");
    atomic_store(&sampling.on, true);
    handler_count_overdue(&thread);
    assert_string_equal(done, "x");
    assert_int_equal(missed, 0);
}

EACH_TEST(set_up, NULL);
