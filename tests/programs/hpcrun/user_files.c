/* user_files [interrupted]: calls on a file system in user space (FUSE) that the program serves itself. Some such servers
 * give up a request, with EINTR, when a signal comes for the thread that waits for it.
 *
 * With "interrupted", the first request of each call is answered only when it is interrupted, and by EINTR; the later ones
 * after WAIT_NS, also by EINTR if they are interrupted. Prints for each call what it returns and how often it was
 * interrupted; without a profiler, what it returns. Exits with 3 if there is no FUSE. */
#include "burn.h"

#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#define WAIT_NS 20000000u

enum { ROOT = FUSE_ROOT_ID, FILE_NODE, FILE_BYTES = 1000 };

/* ---- the server: its thread has one request at a time ---- */

static int device;
static _Atomic bool is_held; /* the next request is answered when it is interrupted */
static _Atomic int interrupts;

static union {
    char bytes[1 << 17];
    struct fuse_in_header header;
} request;

static void reply(uint64_t to, int error, const void *data, size_t size)
{
    struct {
        struct fuse_out_header header;
        char data[FILE_BYTES];
    } answer = {.header = {.len = (uint32_t)(sizeof answer.header + size), .error = error, .unique = to}};
    memcpy(answer.data, data, size);
    if (write(device, &answer, answer.header.len) < 0)
        printf("reply: %s\n", strerror(errno));
}

static void reply_to_init(uint64_t to, const struct fuse_init_in *in)
{
    const struct fuse_init_out out = {
        .major = FUSE_KERNEL_VERSION, .minor = 31, .max_readahead = in->max_readahead, .max_write = 1 << 16};
    reply(to, 0, &out, sizeof out);
}

static struct fuse_attr attributes(uint64_t node)
{
    return (struct fuse_attr){.ino = node,
                              .nlink = 1,
                              .size = FILE_BYTES,
                              .mode = node == ROOT ? S_IFDIR | 0755 : S_IFREG | 0644};
}

static void serve(const struct fuse_in_header *header)
{
    static const char data[FILE_BYTES];
    const struct fuse_entry_out entry = {.nodeid = FILE_NODE, .attr = attributes(FILE_NODE)};
    const struct fuse_attr_out attr = {.attr = attributes(header->nodeid)};
    const struct fuse_open_out opened = {.open_flags = FOPEN_DIRECT_IO};
    const struct fuse_statfs_out file_system = {.st.bsize = FILE_BYTES};
    switch (header->opcode) {
    case FUSE_LOOKUP: reply(header->unique, 0, &entry, sizeof entry); break;
    case FUSE_GETATTR:
    case FUSE_SETATTR: reply(header->unique, 0, &attr, sizeof attr); break;
    case FUSE_OPEN: reply(header->unique, 0, &opened, sizeof opened); break;
    case FUSE_READ: reply(header->unique, 0, data, sizeof data); break;
    case FUSE_STATFS: reply(header->unique, 0, &file_system, sizeof file_system); break;
    case FUSE_ACCESS:
    case FUSE_FSYNC:
    case FUSE_FLUSH:
    case FUSE_RENAME:
    case FUSE_RENAME2: reply(header->unique, 0, NULL, 0); break;
    default: reply(header->unique, -ENOSYS, NULL, 0); break;
    }
}

static void *run_server(void *argument)
{
    struct fuse_in_header waiting = {0}; /* unique 0: none */
    bool waits_for_signal = false;
    uint64_t until = 0;
    for (;;) {
        struct pollfd poll_device = {device, POLLIN, 0};
        bool has_request = poll(&poll_device, 1, waiting.unique ? 1 : -1) > 0;
        if (waiting.unique && !has_request && !waits_for_signal && clock_ns(CLOCK_MONOTONIC) >= until) {
            serve(&waiting);
            waiting.unique = 0;
        }
        if (!has_request)
            continue;
        if (read(device, &request, sizeof request) <= 0)
            return argument; /* it is not mounted any more */
        const void *body = &request.header + 1;
        const struct fuse_interrupt_in *interrupt = body;
        switch (request.header.opcode) {
        case FUSE_INIT: reply_to_init(request.header.unique, body); break;
        case FUSE_FORGET:
        case FUSE_BATCH_FORGET:
        case FUSE_RELEASE: break;
        case FUSE_INTERRUPT:
            if (interrupt->unique != waiting.unique)
                break;
            interrupts++;
            waiting.unique = 0;
            reply(interrupt->unique, -EINTR, NULL, 0);
            break;
        default:
            waiting = request.header;
            waits_for_signal = atomic_exchange(&is_held, false);
            until = clock_ns(CLOCK_MONOTONIC) + WAIT_NS;
            break;
        }
    }
}

/* ---- the calls ---- */

static bool is_interrupted;
static char path[64], directory[] = "/tmp/user-files-XXXXXX";

#define CALL(name, call)                                                                           \
    do {                                                                                           \
        interrupts = 0;                                                                            \
        is_held = is_interrupted;                                                                  \
        long result = (call);                                                                      \
        printf("%s %s, interrupted %d\n", name, result < 0 ? strerror(errno) : "fine", interrupts); \
    } while (0)

static void make_calls(void)
{
    struct stat status;
    struct statfs file_system;
    char data[FILE_BYTES];
    int fd = -1;
    CALL("stat", stat(path, &status));
    CALL("access", access(path, R_OK));
    CALL("statfs", statfs(path, &file_system));
    CALL("open", fd = open(path, O_RDWR));
    CALL("fstat", fstat(fd, &status));
    CALL("read", read(fd, data, sizeof data));
    CALL("pread", pread(fd, data, sizeof data, 0));
    CALL("fsync", fsync(fd));
    CALL("truncate", truncate(path, 1));
    CALL("rename", rename(path, path));
    close(fd); /* the process could not end before the server has answered */
}

static bool mount_files(void)
{
    char options[64];
    device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
    snprintf(options, sizeof options, "fd=%d,rootmode=40000,user_id=%d,group_id=%d", device, (int)getuid(),
             (int)getgid());
    return device >= 0 && unshare(CLONE_NEWNS) == 0 && mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
           mkdtemp(directory) && mount("test", directory, "fuse", MS_NOSUID | MS_NODEV, options) == 0;
}

int main(int count, char **arguments)
{
    pthread_t server;
    (void)arguments;
    is_interrupted = count > 1;
    if (!mount_files())
        return 3;
    pthread_create(&server, NULL, run_server, NULL);
    snprintf(path, sizeof path, "%s/file", directory);
    make_calls();
    umount(directory);
    pthread_join(server, NULL);
    rmdir(directory);
    return 0;
}
