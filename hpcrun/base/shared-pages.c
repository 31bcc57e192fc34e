#include "hpcrun/base/shared-pages.h"

#include "hpcrun/base/own-fds.h"
#include "hpcrun/base/sys.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* Addresses of the file's first and last byte: above those of own-pages.c, below the lowest one
 * that the kernel gives out by default. */
#define ZONE       UINT64_C(0x7eb000000000)
#define ZONE_BYTES (UINT64_C(128) << 30)

/* A window holds three threads with small trees. A larger block gets a window of its own. */
#define WINDOW UINT64_C(262144)

/* Bytes of a window that are written at once. */
#define WRITE_BYTES 65536u

/* Free space that the file system must keep for the measurement file and for others. */
#define MIN_FREE_BYTES (UINT64_C(16) << 20)

/* Blocks that were given back and are used again. Further ones are lost until the process ends. */
#define FREE_BLOCKS 256

/* A block that was given back; it is zero. */
struct free_block {
    void *at;
    size_t size;
};

static struct {
    _Atomic int fd; /* -1: none */
    dev_t device;
    ino_t inode;
    _Atomic uint64_t end;  /* of the last window */
    _Atomic uint64_t size; /* bytes of the file, or fewer; somebody else may have truncated it */
    _Atomic uint64_t next; /* offset of the next block; a multiple of WINDOW: there is none */
    _Atomic bool frozen, lost;
    _Atomic bool list_taken;
    unsigned free_count;
    struct free_block free[FREE_BLOCKS];
} pages = {.fd = -1};

/* ---- windows ---- */

/* The program may have closed the descriptor by a bare system call, and may have reused it. */
static bool descriptor_is_the_file(int fd)
{
    struct stat now;
    return fd >= 0 && sys2(SYS_fstat, fd, &now) == 0 && now.st_dev == pages.device &&
           now.st_ino == pages.inode;
}

static bool is_space_left(int fd, uint64_t size)
{
    struct statfs now;
    if (sys2(SYS_fstatfs, fd, &now) != 0)
        return false;
    return (uint64_t)now.f_bavail * (uint64_t)now.f_bsize >= size + MIN_FREE_BYTES;
}

/* Appends zeros: for file systems that can't allocate blocks otherwise (ext2, NFS before 4.2, most of
 * FUSE). */
static long write_zeros(int fd, uint64_t offset, uint64_t size)
{
    static const char zeros[WRITE_BYTES]; /* no memory of its own: it is never written to */
    for (uint64_t end = offset + size; offset < end;) {
        uint64_t left = end - offset;
        long written = sys4(SYS_pwrite64, fd, zeros, left < WRITE_BYTES ? left : WRITE_BYTES, offset);
        if (written <= 0)
            return written ? written : -ENOSPC;
        offset += (uint64_t)written;
    }
    return 0;
}

/* Allocates disk blocks. A file beyond RLIMIT_FSIZE would raise SIGXFSZ. */
static long allocate(int fd, uint64_t offset, uint64_t size)
{
    uint64_t ours = sys_mask_bit(SIGXFSZ), pending = 0;
    uint64_t mask = sys_mask(SIG_BLOCK, ours);
    sys2(SYS_rt_sigpending, &pending, sizeof pending);
    long error = sys4(SYS_fallocate, fd, 0, offset, size);
    if (error == -EOPNOTSUPP)
        error = write_zeros(fd, offset, size);
    if (error == -EFBIG)
        sys_take_pending(ours & ~pending);
    sys_mask(SIG_SETMASK, mask);
    return error;
}

static long map(int fd, uint64_t offset, uint64_t size)
{
    long at = sys6(SYS_mmap, SYS_ARG(ZONE + offset), SYS_ARG(size), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_FIXED_NOREPLACE, fd, SYS_ARG(offset));
    if (at < 0 && at > -4096)
        return at;
    long error = (uint64_t)at == ZONE + offset ? 0 : -EEXIST; /* a kernel older than 4.17 */
    if (error == 0)
        error = sys3(SYS_madvise, at, size, MADV_DONTFORK);
    if (error != 0)
        sys_unmap((void *)at, size);
    return error;
}

static void raise_to(_Atomic uint64_t *highest, uint64_t value)
{
    uint64_t now = atomic_load(highest);
    while (now < value && !atomic_compare_exchange_weak(highest, &now, value))
        continue;
}

/* Appends a window to the file and maps it. Sets its offset; returns 0 or a negative errno. */
static long add_window(uint64_t size, uint64_t *offset)
{
    int fd = atomic_load(&pages.fd);
    if (atomic_load(&pages.frozen) || !descriptor_is_the_file(fd))
        return -EBADF;
    uint64_t whole = (size + WINDOW - 1) / WINDOW * WINDOW;
    if (!is_space_left(fd, size))
        return -ENOSPC;
    *offset = atomic_fetch_add(&pages.end, whole);
    if (*offset + whole > ZONE_BYTES)
        return -ENOMEM;
    long error = allocate(fd, *offset, size);
    if (error == 0)
        raise_to(&pages.size, *offset + size);
    return error ? error : map(fd, *offset, size);
}

