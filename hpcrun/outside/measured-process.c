#include "hpcrun/outside/measured-process.h"

#include "hpcrun/base/process-stat.h"
#include "hpcrun/base/program-file.h"
#include "hpcrun/process/identity.h"
#include "hpcrun/process/moment.h"
#include "hpcrun/process/process.h"
#include "lib/diag.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES  96
#define NS_PER_TICK (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK))
#define DELETED    " (deleted)"

/* The process has ended, and another one has its number: that one is not looked at. */
static bool is_reused;

/* 0 is no process's number. */
static int number_of(int pid)
{
    return is_reused ? 0 : pid;
}

static const char *in_proc(char path[PATH_BYTES], int pid, const char *name)
{
    snprintf(path, PATH_BYTES, "/proc/%d/%s", number_of(pid), name);
    return path;
}

static const char *of_thread(char path[PATH_BYTES], int pid, int tid, const char *name)
{
    snprintf(path, PATH_BYTES, "/proc/%d/task/%d/%s", number_of(pid), tid, name);
    return path;
}

int measured_living_thread(int pid)
{
    char path[PATH_BYTES], program[1];
    int found = pid;
    bool has_memory = readlink(in_proc(path, pid, "exe"), program, sizeof program) > 0 || errno != ENOENT;
    DIR *tasks = has_memory ? NULL : opendir(in_proc(path, pid, "task"));
    for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
        int tid = atoi(entry->d_name);
        if (tid > 0 && readlink(in_proc(path, tid, "exe"), program, sizeof program) > 0)
            found = tid;
    }
    if (tasks)
        closedir(tasks);
    return found;
}

int measured_open(int pid, const char *name, int flags)
{
    char path[PATH_BYTES];
    return (int)sys4(SYS_openat, AT_FDCWD, in_proc(path, measured_living_thread(pid), name), flags | O_CLOEXEC, 0);
}

/* ---- identity ---- */

void measured_link(const char *link, char *to, size_t room)
{
    ssize_t length = readlink(link, to, room - 1), mark = (ssize_t)strlen(DELETED);
    to[length > 0 ? length : 0] = '\0';
    if (length > mark && strcmp(to + length - mark, DELETED) == 0)
        to[length - mark] = '\0';
}

static bool read_stat(void)
{
    char path[PATH_BYTES], stat[STAT_BYTES];
    if (!stat_read(in_proc(path, process.pid, "stat"), stat))
        return false;
    process.parent = (int)stat_number(stat, STAT_PARENT);
    process.start_ticks = stat_number(stat, STAT_START);
    return true;
}

static struct {
    uint64_t before, now; /* before the image began, and when last read, ns */
} system_time;

/* By a file like /proc/PID/stat; 0 if there is none. */
static uint64_t read_system_time(const char *path)
{
    char stat[STAT_BYTES];
    return stat_read(path, stat) ? stat_number(stat, STAT_SYSTEM_TIME) * NS_PER_TICK : 0;
}

void measured_read_system_time(void)
{
    char path[PATH_BYTES];
    uint64_t system = read_system_time(in_proc(path, process.pid, "stat"));
    if (system > system_time.now)
        system_time.now = system;
}

uint64_t measured_system_time(void)
{
    return system_time.now - system_time.before;
}

uint64_t measured_system_time_of(int tid)
{
    char path[PATH_BYTES];
    return read_system_time(of_thread(path, process.pid, tid, "stat"));
}

static uint64_t children_before; /* CPU time of children before the image began */

void measured_read_children_cpu(void)
{
    char path[PATH_BYTES], stat[STAT_BYTES];
    if (stat_read(in_proc(path, process.pid, "stat"), stat))
        process.children_elsewhere = (stat_number(stat, STAT_CHILDREN_USER_TIME) +
                                      stat_number(stat, STAT_CHILDREN_SYSTEM_TIME)) * NS_PER_TICK - children_before;
}

int measured_exit_status(void)
{
    char path[PATH_BYTES], stat[STAT_BYTES];
    const char *state = stat_read(in_proc(path, process.pid, "stat"), stat) ? stat_field(stat, STAT_STATE) : NULL;
    bool has_ended = state && (*state == 'Z' || *state == 'X');
    return has_ended ? (int)stat_number(stat, STAT_EXIT_CODE) : -1;
}

/* The strings of a file like /proc/PID/cmdline, NULL-terminated. The caller frees the array; the strings
 * lie in `text`. */
static char **strings_of(const char *name, char *text, size_t room)
{
    char path[PATH_BYTES];
    size_t size = small_file_read(in_proc(path, measured_living_thread(process.pid), name), text, room), n = 0;
    char **strings = calloc(size + 2, sizeof *strings);
    for (size_t at = 0; at < size && strings; at += strlen(text + at) + 1)
        strings[n++] = text + at;
    return strings;
}

