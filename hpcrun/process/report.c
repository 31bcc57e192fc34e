#include "hpcrun/process/report.h"

#include "hpcrun/base/own-fds.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/process/common-files.h"
#include "hpcrun/process/process.h"

#include "lib/printable.h"

#include <string.h>
#include <sys/stat.h>

static int terminal = -1;          /* a copy of standard error */
static struct stat standard_error; /* its file at the start; st_nlink is 0 if it was closed */

void report_init(void)
{
    sys2(SYS_fstat, 2, &standard_error);
    if (process.pid != process.config.launched_pid || fds_are_scarce())
        return;
    long copy = sys3(SYS_fcntl, 2, F_DUPFD_CLOEXEC, 3);
    terminal = copy < 0 ? -1 : fds_adopt((int)copy);
}

void report_after_fork(void)
{
    fds_close(terminal);
    terminal = -1;
}

/* The descriptor for messages to the user, or -1. Descriptor 2 is used only if it is still the file
 * that it was at the start: the program may have opened a file of its own there. */
static int terminal_fd(void)
{
    struct stat now;
    if (terminal >= 0)
        return terminal;
    bool same = standard_error.st_nlink > 0 && sys2(SYS_fstat, 2, &now) == 0 &&
                now.st_dev == standard_error.st_dev && now.st_ino == standard_error.st_ino;
    return same ? 2 : -1;
}

/* Static, since the thread that ends a process may be on a small signal stack; only one does. */
static char line_buffer[2 * (PATH_MAX + 512)];

/* The line with a prefix and a newline, in line_buffer. Names in it may contain control characters:
 * they are replaced. */
static struct text with_newline(const char *prefix, const struct text *line)
{
    struct text full = TEXT(line_buffer);
    text_add(&full, prefix);
    full.length +=
        printable_copy(full.at + full.length, full.room - full.length - strlen("\n"), line->at);
    text_add(&full, "\n");
    return full;
}

void report_log(const struct text *line)
{
    struct text full = with_newline("", line);
    common_file_append(COMMON_LOG, full.at, full.length);
}

void report_terminal(const struct text *line)
{
    struct text full = with_newline("hpcrun: ", line);
    int fd = terminal_fd();
    if (fd >= 0)
        sys_write_all(fd, full.at, full.length);
}

void report_error(const struct text *line)
{
    report_terminal(line);
    report_log(line);
}

void report_loss(const struct text *line)
{
    if (process.pid == process.config.launched_pid && !process.config.quiet)
        report_error(line);
    else
        report_log(line);
}
