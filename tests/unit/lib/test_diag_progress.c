#include "tests/unit/cmocka_suite.h"

#include "lib/diag.h"

#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* A tool that works for a while on a half-finished step and prints a message in between. */
static void work(void)
{
    double end = now() + 1.5;
    diag_progress_begin("counting", 200);
    diag_progress_add(100);
    while (now() < end)
        diag_progress_add(0);
    diag_init("tool");
    diag_note("file", "a word");
    diag_progress_end();
}

/* The output of work() on a terminal, or else on a pipe; the caller frees. */
static char *output_of_work(int terminal)
{
    int ends[2] = {-1, -1};
    pid_t child;
    if (terminal) {
        child = forkpty(&ends[0], NULL, NULL, NULL);
    } else {
        assert_int_equal(pipe(ends), 0);
        child = fork();
        if (child == 0)
            dup2(ends[1], STDERR_FILENO);
    }
    if (child == 0) {
        work();
        _exit(0);
    }
    if (!terminal)
        close(ends[1]);
    char *text = calloc(1, 1 << 16);
    size_t size = 0;
    for (ssize_t got; (got = read(ends[0], text + size, (1 << 16) - size - 1)) > 0;)
        size += (size_t)got;
    close(ends[0]);
    waitpid(child, NULL, 0);
    return text;
}

static void a_line_on_a_terminal_that_goes_away(void **state)
{
    (void)state;
    char *text = output_of_work(1);
    char *line = strstr(text, "\r\033[Kcounting: 50 %");
    assert_non_null(line);
    char *erased = strstr(line, "\r\033[Ktool: file: a word\r\n");
    assert_non_null(erased);
    assert_null(strstr(erased, "counting")); /* nothing is left */
    free(text);
}

static void nothing_elsewhere(void **state)
{
    (void)state;
    char *text = output_of_work(0);
    assert_string_equal(text, "tool: file: a word\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_on_a_terminal_that_goes_away),
        cmocka_unit_test(nothing_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
