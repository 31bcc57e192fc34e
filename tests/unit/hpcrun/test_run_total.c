/* The sums of a run and the list of what is missing, from lists of processes with known numbers. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/life/arena-counts.h"
#include "hpcrun/life/run-total.h"
#include "hpcrun/process/common-files.h"
#include "hpcrun/process/process-notes.h"
#include "hpcrun/process/process.h"

#include <unistd.h>

struct process process;
struct sampling sampling;
__thread unsigned own_sections;

/* ---- stubs ---- */

static const char *list_text;
static char pending_text[1024];
static struct text pending = TEXT(pending_text);
static long pending_error;

long common_list_open(void)
{
    FILE *file = tmpfile();
    fputs(list_text, file);
    fflush(file);
    int fd = dup(fileno(file));
    fclose(file);
    return fd;
}

const struct text *notes_pending(void)
{
    return &pending;
}

long notes_pending_error(void)
{
    return pending_error;
}

/* Samples that a killed process has left. */
static unsigned recovered_samples, asked_sequence;

bool arena_counts_read(struct process_image *image, unsigned sequence)
{
    asked_sequence = sequence;
    image->counts.fired[0] = recovered_samples;
    return recovered_samples > 0;
}

/* ---- tests ---- */

static struct run_total total;
static char missing_text[4096];

/* Reads the list in the process 7, which was launched and ends now. */
static const char *read_total(const char *text)
{
    struct text missing = TEXT(missing_text);
    list_text = text;
    missing_text[0] = '\0';
    assert_true(run_total_read(&total));
    run_total_add_incomplete(&total, &missing);
    run_total_free(&total);
    return missing_text;
}

STEP(begin)
{
    process = (struct process){.pid = 7, .start_ticks = 5, .began_wall = 100};
    pending.length = 0;
    pending_text[0] = '\0';
    pending_error = 0;
    recovered_samples = 0;
}

#define LAUNCHED "begin 0 7 5 6 0 100 /bin/app\n"
#define ENDED    "end 7 5 1 0 900 1 10 20 30 40 50 2 60 1 70 2 0 0\n"

/* Every number is a sum over all images, but sources, which are sets. */
TEST(the_sums_are_of_all_images)
{
    assert_string_equal(
        read_total(LAUNCHED
                   "begin 0 8 5 7 2 90 /bin/app\n"
                   "end 8 5 3 0 300 100 200 300 400 500 600 2 700 2 800 4 0 0\n"
                   "begin 0 8 5 7 3 310 /bin/other\n"
                   "end 8 5 1 0 400 1000 2000 3000 4000 5000 6000 2 7000 4 8000 1 0 0\n" ENDED),
        "");
    assert_int_equal(total.counts.threads, 1101);
    assert_int_equal(total.counts.cpu, 2210);
    assert_int_equal(total.counts.thread_cpu, 3320);
    assert_int_equal(total.counts.thread_wall, 4430);
    assert_int_equal(total.counts.dropped, 5540);
    assert_int_equal(total.counts.partial, 6650);
    assert_int_equal(total.counts.fired[0], 7760);
    assert_int_equal(total.counts.fired[1], 8870);
    assert_int_equal(total.counts.sources[0], 7);
    assert_int_equal(total.counts.sources[1], 7);
    assert_int_equal(total.processes, 2);
    assert_int_equal(total.began_at, 90);
}

TEST(reasons_are_counted_and_named)
{
    const char *text =
        read_total(LAUNCHED "unmeasured 0 8 1 200 /bin/static\nwaited 8 0 300 1500000000 7\n"
                            "unmeasured 0 9 1 200 /bin/static\nwaited 9 0 300 20000000 7\n"
                            "unmeasured 0 10 9 200 /bin/sh\n"
                            "waited 11 0 300 250000000 7\n" ENDED);
    assert_string_equal(
        text,
        "not measured: 2 statically linked (static; 1.520 s CPU), 1 run by a user who may not "
        "write to the measurement directory (sh), 1 left no record of itself (app[11]; "
        "0.250 s CPU)");
    assert_int_equal(total.incomplete, 4);
    assert_int_equal(total.processes, 1);
}

/* What can't be written is no part of the sums. */
TEST(failures_to_write)
{
    const char *text = read_total(
        LAUNCHED "begin 0 8 5 7 2 200 /bin/app\nend 8 5 1 0 300 0 30000000 0 0 0 0 1 3 1 2 28\n"
                 "begin 0 9 5 7 2 200 /bin/app\nend 9 5 1 0 300 0 40000000 0 0 0 0 1 3 1 2 28\n"
                 "begin 0 10 5 7 2 200 /bin/app\nend 10 5 1 0 300 0 50000000 0 0 0 0 1 3 1 2 27\n"
                 "begin 0 11 5 7 2 200 /bin/app\nend 11 5 1 0 300 1 60 0 0 0 0 1 3 1 1 28\n" ENDED);
    assert_string_equal(
        text,
        "not measured: 2 could not be written: No space left on device (app[8], app[9]; 0.070 s "
        "CPU), 1 could not be written: File too large (app[10]; 0.050 s CPU); measured in part: "
        "1 No space left on device (app[11])");
    assert_int_equal(total.counts.cpu, 70);
    assert_int_equal(total.counts.fired[0], 63);
    assert_int_equal(total.processes, 2);
}

