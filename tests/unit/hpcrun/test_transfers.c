/* Calls that a sample ends with a part go on for the rest; those that a handler of the program cuts
 * short end. The real functions are a script here, and descriptors are made up. */
#define HPCRUN_BASE_SYSTEM_CALL_H

static long sys6(long number, long a, long b, long c, long d, long e, long f);

#include "tests/unit/hpcrun/made_up_functions.h"

#include "hpcrun/restart/transfers.c"

struct process process;
struct sampling sampling;
__thread unsigned thread_samples_handled, thread_program_handlers;
__thread struct agent_slot *own_slot;

/* ---- the script ---- */

/* What happens in one call of the real function. */
struct attempt {
    long result;
    int error;
    unsigned samples, handlers; /* ours and the program's that run meanwhile */
};

static struct {
    const struct attempt *attempts;
    size_t n;
    long argument[8][6];                                                 /* of each call */
    void *part_frame[8];                                                 /* as it was then */
    struct call_start start[8];                                          /* as it was then */
    enum { PIPE = 1, MEMORY_DEVICE, STREAM, TERMINAL, PLAIN_FILE } kind; /* of all descriptors */
} sim;

static void *part_frame;
static struct call_start now_started;

static long scripted(long a, long b, long c, long d, long e, long f)
{
    const struct attempt *attempt = &sim.attempts[sim.n];
    memcpy(sim.argument[sim.n], (long[]){a, b, c, d, e, f}, sizeof sim.argument[0]);
    sim.part_frame[sim.n] = part_frame;
    sim.start[sim.n++] = now_started;
    thread_samples_handled += attempt->samples;
    thread_program_handlers += attempt->handlers;
    if (attempt->error)
        errno = attempt->error;
    return attempt->result;
}

static void *volatile any_function = (void *)scripted;

static long get_option(long option, void *value)
{
    *(int *)value = option == SO_TYPE ? SOCK_STREAM : AF_INET;
    return 0;
}

static long get_status(struct stat *status)
{
    bool is_device = sim.kind == MEMORY_DEVICE || sim.kind == TERMINAL;
    *status = (struct stat){.st_mode = sim.kind == PIPE ? S_IFIFO
                                       : is_device      ? S_IFCHR
                                                        : S_IFREG,
                            .st_rdev = sim.kind == TERMINAL ? makedev(136, 0) : makedev(1, 9)};
    return 0;
}

static long sys6(long number, long a, long b, long c, long d, long e, long f)
{
    switch (number) {
    case SYS_getsockopt: return sim.kind == STREAM ? get_option(c, (void *)d) : -ENOTSOCK;
    case SYS_fstat: return get_status((struct stat *)b);
    case SYS_ioctl: return sim.kind == TERMINAL ? 0 : -ENOTTY;
    default: return -ENOSYS;
    }
}

void restart_has_part(void *frame)
{
    part_frame = frame;
}

struct call_start call_begins(void *frame, void *caller)
{
    struct call_start before = now_started;
    now_started = (struct call_start){(uintptr_t)frame, (uint64_t)(uintptr_t)caller, 1};
    return before;
}

void call_ends(struct call_start before)
{
    now_started = before;
}

STEP(begin)
{
    memset(&sim, 0, sizeof sim);
    part_frame = NULL;
    now_started = (struct call_start){.at = 0};
    process.active = true;
    errno = 0;
}

/* After each test: nothing is left of the calls. */
STEP(end)
{
    assert_null(part_frame);
    assert_int_equal(now_started.at, 0);
}

/* The same script from its beginning. */
static void again(void **state)
{
    const struct attempt *attempts = sim.attempts;
    begin(state);
    sim.attempts = attempts;
}

#define SCRIPT(...)                                                                                \
    sim.attempts = (const struct attempt[])                                                        \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

/* What the program got, and after how many attempts. */
static void assert_moved(ssize_t result, ssize_t expected, size_t attempts)
{
    assert_int_equal(result, expected);
    assert_int_equal(sim.n, attempts);
}

/* An attempt that a handler of the program ends. */
#define BY_HANDLER                                                                                 \
    {                                                                                              \
        -1, EINTR, 0, 1                                                                            \
    }

/* ---- calls that move data ---- */

static char data[1000];

static void assert_call(size_t i, size_t done, size_t size)
{
    assert_ptr_equal(sim.argument[i][1], data + done);
    assert_int_equal(sim.argument[i][2], size);
}