static void identify_command(char *const *command)
{
    static char text[MAX_ARGUMENTS * (MAX_ARGUMENT_SIZE + 1)];
    char **arguments = strings_of("cmdline", text, sizeof text);
    bool is_there = arguments && arguments[0];
    if (is_there || command)
        identify_arguments(is_there ? arguments : command);
    if (!process.executable[0] && command)
        snprintf(process.executable, sizeof process.executable, "%s", command[0]);
    free(arguments);
}

/* The process has ended, or executes another program by now. A program that ended as soon as it was executed may have
 * a name only. */
static void identify_by_name(const struct measured_image *image)
{
    char name[16 + 1] = "";
    char *arguments[] = {name, NULL};
    memcpy(name, image->name, strnlen(image->name, sizeof name - 1));
    snprintf(process.executable, sizeof process.executable, "%s", image->program ? image->program->path : name);
    identify_arguments(arguments);
}

static bool is_program(const struct mapping *program)
{
    char path[PATH_BYTES];
    struct stat status;
    return program && stat(in_proc(path, process.pid, "exe"), &status) == 0 && status.st_ino == program->inode;
}

/* The start time that /proc would show. */
static uint64_t ticks_of(uint64_t monotonic)
{
    uint64_t asleep = sys_clock(CLOCK_BOOTTIME) - sys_clock(CLOCK_MONOTONIC);
    return (monotonic + asleep) / NS_PER_TICK;
}

/* A process that has begun after this one has its number. The kernel notes the begin of a process before it reports
 * it. */
static bool identify_begin(const struct measured_image *image)
{
    const uint64_t begin = ticks_of(image->forked);
    is_reused = false;
    bool is_there = read_stat();
    is_reused = is_there && image->forked != 0 && process.start_ticks > begin + 1;
    if (is_there && !is_reused)
        return true;
    process.parent = image->parent;
    process.start_ticks = begin;
    return image->forked != 0;
}

static struct {
    uid_t owner;
    uint64_t began;
} program;

static void learn_program(const struct measured_image *image)
{
    char path[PATH_BYTES];
    struct stat status;
    bool is_there = stat(in_proc(path, image->pid, ""), &status) == 0;
    uint64_t ago = sys_clock(CLOCK_BOOTTIME) - process.start_ticks * NS_PER_TICK;
    program.owner = is_there ? status.st_uid : geteuid();
    program.began = image->has_begun ? process.began_real : sys_clock(CLOCK_REALTIME) - ago;
}

uid_t measured_owner(void)
{
    return program.owner;
}

uint64_t measured_program_began(void)
{
    return program.began;
}

static void identify_rank(void)
{
    static char text[1 << 17];
    char **environment = strings_of("environ", text, sizeof text);
    process.rank = environment ? rank_in(environment) : NO_RANK;
    free(environment);
}

/* Then all CPU time of the process is the image's, and no more, but for what led to an exec. */
static bool begins_with_process(const struct measured_image *image)
{
    return image->images == 0 && (image->forked || image->command);
}

bool measured_identify(const struct measured_image *image)
{
    char path[PATH_BYTES];
    process.pid = image->pid;
    if (!identify_begin(image))
        return false;
    identify_host();
    process.images_before = image->images;
    process.origin = image->origin;
    process.began_wall = image->began;
    process.began_real = image->began + monotonic_epoch();
    learn_program(image);
    process.began_ticks = ticks_now();
    measured_read_cpu();
    measured_read_children_cpu();
    measured_read_system_time();
    children_before = process.children_elsewhere;
    process.children_elsewhere = 0;
    process.began_cpu = begins_with_process(image) ? 0 : process.cpu_elsewhere;
    system_time.before = begins_with_process(image) ? 0 : system_time.now;
    int thread = measured_living_thread(image->pid);
    measured_link(in_proc(path, thread, "exe"), process.executable, sizeof process.executable);
    measured_link(in_proc(path, thread, "cwd"), process.directory, sizeof process.directory);
    bool is_another = image->has_begun ? !is_program(image->program) : !process.executable[0];
    if (image->program && is_another)
        identify_by_name(image);
    else
        identify_command(image->command);
    if (!process.executable[0] && image->name[0])
        identify_by_name(image);
    identify_rank();
    process.usable_cpus = usable_cpus(image->pid);
    return true;
}

/* The process that a thread belongs to: of a process, it is itself; 0: there is no such thread. */
static int process_of(int tid)
{
    char path[PATH_BYTES], text[4096];
    size_t size = small_file_read(in_proc(path, tid, "status"), text, sizeof text - 1);
    text[size] = '\0';
    const char *field = strstr(text, "\nTgid:");
    return field ? atoi(field + strlen("\nTgid:")) : 0;
}

