/* Our file descriptors, on the real kernel: they are above the program's limit or high in its table, and
 * close-on-exec, the program can't close or replace them, and one is kept in reserve for a program that
 * takes all others. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/base/own-fds.h"
#include "hpcrun/process/process.h"
#include "hpcrun/record/measurement-file.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#define LIMIT 256 /* descriptors */

struct process process;
struct sampling sampling;

bool measurement_create(void)
{
    return true;
}

static rlim_t limit_now(void)
{
    struct rlimit of_process;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &of_process), 0);
    return of_process.rlim_cur;
}

/* Of the limits that the kernel enforces, `hard` bounds the other one. It stays. */
static void set_limits(rlim_t soft, rlim_t hard)
{
    const struct rlimit limit = {.rlim_cur = soft, .rlim_max = hard};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

STEP(begin_below_hard_limit)
{
    set_limits(LIMIT, 2 * LIMIT);
    fds_init();
}

STEP(begin)
{
    set_limits(LIMIT, LIMIT);
    fds_init();
}

/* Closes what a test left. */
STEP(end)
{
    fds_release_reserve();
    for (int fd; (fd = fds_next(0)) >= 0;)
        fds_close(fd);
}

static int open_null(void)
{
    return fds_open(AT_FDCWD, "/dev/null", O_RDONLY, 0);
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

/* ---- above the program's limit ---- */

/* Takes all descriptors that are left; returns the last one. */
static int take_all(void)
{
    int last = -1;
    for (int fd; (fd = open("/dev/null", O_RDONLY)) >= 0;)
        last = fd;
    assert_int_equal(errno, EMFILE);
    return last;
}

TEST_WITH(begin_below_hard_limit, end, the_program_keeps_its_whole_table)
{
    int a = open_null(), b = fds_adopt(open("/dev/null", O_RDONLY));
    assert_true(a >= LIMIT && b >= LIMIT && a != b);
    assert_int_equal(fcntl(a, F_GETFD), FD_CLOEXEC);
    assert_int_equal(limit_now(), LIMIT);
    assert_int_equal(take_all(), LIMIT - 1);
    for (int fd = 0; fd < LIMIT; fd++)
        assert_true(is_open(fd) && !fds_is_ours(fd));
    int c = open_null();
    assert_true(c >= LIMIT && fds_is_ours(c) && fcntl(c, F_GETFD) == FD_CLOEXEC);
    assert_int_equal(limit_now(), LIMIT);
    assert_false(fds_are_few());
    closefrom(3);
    assert_true(is_open(a) && is_open(b) && is_open(c) && !is_open(LIMIT - 1));
}

/* The program's later files may need the numbers above its limit, too, if it raises that. */
TEST_WITH(begin_below_hard_limit, end, only_a_quarter_is_taken_there)
{
    int n = 0;
    for (int fd; (fd = fds_adopt(dup(0))) >= 0; n++)
        assert_true(fd >= LIMIT && fd < LIMIT + LIMIT / 4 + 16);
    assert_int_equal(n, LIMIT / 4 + 16);
}

TEST_WITH(begin_below_hard_limit, end, a_limit_that_changes_is_followed)
{
    set_limits(LIMIT / 2, 2 * LIMIT);
    int fd = open_null();
    assert_true(fd >= LIMIT / 2 && fd < LIMIT && fds_is_ours(fd));
    set_limits(2 * LIMIT, 2 * LIMIT);
    fd = open_null();
    assert_true(fd >= LIMIT * 3 / 4 && fd < 2 * LIMIT && fds_is_ours(fd));
}

/* ---- in the table ---- */

TEST_WITH(begin, end, they_are_high_and_do_not_survive_an_exec)
{
    int lowest = open("/dev/null", O_RDONLY), a = open_null(), b = open_null();
    assert_true(a >= LIMIT * 3 / 4 && a < LIMIT && b >= LIMIT * 3 / 4 && b < LIMIT && a != b);
    assert_int_equal(fcntl(a, F_GETFD), FD_CLOEXEC);
    assert_true(fds_is_ours(a) && fds_is_ours(b) && !fds_is_ours(lowest));
    close(lowest);
    assert_int_equal(open("/dev/null", O_RDONLY), lowest); /* as without us */
    close(lowest);
    fds_close(a);
    assert_false(fds_is_ours(a) || is_open(a));
    assert_true(fds_is_ours(b) && is_open(b));
}

TEST_WITH(begin, end, an_adopted_one_moves_up)
{
    int low = open("/dev/zero", O_RDONLY), high = fds_adopt(low);
    char zero = 1;
    assert_true(high >= LIMIT * 3 / 4 && fds_is_ours(high));
    assert_false(is_open(low));
    assert_int_equal(fcntl(high, F_GETFD), FD_CLOEXEC);
    assert_int_equal(read(high, &zero, 1), 1);
    assert_int_equal(zero, 0);
}

TEST_WITH(begin, end, a_missing_file_is_an_error_number)
{
    assert_int_equal(fds_open(AT_FDCWD, "/nowhere", O_RDONLY, 0), -ENOENT);
    assert_int_equal(fds_next(0), -1);
    fds_close(-1);
    assert_false(fds_is_ours(-1) || fds_is_ours(1 << 30));
}

TEST_WITH(begin, end, they_are_found_in_order)
{
    bool ours[LIMIT] = {false};
    for (int i = 0; i < 40; i++)
        ours[open_null()] = true;
    int next = fds_next(-5);
    for (int fd = 0; fd < LIMIT; fd++) {
        assert_int_equal(fds_is_ours(fd), ours[fd]);
        if (ours[fd]) {
            assert_int_equal(next, fd);
            assert_int_equal(fds_next(fd), fd);
            next = fds_next(fd + 1);
        }
    }
    assert_int_equal(next, -1);
}

/* The program's calls find ours closed, and leave them open. */
TEST_WITH(begin, end, the_program_cannot_close_or_replace_them)
{
    int ours = open_null(), own = open("/dev/null", O_RDONLY);
    errno = 0;
    assert_int_equal(close(ours), -1);
    assert_int_equal(errno, EBADF);
    errno = 0;
    assert_int_equal(dup2(own, ours), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(dup2(ours, own), -1);
    errno = 0;
    assert_int_equal(dup3(own, ours, O_CLOEXEC), -1);
    assert_int_equal(errno, EBADF);
    assert_int_equal(dup3(ours, own, O_CLOEXEC), -1);
    assert_true(is_open(ours) && fds_is_ours(ours));
    assert_int_equal(dup2(own, own + 1), own + 1);
    assert_int_equal(dup3(own, own + 2, 0), own + 2);
    assert_int_equal(close(own), 0);
    assert_int_equal(close(own + 1), 0);
    assert_int_equal(close(own + 2), 0);
}

/* Fills a range of the table, closes a part of it, and expects all of that part but ours closed. */
TEST_WITH(begin, end, closing_a_range_leaves_ours)
{
    enum { FIRST = 150, LAST = 220 };
    for (int from = FIRST; from <= LAST; from += 35)
        for (int to = from; to <= LAST; to += 23) {
            int a = open_null(), b = open_null(), c = open_null();
            for (int fd = FIRST; fd <= LAST; fd++)
                if (!fds_is_ours(fd))
                    assert_int_equal(dup2(0, fd), fd);
            assert_int_equal(close_range((unsigned)from, (unsigned)to, 0), 0);
            for (int fd = FIRST; fd <= LAST; fd++)
                assert_int_equal(is_open(fd), fds_is_ours(fd) || fd < from || fd > to);
            closefrom(FIRST);
            assert_true(is_open(a) && is_open(b) && is_open(c) && !is_open(FIRST));
            end(state);
        }
}

/* The file gets the reserve's number. */
TEST_WITH(begin, end, the_reserve_serves_when_the_program_took_all)
{
    fds_reserve();
    int reserve = fds_next(0);
    assert_true(reserve >= LIMIT * 3 / 4);
    int last = take_all();
    assert_int_equal(open_null(), reserve);
    assert_true(fds_is_ours(reserve));
    assert_int_equal(open_null(), -EMFILE);
    closefrom(3);
    assert_true(last > reserve && is_open(reserve) && !is_open(last));
}

TEST_WITH(begin, end, a_closed_one_becomes_the_reserve_if_there_is_none)
{
    int a = open_null(), b = open_null();
    fds_close_or_reserve(a);
    assert_true(is_open(a) && fds_is_ours(a));
    fds_close_or_reserve(b);
    assert_false(is_open(b) || fds_is_ours(b));
    fds_release_reserve();
    assert_false(is_open(a) || fds_is_ours(a));
}

TEST_WITH(begin, end, a_lowered_limit_is_noticed)
{
    set_limits(128, 128);
    int fd = open_null();
    assert_true(fd >= 96 && fd < 128 && fds_is_ours(fd));
}

TEST_WITH(NULL, end, very_few_descriptors_are_for_the_measurement_only)
{
    fds_init();
    assert_false(fds_are_scarce());
    assert_true(fds_are_few()); /* a descriptor for each thread is too much */
    set_limits(12, 12);
    fds_init();
    assert_true(fds_are_scarce());
    fds_reserve();
    assert_int_equal(fds_next(0), -1);
    int fd = open_null();
    assert_true(fd >= 0 && fds_is_ours(fd));
    fds_close_or_reserve(fd);
    assert_false(is_open(fd));
}
