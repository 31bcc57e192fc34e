#include "hpcrun/record/perf-map.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/code/module-instances.h"
#include "hpcrun/process/process.h"
#include "hpcrun/process/report.h"

#include <sys/stat.h>

/* File times may be behind CLOCK_REALTIME by a tick. */
#define CLOCK_GRAIN_NS 10000000u

/* The parent that forked this process; pid 0: none. */
static struct {
    int pid;
    uint64_t began_real;
} parent;

void perf_map_after_fork(int parent_pid)
{
    parent.pid = parent_pid;
    parent.began_real = process.began_real;
}

static bool is_of(int fd, uid_t owner, uint64_t since)
{
    struct stat status = {0};
    return sys2(SYS_fstat, fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink == 1 &&
           status.st_uid == owner &&
           (uint64_t)status.st_mtim.tv_sec * 1000000000u + (uint64_t)status.st_mtim.tv_nsec +
                   CLOCK_GRAIN_NS >=
               since;
}

/* Returns a descriptor, or a negative number: other users can also create files in /tmp. */
static int open_map(int pid, uid_t owner, uint64_t since)
{
    char buffer[64];
    struct text path = TEXT(buffer);
    text_add(&path, "/tmp/perf-");
    text_add_number(&path, (uint64_t)pid);
    text_add(&path, ".map");
    int fd = (int)sys4(SYS_openat, AT_FDCWD, path.at,
                       O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
    if (fd < 0 || is_of(fd, owner, since))
        return fd;
    sys1(SYS_close, fd);
    return -1;
}

/* The number of bytes up to the last newline; 0 if there is none. */
static size_t whole_lines(const char *at, size_t size)
{
    while (size > 0 && at[size - 1] != '\n')
        size--;
    return size;
}

static void report_truncated_map(int pid)
{
    char buffer[128];
    struct text line = TEXT(buffer);
    text_add(&line, "/tmp/perf-");
    text_add_number(&line, (uint64_t)pid);
    text_add(&line, ".map: too large, names of code in it are missing");
    report_log(&line);
}

/* Copies the map in chunks of whole lines. A line that is longer than the buffer is split; its
 * first piece has the numbers, and readers skip the other pieces. The file may grow or shrink
 * meanwhile. A last line without a newline is skipped: it is still being written. */
static bool copy(struct chunk *chunk, int fd, int pid)
{
    uint64_t at = 0;
    while (at < PERF_MAP_MAX_BYTES) {
        long size = sys4(SYS_pread64, fd, chunk->scratch, SCRATCH_BYTES, at);
        if (size <= 0)
            return true;
        size_t lines = whole_lines(chunk->scratch, (size_t)size);
        if (lines == 0 && size < SCRATCH_BYTES)
            return true;
        lines = lines ? lines : (size_t)size;
        chunk_begin(chunk, CHUNK_CODE_NAMES, CHUNK_NO_THREAD);
        chunk_bytes(chunk, chunk->scratch, lines);
        if (!chunk_commit(chunk))
            return false;
        at += lines;
    }
    report_truncated_map(pid);
    return true;
}

static bool write_map(struct chunk *chunk, int pid, uid_t owner, uint64_t since)
{
    int fd = open_map(pid, owner, since);
    if (fd < 0)
        return true;
    bool good = copy(chunk, fd, pid);
    sys1(SYS_close, fd);
    return good;
}

bool perf_map_write(struct chunk *chunk, uid_t owner, uint64_t since)
{
    if (!modules_saw_code_outside())
        return true;
    /* Later names replace earlier ones, so the parent's map comes first. */
    return (parent.pid == 0 || write_map(chunk, parent.pid, owner, parent.began_real)) &&
           write_map(chunk, process.pid, owner, since);
}
