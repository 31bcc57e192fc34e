#include "tests/unit/cmocka_suite.h"

#include "lib/diag.h"

#include <pty.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The time of lib/diag.c passes only where a test says so. */
static time_t skipped;

int clock_gettime(clockid_t clock, struct timespec *time)
{
    *time = (struct timespec){.tv_sec = 1000 + skipped};
    return 0;
}

/* A tool that works for a while on a half-finished step and prints a message in between. */
static void work(void)
{
    diag_progress_begin("counting", 200);
    diag_progress_add(100);
    skipped += 2;
    diag_progress_add(0);
    diag_init("tool");
    diag_note("file", "a word");
    diag_progress_end();
}

/* A step of several minutes. */
static void work_long(void)
{
    diag_init("tool");
    diag_progress_begin_bytes("analyzing it", 300 * 1000 * 1000 - 1);
    for (int i = 0; i < 10; i++) {
        skipped += i < 2 ? 14 : 20;
        diag_progress_add(50 * 1000 * 1000);
    }
    diag_progress_end();
}

/* What a piece of work prints on a terminal, or else on a pipe; the caller frees. */
static char *output_of(void (*work)(void), int terminal)
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

TEST(a_line_on_a_terminal_that_goes_away)
{
    char *text = output_of(work, 1);
    char *line = strstr(text, "\r\033[Kcounting: 50 %");
    assert_non_null(line);
    char *erased = strstr(line, "\r\033[Ktool: file: a word\r\n");
    assert_non_null(erased);
    assert_null(strstr(erased, "counting")); /* nothing is left */
    free(text);
}

TEST(nothing_elsewhere)
{
    char *text = output_of(work, 0);
    assert_string_equal(text, "tool: file: a word\n");
    free(text);
}

TEST(a_line_each_half_minute_elsewhere)
{
    char *text = output_of(work_long, 0);
    /* After 48, 88, 128 and 168 s; more is done than was expected. */
    assert_string_equal(text, "tool: analyzing it: 150 of 300 MB\ntool: analyzing it: 250 of 300 MB\n"
                              "tool: analyzing it: 300 of 300 MB\ntool: analyzing it: 300 of 300 MB\n");
    free(text);
}

TEST(another_program_shows_it)
{
    int ends[2];
    struct diag_progress got;
    assert_int_equal(pipe(ends), 0);
    diag_progress_to(ends[1]);
    diag_progress_begin("counting", 200);
    diag_progress_add(120);
    skipped++;
    diag_progress_add(3);
    assert_int_equal(read(ends[0], &got, sizeof got), sizeof got);
    assert_true(got.done == 0 && got.total == 200);
    assert_int_equal(read(ends[0], &got, sizeof got), sizeof got);
    assert_true(got.done == 123 && got.total == 200);
    diag_progress_end();
    close(ends[0]);
    close(ends[1]);
}
