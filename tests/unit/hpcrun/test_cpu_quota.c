/* The quota of the process's control group, by made-up files of the kernel. */
#include "tests/unit/cmocka_suite.h"

#define HPCRUN_BASE_SMALL_FILE_H /* this program's small_file_read takes its place */

static size_t small_file_read(const char *path, char *to, size_t room);

#include "hpcrun/process/cpu-quota.c"

struct process process;
static bool is_restricted;

bool process_is_restricted(void)
{
    return is_restricted;
}

/* ---- files ---- */

#define MOST_FILES 8

static struct {
    const char *path, *text;
} files[MOST_FILES];

static size_t small_file_read(const char *path, char *to, size_t room)
{
    *to = '\0';
    for (size_t i = 0; i < MOST_FILES && files[i].path; i++)
        if (strcmp(files[i].path, path) == 0)
            return (size_t)snprintf(to, room, "%s", files[i].text);
    return 0;
}

static void put(const char *path, const char *text)
{
    size_t i = 0;
    while (files[i].path && strcmp(files[i].path, path) != 0)
        i++;
    assert_in_range(i, 0, MOST_FILES - 1);
    files[i].path = path;
    files[i].text = text;
}

STEP(begin)
{
    memset(files, 0, sizeof files);
    is_restricted = false;
}

static void assert_quota(uint64_t milli, uint64_t throttled)
{
    assert_int_equal(cpu_quota(), milli);
    assert_int_equal(cpu_quota_throttled(), throttled);
}

/* ---- version 2 ---- */

#define V2 "/sys/fs/cgroup"

TEST(the_groups_own_quota)
{
    put("/proc/self/cgroup", "0::/user.slice/job\n");
    put(V2 "/user.slice/job/cpu.max", "50000 100000\n");
    put(V2 "/user.slice/job/cpu.stat", "usage_usec 9\nnr_throttled 3\nthrottled_usec 1000\n");
    cpu_quota_find();
    assert_quota(500, 0);
    put(V2 "/user.slice/job/cpu.stat", "usage_usec 9\nnr_throttled 3\nthrottled_usec 4500\n");
    assert_quota(500, 3500000);
    cpu_quota_restart();
    assert_quota(500, 0);
}

/* Whichever of the groups around it has the least. */
TEST(the_tightest_group_counts)
{
    put("/proc/self/cgroup", "0::/a/b/c\n");
    put(V2 "/a/b/c/cpu.max", "max 100000\n");
    put(V2 "/a/b/cpu.max", "300000 100000\n");
    put(V2 "/a/cpu.max", "30000 20000\n");
    put(V2 "/cpu.max", "800000 100000\n");
    put(V2 "/a/cpu.stat", "throttled_usec 7\n");
    put(V2 "/a/b/cpu.stat", "throttled_usec 900\n");
    cpu_quota_find();
    put(V2 "/a/cpu.stat", "throttled_usec 8\n");
    assert_quota(1500, 1000);
}

/* The container's group is the root of what it shows; its path is the host's. */
TEST(a_container_shows_its_group_as_the_root)
{
    put("/proc/self/cgroup", "0::/docker/0123\n");
    put(V2 "/cpu.max", "200000 100000\n");
    put(V2 "/cpu.stat", "throttled_usec 0\n");
    cpu_quota_find();
    assert_quota(2000, 0);
    put("/proc/self/cgroup", "0::/\n");
    cpu_quota_find();
    assert_quota(2000, 0);
}

/* ---- version 1 ---- */

TEST(the_controller_may_be_mounted_with_another)
{
    static const char *const roots[] = {"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"};
    static const char *const groups[] = {
        "4:memory:/m\n3:cpuset:/s\n2:cpuacct:/a\n1:cpu:/job\n0::/\n",
        "4:cpuset:/s\n3:cpu,cpuacct:/job\n1:name=systemd:/x:y\n",
        "3:cpuacct,cpu:/job\n",
    };
    for (size_t i = 0; i < 2 * sizeof groups / sizeof *groups; i++) {
        char quota_path[128], period[128], stat[128];
        begin(state);
        const char *root = roots[i % 2];
        snprintf(quota_path, sizeof quota_path, "%s/job/cpu.cfs_quota_us", root);
        snprintf(period, sizeof period, "%s/job/cpu.cfs_period_us", root);
        snprintf(stat, sizeof stat, "%s/job/cpu.stat", root);
        put("/proc/self/cgroup", groups[i / 2]);
        put(quota_path, "25000\n");
        put(period, "100000\n");
        put(stat, "nr_periods 8\nthrottled_time 1000\n");
        cpu_quota_find();
        put(stat, "nr_periods 8\nthrottled_time 1250\n");
        assert_quota(250, 250);
    }
}

/* ---- no quota ---- */

TEST(no_quota_is_zero)
{
    static const struct {
        const char *groups, *path, *text;
    } cases[] = {
        {"0::/a\n", V2 "/a/cpu.max", "max 100000\n"},
        {"1:cpu:/a\n", "/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n"},
        {"1:cpu:/a\n", "/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "1000\n"}, /* without a period */
        {"1:cpuset:/a\n", "/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "1000\n"},
        {"0::/a\n", V2 "/a/cpu.max", "5000 0\n"},
        {"0::/a\n", V2 "/a/cpu.max", "5000\n"},
        {"nonsense\n:\n::\n", V2 "/a/cpu.max", "5000 100000\n"},
        {"0::/a", V2 "/a/cpu.max", "5000 100000\n"}, /* a line without an end */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(state);
        put("/proc/self/cgroup", cases[i].groups);
        put(cases[i].path, cases[i].text);
        cpu_quota_find();
        assert_quota(0, THROTTLED_UNKNOWN);
    }
}

TEST(what_cannot_be_read_is_unknown)
{
    put("/proc/self/cgroup", "0::/a\n");
    put(V2 "/a/cpu.max", "50000 100000\n");
    cpu_quota_find();
    assert_quota(500, THROTTLED_UNKNOWN); /* no cpu.stat */
    put(V2 "/a/cpu.stat", "throttled_usec 5\n");
    assert_quota(500, THROTTLED_UNKNOWN); /* there was none at the begin */
    cpu_quota_restart();
    assert_quota(500, 0);
    is_restricted = true;
    assert_quota(500, THROTTLED_UNKNOWN);
    cpu_quota_find();
    assert_quota(0, THROTTLED_UNKNOWN);
}

EACH_TEST(begin, NULL);
