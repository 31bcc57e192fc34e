/* The identity of a process that has ended before its worker could look at it. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/outside/measured-process.h"
#include "hpcrun/process/identity.h"
#include "hpcrun/process/process.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>


/* Another process has its number by now, this one: it began later, though it may execute the same program. */
TEST(a_later_process_with_its_number)
{
    static struct mapping program;
    struct stat status;
    assert_int_equal(stat("/proc/self/exe", &status), 0);
    program = (struct mapping){.inode = status.st_ino, .path = "/bin/ended"};
    uint64_t now = sys_clock(CLOCK_MONOTONIC), long_ago = 1000000000;
    const struct measured_image image = {
        .pid = getpid(), .parent = 7, .forked = long_ago, .began = now, .program = &program, .has_begun = true, .name = "ended"};
    assert_true(measured_identify(&image));
    assert_int_equal(process.parent, 7);
    assert_string_equal(process.executable, "/bin/ended");
    assert_string_equal(process_arguments()[0], "ended");
    assert_int_equal(process.cpu_elsewhere, 0);
    assert_false(measured_read((uint64_t)(uintptr_t)&now, &now, sizeof now));
}

/* A program that ended as soon as it was executed, without a mapping: its name stands for it. */
TEST(an_ended_process_without_a_program)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    const struct measured_image image = {
        .pid = child, .parent = 7, .forked = sys_clock(CLOCK_MONOTONIC), .name = "ended"};
    assert_true(measured_identify(&image));
    assert_string_equal(process.executable, "ended");
    assert_string_equal(process_arguments()[0], "ended");
}

/* Its parent has not waited for it yet. */
TEST(an_ended_process_has_no_memory)
{
    siginfo_t end;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_int_equal(waitid(P_PID, (id_t)child, &end, WEXITED | WNOWAIT), 0);
    process.pid = child;
    assert_false(measured_has_memory());
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_false(measured_has_memory());
    process.pid = getpid();
    assert_true(measured_has_memory());
}

/* This process itself. */
TEST(a_process_that_is_there)
{
    struct stat status;
    static struct mapping program;
    assert_int_equal(stat("/proc/self/exe", &status), 0);
    program = (struct mapping){.inode = status.st_ino, .path = "another name"};
    const struct measured_image image = {.pid = getpid(),
                                         .forked = sys_clock(CLOCK_MONOTONIC),
                                         .program = &program,
                                         .has_begun = true,
                                         .name = "another"};
    assert_true(measured_identify(&image));
    assert_int_equal(process.parent, getppid());
    assert_non_null(strstr(process.executable, "test_measured_process"));
    assert_true(process.cpu_elsewhere > 0);
}
