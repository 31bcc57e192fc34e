/* The agent for OpenCilk with the runtime linked into the program: simulated-cheetah.c is an object file
 * of this one. test_opencilk_agent.c tests what the agent reads from memory. */
#include "tests/unit/agents/recording_host.h"

#include "agents/opencilk/opencilk-helpers.h"

#include <link.h>

void Cilk_exception_handler(void *worker, char *exception);
void __cilkrts_sync(void *frame);

static volatile int parent_was_stolen, work;

__attribute__((noinline)) static void user(void)
{
    work++;
}

__attribute__((noinline)) static void helper(void)
{
    user();
    if (parent_was_stolen)
        Cilk_exception_handler(NULL, NULL);
    work++;
}

__attribute__((noinline)) static void loop_helper(void)
{
    for (int i = 0; i < 10; i++)
        work += i;
    __cilkrts_sync(NULL);
    if (parent_was_stolen)
        Cilk_exception_handler(NULL, NULL);
    work++;
}

static const struct agent_host host = {.claim = record_claim,
                                       .find_claim = recorded_claim,
                                       .refuse = record_refusal,
                                       .log = record_line};

static int tell_program(struct dl_phdr_info *info, size_t size, void *data)
{
    struct agent_module module = {.bias = info->dlpi_addr, .path = ""};
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD) {
            uint64_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            module.start = module.start ? module.start : start;
            module.end = start + info->dlpi_phdr[i].p_memsz;
        }
    hpcrun_agent.module_added(&module);
    return 1; /* the program is the first */
}

static void assert_mark(void (*function)(void), uint32_t mark)
{
    struct agent_claim claim;
    assert_true(recorded_claim(&hpcrun_agent, (uint64_t)function, &claim));
    assert_int_equal(claim.tag, mark);
}

TEST(the_runtime_and_the_helpers_are_claimed)
{
    struct agent_claim claim;
    assert_true(hpcrun_agent.start(&host));
    dl_iterate_phdr(tell_program, NULL);
    assert_int_equal(log_lines, 0);
    assert_mark((void (*)(void))Cilk_exception_handler, RUNTIME);
    assert_mark((void (*)(void))__cilkrts_sync, RUNTIME);
    assert_mark(helper, HELPER);
    assert_mark(loop_helper, HELPER_WITH_USER_CODE);
    assert_false(recorded_claim(&hpcrun_agent, (uint64_t)user, &claim));
    assert_false(recorded_claim(&hpcrun_agent, (uint64_t)assert_mark, &claim));
}

TEST(threads_of_the_runtime_are_known_by_their_start)
{
    uint64_t slot = 0;
    struct agent_start_routine of_user = {.function = (uint64_t)user};
    struct agent_start_routine of_runtime = {.function = (uint64_t)__cilkrts_sync};
    hpcrun_agent.thread_begin(&slot, 1, of_user);
    assert_int_equal(slot, 0);
    hpcrun_agent.thread_begin(&slot, 1, of_runtime);
    assert_int_not_equal(slot, 0);
}

STEP(prepare)
{
    helper(), loop_helper();
}

ALL_TESTS(prepare, NULL);