TEST(a_part_goes_on_with_the_rest)
{
    SCRIPT({300, 0, 1, 0}, {500, 0, 1, 0}, {200, 0, 0, 0});
    sim.kind = PIPE;
    assert_moved(write(1, data, 1000), 1000, 3);
    assert_call(0, 0, 1000);
    assert_call(1, 300, 700);
    assert_call(2, 800, 200);
    again(state);
    sim.kind = TERMINAL;
    assert_moved(write(1, data, 1000), 1000, 3);
    again(state);
    sim.kind = MEMORY_DEVICE;
    assert_moved(read(1, data, 1000), 1000, 3);
    again(state);
    assert_moved(getrandom(data, 1000, 0), 1000, 3);
    assert_int_equal(sim.argument[2][1], 200);
}

/* The rest alone: the offset of the file has moved already. */
TEST(a_file_is_sent_once)
{
    SCRIPT({300, 0, 1, 0}, {700, 0, 0, 0});
    sim.kind = STREAM;
    assert_moved(sendfile(1, 2, NULL, 1000), 1000, 2);
    assert_int_equal(sim.argument[0][3], 1000);
    assert_int_equal(sim.argument[1][3], 700);
}

TEST(messages_go_on_with_the_rest)
{
    struct mmsghdr messages[5] = {0};
    SCRIPT({2, 0, 1, 0}, {3, 0, 0, 0});
    assert_int_equal(sendmmsg(1, messages, 5, 0), 5);
    assert_ptr_equal(sim.argument[1][1], messages + 2);
    assert_int_equal(sim.argument[1][2], 3);
    again(state);
    assert_int_equal(recvmmsg(1, messages, 5, 0, NULL), 5);
    assert_ptr_equal(sim.argument[1][1], messages + 2);
    assert_int_equal(sim.argument[1][2], 3);
}

/* While a call goes on for the rest: handlers of the program end it, and its time counts from the first
 * part. */
TEST(the_rest_is_known_to_be_a_rest)
{
    SCRIPT({300, 0, 1, 0}, {500, 0, 1, 0}, {200, 0, 0, 0});
    sim.kind = STREAM;
    send(1, data, 1000, 0);
    assert_null(sim.part_frame[0]);
    assert_int_equal(sim.start[0].at, 0);
    for (int i = 1; i < 3; i++) {
        assert_non_null(sim.part_frame[i]);
        assert_int_equal(sim.start[i].at, 1);
        assert_ptr_equal(sim.start[i].frame, sim.part_frame[i]);
    }
}

TEST(a_part_that_is_all_there_is_stays)
{
    SCRIPT({300, 0, 1, 0});
    sim.kind = PIPE;
    assert_moved(read(1, data, 1000), 300, 1);
    again(state);
    sim.kind = PLAIN_FILE;
    assert_moved(write(1, data, 1000), 300, 1);
    again(state);
    sim.kind = STREAM;
    assert_moved(recv(1, data, 1000, 0), 300, 1);
}

TEST(a_part_without_a_sample_stays)
{
    SCRIPT({300, 0, 0, 0});
    sim.kind = PIPE;
    assert_moved(write(1, data, 1000), 300, 1);
    begin(state);
    SCRIPT({300, 0, 1, 0}, {300, 0, 0, 0});
    sim.kind = PIPE;
    assert_moved(write(1, data, 1000), 600, 2);
}

TEST(a_handler_ends_a_call_with_the_part)
{
    SCRIPT({300, 0, 1, 1});
    sim.kind = PIPE;
    assert_moved(write(1, data, 1000), 300, 1);
    begin(state);
    SCRIPT({300, 0, 1, 0}, BY_HANDLER);
    sim.kind = PIPE;
    assert_moved(write(1, data, 1000), 300, 2);
}

TEST(an_error_after_a_part_is_the_next_calls)
{
    SCRIPT({300, 0, 1, 0}, {-1, EPIPE, 0, 0});
    sim.kind = STREAM;
    assert_int_equal(send(1, data, 1000, MSG_DONTROUTE), 300);
    assert_int_equal(sim.argument[0][3], MSG_DONTROUTE);
    assert_int_equal(sim.argument[1][3], MSG_DONTROUTE | MSG_NOSIGNAL);
}

TEST(all_is_received_if_all_is_waited_for)
{
    SCRIPT({300, 0, 1, 0}, {700, 0, 0, 0});
    sim.kind = STREAM;
    assert_int_equal(recv(1, data, 1000, MSG_WAITALL), 1000);
    assert_call(1, 300, 700);
    again(state);
    sim.kind = STREAM;
    assert_int_equal(recv(1, data, 1000, MSG_WAITALL | MSG_PEEK), 300);
}

TEST(pieces_go_on_where_they_were)
{
    const struct iovec pieces[] = {{data, 100}, {data + 100, 400}, {data + 500, 500}};
    SCRIPT({300, 0, 1, 0}, {200, 0, 0, 0}, {500, 0, 0, 0});
    sim.kind = PIPE;
    assert_moved(writev(1, pieces, 3), 1000, 3);
    assert_call(1, 300, 200);
    assert_call(2, 500, 500);
}

EACH_TEST(begin, end);
