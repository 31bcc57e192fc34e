#include "hpcrun/life/arena-counts.h"

#include "hpcrun/base/sys.h"
#include "hpcrun/base/text-buffer.h"
#include "hpcrun/process/identity.h"
#include "hpcrun/process/output-directory.h"
#include "hpcrun/process/process.h"
#include "lib/arena-format.h"

#include <string.h>
#include <sys/stat.h>

void image_counts_add_fates(struct image_counts *counts, unsigned event,
                            const struct fate_count fates[FATE_SLOTS])
{
    counts->fired[event] += fates[fate_slot(FATE_FIRED)].count;
    for (unsigned slot = 0; slot < FATE_SLOTS; slot++) {
        enum fate fate = fate_of_slot(slot);
        if (fate >= FATE_PARTIAL_NO_FDE && fate < FATE_KERNEL_UNATTRIBUTED)
            counts->partial += fates[slot].count;
        else if (fate >= FATE_DROPPED_OWN_CODE && fate < FATE_PARTIAL_NO_FDE)
            counts->dropped += fates[slot].count;
    }
}

/* ---- the file ---- */

static int open_arenas(const struct process_image *image, unsigned sequence)
{
    char buffer[256];
    struct text name = TEXT(buffer);
    int directory;
    identity_add_host(&name);
    const uint64_t numbers[] = {(uint64_t)image->pid, image->start, sequence};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        text_add(&name, "-");
        text_add_number(&name, numbers[i]);
    }
    text_add(&name, ARENAS_SUFFIX);
    if (output_directory_open(&directory) != 0 || directory == AT_FDCWD)
        return -1;
    int fd = (int)sys4(SYS_openat, directory, name.at, O_RDONLY | OUTPUT_FLAGS, 0);
    output_directory_close(directory);
    return fd;
}

static bool read_at(int fd, uint64_t offset, void *to, size_t size)
{
    return sys4(SYS_pread64, fd, to, size, offset) == (long)size;
}

/* Number of thread images that the file has room for; 0 if it is no file. */
static uint64_t most_images(int fd)
{
    struct stat status;
    if (sys2(SYS_fstat, fd, &status) != 0 || !S_ISREG(status.st_mode))
        return 0;
    return (uint64_t)status.st_size / sizeof(struct arena_thread);
}

/* ---- adding up ---- */

static void add_written(struct image_counts *counts, const struct arena_totals *written)
{
    counts->threads += written->threads;
    counts->cpu += written->cpu;
    counts->thread_cpu += written->cpu;
    counts->thread_wall += written->wall;
    for (unsigned event = 0; event < ARENA_EVENTS; event++) {
        image_counts_add_fates(counts, event, written->fates[event]);
        counts->sources[event] |= written->sources[event];
    }
}

static void raise_to(uint64_t *highest, uint64_t value)
{
    *highest = value > *highest ? value : *highest;
}

/* The clocks when the thread last looked at them, or, if that is more, what its samples stand for.
 * Samples of wall time alone don't tell the CPU time since that look: counts->cpu gets the most that
 * it can be. */
static void add_clocks(struct image_counts *counts, const struct arena_thread *thread)
{
    uint64_t cpu = thread->looked_cpu - thread->began_cpu;
    uint64_t looked_wall = thread->looked_wall - thread->began_wall, wall = looked_wall;
    for (unsigned i = 0; i < process.config.event_count; i++) {
        uint64_t fired = thread->fates[i][fate_slot(FATE_FIRED)].amount >> TIME_SHIFT;
        enum event_kind kind = process.config.events[i].kind;
        if (kind != EVENT_COUNTER)
            raise_to(kind == EVENT_REALTIME ? &wall : &cpu, fired);
    }
    counts->cpu += cpu + (wall - looked_wall);
    counts->thread_cpu += cpu;
    counts->thread_wall += wall > cpu ? wall : cpu;
}

static void add_thread(struct image_counts *counts, struct arena_thread *thread)
{
    arena_undo_fates(thread);
    counts->threads++;
    add_clocks(counts, thread);
    for (unsigned event = 0; event < ARENA_EVENTS; event++) {
        image_counts_add_fates(counts, event, thread->fates[event]);
        if (thread->source[event] < 8)
            counts->sources[event] |= 1u << thread->source[event] & ~1u;
    }
}

static void add_threads(int fd, uint64_t first, struct image_counts *counts)
{
    struct arena_thread *thread = sys_pages(sizeof *thread); /* too large for a signal stack */
    uint64_t left = most_images(fd);
    for (uint64_t at = first; thread && at && left-- > 0; at = thread->next) {
        if (!read_at(fd, at, thread, sizeof *thread))
            break;
        if (thread->state == THREAD_IMAGE_LIVE)
            add_thread(counts, thread);
    }
    sys_pages_free(thread, sizeof *thread);
}

/* The CPU time of the threads: between what they have counted and the most that it can be, what the
 * parent knows of the process. */
static void settle_cpu(struct image_counts *counts, uint64_t by_parent)
{
    raise_to(&counts->thread_cpu, by_parent < counts->cpu ? by_parent : counts->cpu);
    counts->cpu = counts->thread_cpu;
}

bool arena_counts_read(struct process_image *image, unsigned sequence)
{
    static struct arena_header header; /* only one thread ends a process */
    int fd = open_arenas(image, sequence);
    if (fd < 0)
        return false;
    bool is_its = read_at(fd, 0, &header, sizeof header) &&
                  memcmp(header.magic, ARENAS_MAGIC, sizeof header.magic) == 0 &&
                  header.major == ARENAS_MAJOR &&
                  header.thread_bytes == sizeof(struct arena_thread) &&
                  header.began_wall == image->began_at;
    if (is_its) {
        image->counts = (struct image_counts){0};
        add_written(&image->counts, &header.written);
        add_threads(fd, header.first_thread, &image->counts);
        settle_cpu(&image->counts, image->lost_cpu);
    }
    sys1(SYS_close, fd);
    return is_its;
}
