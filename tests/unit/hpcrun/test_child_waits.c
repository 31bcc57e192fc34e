/* What the hooks on waiting for children note of them, and what the program gets. libc is made up. */
#include "tests/unit/hpcrun/made_up_functions.h"

#include "hpcrun/hooks/wait.c"

#define CHILD 4711

struct process process;
struct sampling sampling;
__thread struct agent_slot *own_slot;

/* What the real wait4 or waitid returns and stores. */
static struct {
    long result;
    int status;
    struct rusage usage;
    siginfo_t info;
    bool stores_info;
    long argument[6];
} sim;

/* What was noted; no child: 0. */
static pid_t noted;
static int noted_signal, notes;
static uint64_t noted_cpu;

static long made_up(long a, long b, long c, long d, long e, long f)
{
    memcpy(sim.argument, (long[]){a, b, c, d, e, f}, sizeof sim.argument);
    if (sim.stores_info) {
        *(siginfo_t *)sim.argument[2] = sim.info;
        return sim.result;
    }
    *(int *)sim.argument[1] = sim.status;
    *(struct rusage *)sim.argument[3] = sim.usage;
    return sim.result;
}

static void *volatile any_function = (void *)made_up;

bool process_is_restricted(void)
{
    return false;
}

void note_child_end(int child, int signal, uint64_t cpu)
{
    noted = child;
    noted_signal = signal;
    noted_cpu = cpu;
    notes++;
}

STEP(begin)
{
    memset(&sim, 0, sizeof sim);
    process.active = true;
    noted = notes = 0;
    noted_cpu = 0;
    noted_signal = -1;
}

/* Calls each function that stores a status; all must note the same. `signal` -1: nothing. */
static void assert_noted(int status, long result, int signal)
{
    for (int i = 0; i < 8; i++) {
        int got = 77, *to = i < 4 ? &got : NULL;
        begin(NULL);
        sim.status = status;
        sim.result = result;
        sim.usage = (struct rusage){.ru_utime = {2, 300}, .ru_stime = {1, 5}};
        pid_t child = i % 4 == 0   ? waitpid(CHILD, to, WUNTRACED)
                      : i % 4 == 1 ? wait(to)
                      : i % 4 == 2 ? wait3(to, WUNTRACED, NULL)
                                   : wait4(CHILD, to, WUNTRACED, NULL);
        assert_int_equal(child, result);
        assert_int_equal(got, to ? status : 77);
        assert_int_equal(noted, signal < 0 ? 0 : CHILD);
        assert_int_equal(noted_signal, signal);
        assert_int_equal(noted_cpu, signal < 0 ? 0 : 3000305000);
    }
}

/* The program gets the kernel's CPU times, too. */
TEST(the_usage_is_the_kernels)
{
    struct rusage got[2];
    begin(state);
    sim.result = CHILD;
    memset(&sim.usage, 0x11, sizeof sim.usage);
    assert_int_equal(wait3(NULL, 0, &got[0]), CHILD);
    assert_int_equal(wait4(CHILD, NULL, 0, &got[1]), CHILD);
    assert_memory_equal(&got[0], &sim.usage, sizeof sim.usage);
    assert_memory_equal(&got[1], &sim.usage, sizeof sim.usage);
}

TEST(an_end_is_noted_with_its_signal)
{
    assert_noted(3 << 8, CHILD, 0);
    assert_noted(SIGKILL, CHILD, SIGKILL);
    assert_noted(SIGSEGV | WCOREFLAG, CHILD, SIGSEGV);
}

TEST(no_end_is_not_noted)
{
    assert_noted(SIGSTOP << 8 | 0x7f, CHILD, -1); /* stopped */
    assert_noted(0xffff, CHILD, -1);              /* continued */
    assert_noted(0, 0, -1);                       /* WNOHANG: none has changed */
    assert_noted(0, -1, -1);
}

static void assert_noted_by_info(int code, int status, int signal)
{
    siginfo_t got;
    for (int i = 0; i < 2; i++) {
        begin(NULL);
        sim.stores_info = true;
        sim.info.si_pid = CHILD;
        sim.info.si_code = code;
        sim.info.si_status = status;
        assert_int_equal(waitid(P_ALL, 0, i ? &got : NULL, WEXITED), 0);
        assert_int_equal(noted, signal < 0 ? 0 : CHILD);
        assert_int_equal(noted_signal, signal);
        assert_int_equal(sim.argument[3], WEXITED);
    }
    assert_int_equal(got.si_status, status);
}

TEST(waitid_tells_ends_by_code)
{
    assert_noted_by_info(CLD_EXITED, 3, 0);
    assert_noted_by_info(CLD_KILLED, SIGTERM, SIGTERM);
    assert_noted_by_info(CLD_DUMPED, SIGABRT, SIGABRT);
    assert_noted_by_info(CLD_STOPPED, SIGSTOP, -1);
    assert_noted_by_info(CLD_TRAPPED, SIGTRAP, -1);
    assert_noted_by_info(CLD_CONTINUED, SIGCONT, -1);
}

TEST(waitid_without_a_child_notes_nothing)
{
    sim.stores_info = true;
    sim.info.si_code = CLD_EXITED; /* left from before: the pid counts */
    assert_int_equal(waitid(P_ALL, 0, NULL, WEXITED | WNOHANG), 0);
    assert_int_equal(notes, 0);
    begin(state);
    sim.stores_info = true;
    sim.info.si_code = CLD_EXITED;
    sim.info.si_pid = CHILD;
    sim.result = -1;
    assert_int_equal(waitid(P_ALL, 0, NULL, WEXITED), -1);
    assert_int_equal(noted, 0);
}

TEST(waitid_without_taking_the_child_notes_nothing)
{
    sim.stores_info = true;
    sim.info.si_code = CLD_EXITED;
    sim.info.si_pid = CHILD;
    assert_int_equal(waitid(P_ALL, 0, NULL, WEXITED | WNOWAIT), 0);
    assert_int_equal(notes, 0);
}

TEST(a_process_that_is_not_measured_notes_nothing)
{
    process.active = false;
    sim.result = CHILD;
    assert_int_equal(waitpid(CHILD, NULL, 0), CHILD);
    assert_int_equal(noted, 0);
    sim.stores_info = true;
    sim.result = 0;
    sim.info.si_pid = CHILD;
    sim.info.si_code = CLD_EXITED;
    assert_int_equal(waitid(P_ALL, 0, NULL, WEXITED), 0);
    assert_int_equal(noted, 0);
}

EACH_TEST(begin, NULL);