/* The own loss has a line of its own. */
TEST(own_failure)
{
    assert_string_equal(read_total(LAUNCHED "end 7 5 1 0 900 0 10 0 0 0 0 1 60 1 2 28\n"), "");
    assert_int_equal(total.counts.cpu, 10);
    assert_string_equal(read_total(LAUNCHED), ""); /* nor could its end be written */
}

TEST(lines_that_could_not_be_written)
{
    pending_error = -28;
    text_add(&pending, "waited 8 0 300 20000000 7\nwaited 9 9 300 30000000 7\n");
    assert_string_equal(
        read_total(LAUNCHED "end 7 5 1 0 90"), /* cut in mid-line */
        "not measured: 2 could not be written: No space left on device (app[8], app[9]; 0.050 s CPU)");
}

TEST(killed_processes_have_what_they_left)
{
    recovered_samples = 33;
    assert_string_equal(
        read_total(LAUNCHED "begin 0 8 5 7 2 200 /bin/app\n"
                            "end 8 5 3 0 300 1 1 1 1 0 0 1 1 1 0 0\nbegin 0 8 5 7 3 310 /bin/b\n"
                            "waited 8 9 400 0 7\n" ENDED),
        "measured in part: 1 killed by signal 9 (b[8])");
    assert_int_equal(total.counts.fired[0], 60 + 1 + 33);
    assert_int_equal(asked_sequence, 1);
}

/* The kernel's account of a child that could not write: its own children are subtracted. */
TEST(cpu_time_that_is_lost)
{
    assert_string_equal(
        read_total(LAUNCHED "begin 0 8 5 7 2 200 /bin/sh\nbegin 0 9 5 8 2 210 /bin/app\n"
                            "end 9 5 1 0 300 1 1 1 1 0 0 1 1 1 0 0 250000000 0\n"
                            "waited 8 0 400 600000000 7\n" ENDED),
        "measured in part: 1 ended by a bare system call (sh[8]; 0.350 s CPU lost)");
    assert_string_equal(
        read_total(LAUNCHED "unmeasured 0 8 1 200 /bin/static\nbegin 0 9 5 8 2 210 /bin/app\n"
                            "end 9 5 1 0 300 1 1 1 1 0 0 1 1 1 0 0 250000000 0\n"
                            "waited 8 0 400 600000000 7\n" ENDED),
        "not measured: 1 statically linked (static; 0.350 s CPU)");
}

#define ENDED_WITH_CHILDREN "end 7 5 1 0 900 1 10 20 30 40 50 1 60 1 0 0 10 700000000\n"

/* Children that no line mentions: what the kernel has counted of all, less those in the list. */
TEST(children_without_a_line)
{
    const char *known =
        "begin 0 8 5 7 2 200 /bin/app\nend 8 5 3 0 250 1 1 1 1 0 0 1 1 1 0 0 100000000 0\n"
        "begin 0 8 5 7 3 260 /bin/app\nend 8 5 1 0 300 1 1 1 1 0 0 1 1 1 0 0 250000000 0\n";
    char text[1024];
    snprintf(text, sizeof text, "%s%s%s", LAUNCHED, known, ENDED_WITH_CHILDREN);
    assert_string_equal(read_total(text),
                        "not measured: children without a record (app[7]; 0.450 s CPU)");
    assert_int_equal(total.incomplete, 1);
    /* The process goes on as another program: its children remain its children. */
    snprintf(text, sizeof text, "%s%s%s%s%s", LAUNCHED, known,
             "end 7 5 3 0 400 1 1 1 1 0 0 1 1 1 0 0 5 250000000\n", "begin 0 7 5 6 3 410 /bin/b\n",
             "end 7 5 1 0 900 1 10 20 30 40 50 1 60 1 0 0 10 255000000\n");
    assert_string_equal(read_total(text), "");
    /* A later process with its parent's number is not its parent. */
    snprintf(text, sizeof text, "%s%s%s%s", LAUNCHED,
             "begin 0 9 5 8 2 150 /bin/app\n"
             "end 9 5 1 0 160 1 1 1 1 0 0 1 1 1 0 0 400000000 0\n",
             "begin 0 8 6 7 2 200 /bin/app\n"
             "end 8 6 1 0 300 1 1 1 1 0 0 1 1 1 0 0 200000000 400000000\n",
             ENDED);
    assert_string_equal(read_total(text),
                        "not measured: children without a record (app[8]; 0.400 s CPU)");
}

/* An emulator has the number of the program in it. */
TEST(a_program_in_an_emulator)
{
    process.start_ticks = 9;
    read_total(
        "begin 0 7 5 6 0 100 /bin/qemu\nbegin 0 7 9 6 0 110 /bin/app\nend 7 9 1 0 400 1 1 1 1 0 0 1 1 1 0 0\n");
    assert_true(total.others_go_on);
    process.start_ticks = 5;
    read_total(
        "begin 0 7 5 6 0 100 /bin/qemu\nbegin 0 7 9 6 0 110 /bin/app\nend 7 9 1 0 400 1 1 1 1 0 0 1 1 1 0 0\n"
        "end 7 5 1 0 900 1 1 1 1 0 0 1 500 1 0 0\n");
    assert_false(total.others_go_on);
    assert_int_equal(total.counts.fired[0], 501);
}

EACH_TEST(begin, NULL);
