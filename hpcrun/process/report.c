#include "hpcrun/process/report.h"

#include "hpcrun/base/own-fds.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/process/output-directory.h"
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

/* With hpcrun --shared other users may write to the directory, and could make the name a hard link
 * to any file, or a FIFO. */
static bool is_a_log(long fd)
{
    struct stat status;
    return sys2(SYS_fstat, fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1;
}

static long open_log(int directory, const char *name)
{
    return sys4(SYS_openat, directory, name, O_WRONLY | O_APPEND | O_CREAT | OUTPUT_FLAGS,
                output_file_mode());
}

/* Not inlined: only this case needs the stack for a path, and signal stacks may be small. */
__attribute__((noinline)) static long open_log_by_path(const char *name)
{
    char buffer[PATH_MAX + 128];
    struct text path = TEXT(buffer);
    text_add(&path, process.config.directory);
    text_add(&path, "/");
    text_add(&path, name);
    return open_log(AT_FDCWD, path.at);
}

void report_append(const char *name, const char *data, size_t size)
{
    int directory;
    if (output_directory_open(&directory) != 0)
        return;
    long fd = directory == AT_FDCWD ? open_log_by_path(name) : open_log(directory, name);
    output_directory_close(directory);
    if (fd < 0)
        return;
    if (is_a_log(fd))
        sys_write_all(fd, data, size);
    sys1(SYS_close, fd);
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
    report_append(MEASUREMENT_LOG, full.at, full.length);
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