enum measured_look measured_look(int pid, int *thread_of)
{
    char path[PATH_BYTES], program[PATH_BYTES];
    *thread_of = process_of(pid);
    if (*thread_of == 0)
        return LOOK_ENDED;
    if (*thread_of != pid)
        return LOOK_THREAD;
    if (readlink(in_proc(path, measured_living_thread(pid), "exe"), program, sizeof program) < 0)
        return errno == ENOENT ? LOOK_KERNEL : LOOK_FORBIDDEN;
    bool is_known = program_file_check_at(AT_FDCWD, path, false) != UNMEASURED_OTHER_MACHINE;
    return is_known ? LOOK_ALLOWED : LOOK_OTHER_MACHINE;
}

bool measured_may_look(int pid)
{
    char who[32];
    int process_id;
    enum measured_look look = measured_look(pid, &process_id);
    snprintf(who, sizeof who, "process %d", pid);
    switch (look) {
    case LOOK_ALLOWED: break;
    case LOOK_ENDED: diag_error(who, "there is no such process"); break;
    case LOOK_THREAD:
        diag_error(who, "a thread of process %d: only whole processes are measured", process_id);
        break;
    case LOOK_OTHER_MACHINE: diag_error(who, "%s", unmeasured_reason(UNMEASURED_OTHER_MACHINE)); break;
    case LOOK_KERNEL: diag_error(who, "a thread of the kernel, or a process that has ended"); break;
    case LOOK_FORBIDDEN:
        diag_error(who, "belongs to another user, has rights that you lack, or does not allow it (PR_SET_DUMPABLE): "
                        "you may not measure it");
        break;
    }
    return look == LOOK_ALLOWED;
}

/* ---- clocks and threads ---- */

/* The CPU clock of another process: the kernel encodes the process id in the clock id. */
static clockid_t process_clock(int pid)
{
    return (clockid_t)(~(unsigned)pid << 3 | 2);
}

void measured_read_cpu(void)
{
    uint64_t cpu = is_reused ? 0 : sys_clock(process_clock(process.pid));
    if (cpu > process.cpu_elsewhere)
        process.cpu_elsewhere = cpu;
}

int measured_open_of_thread(int tid, const char *name)
{
    char path[PATH_BYTES];
    return (int)sys4(SYS_openat, AT_FDCWD, of_thread(path, process.pid, tid, name), O_RDONLY | O_CLOEXEC, 0);
}

bool schedule_read(int fd, struct scheduled *scheduled)
{
    char numbers[80];
    long size = sys4(SYS_pread64, fd, numbers, sizeof numbers - 1, 0);
    if (size <= 0)
        return false;
    numbers[size] = '\0';
    char *at = numbers;
    scheduled->cpu = strtoull(at, &at, 10);
    scheduled->ready = strtoull(at, &at, 10);
    scheduled->timeslices = strtoull(at, &at, 10);
    return *at == '\n';
}

bool measured_schedule(int tid, struct scheduled *scheduled)
{
    int fd = measured_open_of_thread(tid, "schedstat");
    bool is_read = fd >= 0 && schedule_read(fd, scheduled);
    if (fd >= 0)
        close(fd);
    return is_read;
}

void measured_name(int pid, int tid, char *name, size_t room)
{
    char path[PATH_BYTES];
    size_t size = small_file_read(of_thread(path, pid, tid, "comm"), name, room);
    if (size > 0 && name[size - 1] == '\n')
        name[size - 1] = '\0';
}

bool measured_visit_threads(int pid, void (*visit)(int tid, void *data), void *data)
{
    char path[PATH_BYTES];
    DIR *tasks = opendir(in_proc(path, pid, "task"));
    if (!tasks)
        return false;
    for (struct dirent *entry; (entry = readdir(tasks));) {
        int tid = atoi(entry->d_name);
        if (tid > 0)
            visit(tid, data);
    }
    closedir(tasks);
    return true;
}

static long read_memory(uint64_t address, void *to, size_t size)
{
    static int thread; /* 0: not chosen */
    struct iovec local = {.iov_base = to, .iov_len = size};
    struct iovec remote = {.iov_base = (void *)(uintptr_t)address, .iov_len = size};
    int before = thread ? thread : process.pid;
    long got = sys6(SYS_process_vm_readv, number_of(before), SYS_ARG(&local), 1, SYS_ARG(&remote), 1, 0);
    int living = got == -ESRCH ? measured_living_thread(process.pid) : before;
    if (living != before)
        got = sys6(SYS_process_vm_readv, number_of(thread = living), SYS_ARG(&local), 1, SYS_ARG(&remote), 1, 0);
    return got;
}

bool measured_read(uint64_t address, void *to, size_t size)
{
    return read_memory(address, to, size) == (long)size;
}

bool measured_has_memory(void)
{
    char byte;
    return read_memory(0, &byte, 1) != -ESRCH;
}
