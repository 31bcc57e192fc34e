#include "hpcrun/source/kernel-frames.h"

#include "hpcrun/base/sys.h"

#include <string.h>

#define PAGE 4096u

static _Atomic uint32_t refused;

void kernel_frames_open(struct thread_event *event)
{
    long at = sys6(SYS_mmap, 0, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, event->fd, 0);
    bool is_mapped = at > 0 || at < -4095;
    event->ring = is_mapped ? (struct perf_event_mmap_page *)at : NULL;
    if (!is_mapped)
        atomic_fetch_add(&refused, 1);
}

void kernel_frames_close(struct thread_event *event)
{
    if (event->ring)
        sys_unmap(event->ring, 2 * PAGE);
    event->ring = NULL;
}

uint32_t kernel_frames_refused(void)
{
    return atomic_load(&refused);
}

void kernel_frames_after_fork(void)
{
    atomic_store(&refused, 0);
}

/* A sample's record is a header, the length of its chain, and the chain, in words of 8 bytes. */
#define LENGTH_AT sizeof(struct perf_event_header)
#define CHAIN_AT  (LENGTH_AT + sizeof(uint64_t))

/* Records begin at multiples of 8 bytes, and go on at the page's begin after its end. */
static uint64_t word_at(const struct perf_event_mmap_page *ring, uint64_t position)
{
    const char *data = (const char *)ring + PAGE;
    return *(const uint64_t *)(const void *)(data + (position & (PAGE - 1)));
}

static struct perf_event_header header_at(const struct perf_event_mmap_page *ring, uint64_t position)
{
    struct perf_event_header header;
    uint64_t word = word_at(ring, position);
    memcpy(&header, &word, sizeof header);
    return header;
}

/* The position of the last sample's record from `at` on; `head` if there is none. */
static uint64_t last_sample(const struct perf_event_mmap_page *ring, uint64_t at, uint64_t head)
{
    uint64_t last = head;
    while (at < head) {
        const struct perf_event_header header = header_at(ring, at);
        if (header.type == PERF_RECORD_SAMPLE)
            last = at;
        if (header.size < sizeof header)
            return head; /* the kernel writes none of these */
        at += header.size;
    }
    return last;
}

void kernel_frames_read(struct thread *thread, const struct thread_event *event, struct increment *increment)
{
    struct perf_event_mmap_page *ring = event->ring;
    if (!ring)
        return;
    uint64_t head = __atomic_load_n(&ring->data_head, __ATOMIC_ACQUIRE);
    uint64_t at = last_sample(ring, ring->data_tail, head);
    uint64_t length = at < head ? word_at(ring, at + LENGTH_AT) : 0;
    length = length < KERNEL_FRAMES ? length : KERNEL_FRAMES;
    for (uint64_t i = 0; i < length; i++)
        thread->kernel_frames[i] = word_at(ring, at + CHAIN_AT + i * sizeof(uint64_t));
    __atomic_store_n(&ring->data_tail, head, __ATOMIC_RELEASE);
    increment->kernel_count =
        (unsigned)kernel_frames_in(thread->kernel_frames, length, &increment->kernel);
}
