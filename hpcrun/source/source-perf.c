#include "hpcrun/source/source-perf.h"

#include "hpcrun/base/own-fds.h"
#include "hpcrun/base/small-file.h"
#include "hpcrun/base/sys.h"

#include <linux/perf_event.h>
#include <sys/ioctl.h>

static long open_event(struct perf_event_attr *attr)
{
    return sys6(SYS_perf_event_open, SYS_ARG(attr), 0, -1, -1, PERF_FLAG_FD_CLOEXEC, 0);
}

static struct perf_event_attr attributes(const struct event *event)
{
    struct perf_event_attr attr = {
        .size = sizeof attr,
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_TASK_CLOCK,
        .sample_period = event ? event->period : 1000000,
        .disabled = 1,
        .exclude_hv = 1,
    };
    if (event && event->kind == EVENT_COUNTER) {
        attr.type = event->perf_type;
        attr.config = event->perf_config;
        attr.config1 = event->perf_config1;
        attr.config2 = event->perf_config2;
        attr.exclude_kernel = (event->options & EVENT_EXCLUDE_KERNEL) != 0;
    }
    if (event && event->options & EVENT_KERNEL_FRAMES) {
        attr.sample_type = PERF_SAMPLE_CALLCHAIN;
        attr.exclude_callchain_user = 1;
    }
    return attr;
}

long perf_probe_task_clock(void)
{
    struct perf_event_attr attr = attributes(NULL);
    long fd = open_event(&attr);
    if (fd < 0)
        return fd;
    sys1(SYS_close, fd);
    return 0;
}

/* The value of kernel.perf_event_paranoid; -2 if it can't be read. */
static int paranoid_level(void)
{
    char digits[16];
    uint64_t level;
    const char *at = digits;
    small_file_read("/proc/sys/kernel/perf_event_paranoid", digits, sizeof digits);
    return text_parse_number(&at, &level) ? (int)level : -2;
}

static bool may_open_without_kernel(void)
{
    struct perf_event_attr attr = attributes(NULL);
    attr.exclude_kernel = 1;
    long fd = open_event(&attr);
    if (fd >= 0)
        sys1(SYS_close, fd);
    return fd >= 0;
}

/* Above level 1 users without privileges can't see kernel time; Debian's level 3 forbids them perf.
 */
void perf_explain_refusal(struct text *text, long error)
{
    int level = paranoid_level();
    bool is_refused = error == -EACCES || error == -EPERM, hides = may_open_without_kernel();
    if (!is_refused || (!hides && level < 3)) {
        text_add(text, "perf_event_open: ");
        text_add_error(text, error);
        if (is_refused && level >= 0)
            text_add(text, ", by a container or a sandbox");
        return;
    }
    text_add(text, "kernel.perf_event_paranoid is ");
    text_add_number(text, (uint64_t)(level > 0 ? level : 0));
    text_add(text, hides ? ", where perf hides the kernel's time from ordinary users"
                         : ", where ordinary users may not use perf");
}

long perf_open(const struct event *event, int signal)
{
    struct perf_event_attr attr = attributes(event);
    long low = open_event(&attr);
    if (low < 0)
        return low;
    int fd = fds_adopt((int)low);
    if (fd < 0)
        return fd;
    struct f_owner_ex owner = {.type = F_OWNER_TID, .pid = sys_gettid()};
    long result = sys3(SYS_fcntl, fd, F_SETFL, O_ASYNC | O_NONBLOCK);
    if (result == 0)
        result = sys3(SYS_fcntl, fd, F_SETSIG, signal);
    if (result == 0)
        result = sys3(SYS_fcntl, fd, F_SETOWN_EX, &owner);
    if (result == 0)
        return fd;
    fds_close(fd);
    return result;
}

long perf_enable(int fd, uint64_t period)
{
    long result = sys3(SYS_ioctl, fd, PERF_EVENT_IOC_PERIOD, &period);
    return result ? result : sys3(SYS_ioctl, fd, PERF_EVENT_IOC_REFRESH, 1);
}

void perf_disable(int fd)
{
    sys3(SYS_ioctl, fd, PERF_EVENT_IOC_DISABLE, 0);
}

uint64_t perf_count(int fd)
{
    uint64_t count = 0;
    sys3(SYS_read, fd, &count, sizeof count);
    return count;
}
