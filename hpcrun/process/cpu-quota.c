#include "hpcrun/process/cpu-quota.h"

#include "hpcrun/base/small-file.h"
#include "hpcrun/base/text-buffer.h"
#include "hpcrun/process/process.h"

#include <limits.h>
#include <string.h>

/* Where the controller `cpu` is mounted. */
static const struct hierarchy {
    const char *root;
    bool is_v1;
} hierarchies[] = {
    {"/sys/fs/cgroup", false},
    {"/sys/fs/cgroup/cpu", true},
    {"/sys/fs/cgroup/cpu,cpuacct", true},
};

static struct {
    char stat[PATH_MAX]; /* the file of the group with the quota; "": none */
    bool is_v1;
    uint64_t milli;     /* thousandths of a CPU */
    uint64_t throttled; /* at cpu_quota_find */
} quota;

/* The text of a file of a group; false if there is none. */
static bool read_file(const char *root, const char *group, size_t length, const char *name, char *to,
                      size_t room)
{
    char buffer[PATH_MAX];
    struct text path = TEXT(buffer);
    text_add(&path, root);
    text_add_bytes(&path, group, length);
    text_add(&path, name);
    return small_file_read(buffer, to, room) > 0;
}

/* The quota of one group in thousandths of a CPU; 0: none. "max 100000" of version 2 is no number, nor
 * is the "-1" of version 1. */
static uint64_t quota_of(const struct hierarchy *h, const char *group, size_t length)
{
    char text[64], period_text[32];
    const char *at = text, *next = period_text;
    uint64_t time, period;
    if (!read_file(h->root, group, length, h->is_v1 ? "/cpu.cfs_quota_us" : "/cpu.max", text,
                   sizeof text) ||
        !text_parse_number(&at, &time))
        return 0;
    if (!h->is_v1)
        next = *at == ' ' ? at + 1 : at;
    else if (!read_file(h->root, group, length, "/cpu.cfs_period_us", period_text,
                        sizeof period_text))
        return 0;
    return text_parse_number(&next, &period) && period > 0 ? time * 1000 / period : 0;
}

/* The path of the process's group in the hierarchy, by the text of /proc/self/cgroup, in which it gets a
 * 0 at its end; NULL: the process is in none. Lines are "NUMBER:CONTROLLERS:PATH", and "0::PATH" for
 * version 2. */
static const char *group_in(char *groups, const struct hierarchy *h)
{
    for (char *line = groups, *end; (end = strchr(line, '\n')); line = end + 1) {
        char *names = strchr(line, ':'), *path = names ? strchr(names + 1, ':') : NULL;
        if (!path || path > end)
            continue;
        bool is_cpu = path - names == 4 && memcmp(names, ":cpu", 4) == 0;
        is_cpu |= path - names > 4 &&
                  (memcmp(names, ":cpu,", 5) == 0 || memcmp(path - 4, ",cpu", 4) == 0);
        if (h->is_v1 ? is_cpu : path == names + 1) {
            *end = '\0';
            return path + 1;
        }
    }
    return NULL;
}

/* Looks at the group and those around it. */
static void look_in(const struct hierarchy *h, const char *group)
{
    size_t length = strlen(group);
    while (length > 0 && group[length - 1] == '/')
        length--;
    for (;;) {
        uint64_t milli = quota_of(h, group, length);
        if (milli > 0 && (quota.milli == 0 || milli < quota.milli)) {
            struct text stat = TEXT(quota.stat);
            text_add(&stat, h->root);
            text_add_bytes(&stat, group, length);
            text_add(&stat, "/cpu.stat");
            quota.milli = milli;
            quota.is_v1 = h->is_v1;
        }
        if (length == 0)
            return;
        while (length > 0 && group[--length] != '/')
            ;
    }
}

static uint64_t throttled_now(void)
{
    char text[1024];
    const char *name = quota.is_v1 ? "throttled_time " : "throttled_usec ";
    small_file_read(quota.stat, text, sizeof text);
    const char *at = strstr(text, name);
    uint64_t time;
    if (!at)
        return THROTTLED_UNKNOWN;
    at += strlen(name);
    return text_parse_number(&at, &time) ? time * (quota.is_v1 ? 1 : 1000) : THROTTLED_UNKNOWN;
}

void cpu_quota_find(void)
{
    char groups[4096];
    quota.milli = 0;
    for (size_t i = 0; i < sizeof hierarchies / sizeof *hierarchies; i++) {
        if (process_is_restricted() || !small_file_read("/proc/self/cgroup", groups, sizeof groups))
            return;
        const char *group = group_in(groups, &hierarchies[i]);
        if (group)
            look_in(&hierarchies[i], group);
    }
    cpu_quota_restart();
}

void cpu_quota_restart(void)
{
    if (quota.milli > 0)
        quota.throttled = throttled_now();
}

uint64_t cpu_quota(void)
{
    return quota.milli;
}

uint64_t cpu_quota_throttled(void)
{
    uint64_t now = quota.milli > 0 && !process_is_restricted() ? throttled_now() : THROTTLED_UNKNOWN;
    bool is_known = now != THROTTLED_UNKNOWN && quota.throttled != THROTTLED_UNKNOWN;
    return is_known && now >= quota.throttled ? now - quota.throttled : THROTTLED_UNKNOWN;
}
