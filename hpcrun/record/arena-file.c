#include "hpcrun/record/arena-file.h"

#include "hpcrun/base/own-fds.h"
#include "hpcrun/base/shared-pages.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/process/output-directory.h"
#include "hpcrun/process/process.h"
#include "hpcrun/process/report.h"
#include "hpcrun/record/measurement-file.h"
#include "hpcrun/record/process-chunks.h"
#include "hpcrun/thread/thread-image.h"

#include <string.h>

enum { FILE_NONE, FILE_OPENING, FILE_OPEN, FILE_CLOSED };

/* The header has a page of its own. */
#define HEADER_BYTES 4096
_Static_assert(sizeof(struct arena_header) <= HEADER_BYTES, "room for the header");

#define PROCESS_LOOK_NS 1000000000u

static struct {
    _Atomic int state;
    struct arena_header *header;
    _Atomic bool kept;
    char path[PATH_MAX + 512];
    char message[PATH_MAX + 1024];
} arena;

/* ---- the file ---- */

static void set_path(void)
{
    struct text path = TEXT(arena.path);
    const char *measurement = measurement_path();
    text_add_bytes(&path, measurement, strlen(measurement) - strlen(MEASUREMENT_SUFFIX));
    text_add(&path, ARENAS_SUFFIX);
}

/* Not by fds_open: that would use the reserved descriptor, which is for the measurement file. */
static long open_in(int directory)
{
    long fd = sys4(SYS_openat, directory, output_directory_name(directory, arena.path),
                   O_RDWR | O_CREAT | O_EXCL | OUTPUT_FLAGS, 0600);
    return fd < 0 ? fd : fds_adopt((int)fd);
}

static void unlink_in(int directory)
{
    sys3(SYS_unlinkat, directory, output_directory_name(directory, arena.path), 0);
}

static long map_in(int directory)
{
    long fd = open_in(directory);
    if (fd < 0)
        return fd;
    long error = shared_pages_open((int)fd);
    if (error == 0)
        return 0;
    fds_close((int)fd);
    unlink_in(directory);
    return error;
}

static long create(void)
{
    int directory;
    if (process_is_restricted())
        return -EPERM;
    if (fds_are_scarce())
        return -EMFILE;
    set_path();
    long error = output_directory_open(&directory);
    if (error == 0) {
        error = map_in(directory);
        output_directory_close(directory);
    }
    return error;
}

static void write_header(void)
{
    struct arena_header *header = arena.header = shared_pages(HEADER_BYTES);
    header->major = ARENAS_MAJOR;
    header->thread_bytes = sizeof(struct arena_thread);
    header->metrics = process.metrics.count;
    header->began_wall = process.began_wall;
    header->began_ticks = process.began_ticks;
    __asm__ volatile("" ::: "memory"); /* the file counts from its magic on */
    memcpy(header->magic, ARENAS_MAGIC, sizeof header->magic);
}

static void report_missing_file(long error)
{
    struct text line = TEXT(arena.message);
    text_add(&line, measurement_path());
    text_add(&line, ": no arena file: ");
    text_add_error(&line, error);
    text_add(&line, ": if the process is killed, up to ten seconds are lost");
    report_log(&line);
}

/* Whether the file is open; sets *busy if another thread is creating it. */
static bool need_file(bool *busy)
{
    int state = FILE_NONE;
    if (!atomic_compare_exchange_strong(&arena.state, &state, FILE_OPENING)) {
        *busy = state == FILE_OPENING;
        return state == FILE_OPEN;
    }
    if (!measurement_is_open()) { /* it may be created later */
        *busy = true;
        atomic_store(&arena.state, FILE_NONE);
        return false;
    }
    long error = create();
    if (error != 0) {
        atomic_store(&arena.state, FILE_CLOSED);
        report_missing_file(error);
        return false;
    }
    write_header();
    atomic_store(&arena.state, FILE_OPEN);
    return true;
}

/* ---- threads ---- */

static void link_image(struct arena_thread *image)
{
    uint64_t *first = &arena.header->first_thread, offset = shared_pages_offset(image);
    image->next = __atomic_load_n(first, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(first, &image->next, offset, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        continue;
}

static bool share(struct thread *thread)
{
    struct arena_thread *image = NULL;
    if (!thread_image_is_shared(thread)) {
        image = shared_pages(sizeof *image);
        if (!image)
            return false;
        link_image(image);
    }
    return thread_image_share(thread, image);
}

bool arena_file_begin_thread(struct thread *thread)
{
    bool busy = false;
    if (thread->image_begun)
        return true;
    measurement_create();
    bool is_open = need_file(&busy);
    if (busy)
        return false;
    thread->image_begun = true;
    if (is_open && share(thread)) {
        process_chunks_write_pending(true);
        thread_image_begin(thread);
    }
    return true;
}

void arena_file_commit(struct thread *thread, uint64_t ticks)
{
    if (thread_image_is_live(thread) && process_chunks_are_pending())
        process_chunks_write_pending(false);
    thread_image_commit(thread, ticks);
}

/* Keeps the clocks of the process, about once per second, in one thread only: to read its CPU clock,
 * the kernel adds up the CPU times of all threads. */
static void look_at_process(uint64_t wall)
{
    uint64_t last = __atomic_load_n(&arena.header->wall, __ATOMIC_RELAXED);
    if (wall < last + PROCESS_LOOK_NS ||
        !__atomic_compare_exchange_n(&arena.header->wall, &last, wall, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED))
        return;
    uint64_t cpu = sys_clock(CLOCK_PROCESS_CPUTIME_ID);
    __atomic_store_n(&arena.header->cpu, cpu, __ATOMIC_RELAXED);
}

void arena_file_look(struct thread *thread, struct moment now)
{
    if (!thread_image_is_live(thread))
        return;
    if (shared_pages_are_lost()) {
        thread_image_end(thread);
        return;
    }
    thread_image_look(thread, now);
    look_at_process(now.wall);
}

/* ---- the end ---- */

void arena_file_keep(void)
{
    atomic_store(&arena.kept, true);
}

void arena_file_end(void)
{
    int directory;
    if (atomic_exchange(&arena.state, FILE_CLOSED) != FILE_OPEN)
        return;
    shared_pages_close();
    if (!atomic_load(&arena.kept) && output_directory_open(&directory) == 0) {
        unlink_in(directory);
        output_directory_close(directory);
    }
}

void arena_file_restrict(void)
{
    shared_pages_freeze();
}

void arena_file_after_fork(void)
{
    shared_pages_after_fork();
    atomic_store(&arena.kept, false);
    atomic_store(&arena.state, FILE_NONE);
}