int shared_pages_open(int fd)
{
    struct stat status;
    uint64_t offset;
    if (sys2(SYS_fstat, fd, &status) != 0)
        return -EBADF;
    pages.device = status.st_dev;
    pages.inode = status.st_ino;
    pages.free_count = 0;
    atomic_store(&pages.end, 0);
    atomic_store(&pages.size, 0);
    atomic_store(&pages.frozen, false);
    atomic_store(&pages.lost, false);
    atomic_store(&pages.fd, fd);
    long error = add_window(WINDOW, &offset);
    if (error != 0)
        atomic_store(&pages.fd, -1);
    else
        atomic_store(&pages.next, offset);
    return (int)error;
}

/* ---- blocks ---- */

static void *take_free(size_t size)
{
    void *found = NULL;
    if (pages.free_count == 0 || atomic_exchange(&pages.list_taken, true))
        return NULL; /* another thread is using the list: take new pages */
    for (unsigned i = 0; i < pages.free_count && !found; i++)
        if (pages.free[i].size == size) {
            found = pages.free[i].at;
            pages.free[i] = pages.free[--pages.free_count];
        }
    atomic_store(&pages.list_taken, false);
    return found;
}

/* Takes the block from the rest of the current window; false if it does not fit there. `next` at
 * the begin of a window means that the window before is used up, except for the first window. */
static bool take_from_window(size_t size, uint64_t *offset)
{
    uint64_t at = atomic_load(&pages.next);
    do {
        uint64_t left = WINDOW - at % WINDOW;
        if ((at % WINDOW == 0 && at != 0) || left < size)
            return false;
    } while (!atomic_compare_exchange_weak(&pages.next, &at, at + size));
    *offset = at;
    return true;
}

/* Takes the block from the begin of a new window; the rest of it is for later blocks. */
static bool take_from_new_window(size_t size, uint64_t *offset)
{
    if (add_window(size > WINDOW ? size : WINDOW, offset) != 0)
        return false;
    if (size < WINDOW)
        atomic_store(&pages.next, *offset + size);
    return true;
}

void *shared_pages(size_t size)
{
    uint64_t offset;
    size = (size + 4095) / 4096 * 4096;
    if (atomic_load(&pages.fd) < 0)
        return NULL;
    void *free_block = take_free(size);
    if (free_block)
        return free_block;
    if (!take_from_window(size, &offset) && !take_from_new_window(size, &offset))
        return NULL;
    return (void *)(uintptr_t)(ZONE + offset);
}

void shared_pages_touch(void *block, size_t size)
{
    if (!atomic_load(&pages.frozen))
        sys3(SYS_madvise, block, (size + 4095) / 4096 * 4096, MADV_POPULATE_WRITE);
}

void shared_pages_free(void *block, size_t size)
{
    size = (size + 4095) / 4096 * 4096;
    if (atomic_load(&pages.fd) < 0)
        return;
    memset(block, 0, size);
    if (atomic_exchange(&pages.list_taken, true))
        return; /* lost until the process ends */
    if (pages.free_count < FREE_BLOCKS)
        pages.free[pages.free_count++] = (struct free_block){.at = block, .size = size};
    atomic_store(&pages.list_taken, false);
}

uint64_t shared_pages_offset(const void *block)
{
    return (uint64_t)(uintptr_t)block - ZONE;
}

/* ---- the end ---- */

void shared_pages_freeze(void)
{
    atomic_store(&pages.frozen, true);
}

void shared_pages_close(void)
{
    fds_close(atomic_exchange(&pages.fd, -1));
}

void shared_pages_after_fork(void)
{
    shared_pages_close();
    atomic_store(&pages.list_taken, false);
}

/* Replaces pages of the file by empty private ones. */
static bool replace(uint64_t address, uint64_t size)
{
    atomic_store(&pages.lost, true);
    long at = sys6(SYS_mmap, SYS_ARG(address), size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    return (uint64_t)at == address;
}

bool shared_pages_fix_up(uint64_t address)
{
    if (address < ZONE || address >= ZONE + atomic_load(&pages.end))
        return false;
    return replace(address & ~(uint64_t)4095, 4096);
}

void shared_pages_check(void)
{
    int fd = atomic_load(&pages.fd);
    uint64_t size = atomic_load(&pages.size);
    struct stat now;
    if (fd < 0 || shared_pages_are_lost() || sys2(SYS_fstat, fd, &now) != 0 ||
        now.st_dev != pages.device || now.st_ino != pages.inode)
        return;
    if ((uint64_t)now.st_size < size)
        replace(ZONE, size);
}

bool shared_pages_are_lost(void)
{
    return atomic_load_explicit(&pages.lost, memory_order_relaxed);
}
