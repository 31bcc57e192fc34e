/* What the time line costs a thread, by itself: trace-record FILE SAMPLES COLD
 *
 * Takes SAMPLES samples as the handler does, after COLD bytes were read each time so that the caches have forgotten the
 * trace. Its memory is in FILE, as in a measurement. Prints "key value" lines: mean ns of a sample; of those that do not
 * move recent records to the array, which then may grow or be halved; of those that do; ns of the longest; page faults
 * in samples; and the number of records in the end. */
#include "hpcrun/base/shared-pages.h"
#include "hpcrun/sample/sample-trace.h"
#include "tests/bench/tick-rate.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <x86intrin.h>

static struct thread thread;
static volatile uint64_t sink;

static void begin(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || shared_pages_open(fd) != 0)
        exit(1);
    thread.image = shared_pages(sizeof *thread.image);
    thread.random = 1;
    thread.trace_limit = TRACE_RECORDS;
    thread.traced = &thread.events[0];
    segments_init(&thread.trace, sizeof(struct trace_record), ARENA_TRACE_BITS);
    if (!thread.image || !segments_share(&thread.trace, &thread.image->trace_segments))
        exit(1);
}

static void forget_caches(const uint64_t *other, size_t bytes)
{
    for (size_t i = 0; i < bytes / sizeof *other; i += 8)
        sink += other[i];
}

static uint64_t page_faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_minflt;
}

/* The ticks of a sample. */
static uint64_t take(uint32_t node)
{
    unsigned core;
    const struct increment increment = {.fired = true, .amount = 1000};
    uint64_t before = __rdtscp(&core);
    *sample_trace_place(&thread) = (struct trace_record){.time = before, .amount = TRACE_WORK, .node = node, .working = 1};
    sample_trace(&thread, &thread.events[0], &increment);
    return __rdtscp(&core) - before;
}

/* The ticks of two readings of the clock. */
static uint64_t ticks_of_clock(void)
{
    uint64_t least = UINT64_MAX;
    unsigned core;
    for (int i = 0; i < 1000; i++) {
        uint64_t before = __rdtscp(&core), ticks = __rdtscp(&core) - before;
        least = ticks < least ? ticks : least;
    }
    return least;
}

int main(int count, char **arguments)
{
    if (count != 4)
        return 2;
    unsigned n = (unsigned)atoi(arguments[2]), moves = 0;
    size_t cold = (size_t)atol(arguments[3]);
    uint64_t *other = calloc(cold / sizeof *other + 1, sizeof *other), clock = ticks_of_clock();
    uint64_t all = 0, of_moves = 0, longest = 0;
    begin(arguments[1]);
    forget_caches(other, cold);
    uint64_t faults = page_faults();
    for (unsigned i = 0; i < n; i++) {
        forget_caches(other, cold);
        uint64_t recent = thread.image->trace_recent_count, ticks = take(i % 100);
        ticks = ticks > clock ? ticks - clock : 0;
        bool is_move = thread.image->trace_recent_count <= recent;
        all += ticks;
        moves += is_move;
        of_moves += is_move ? ticks : 0;
        longest = ticks > longest ? ticks : longest;
    }
    double rate = ticks_per_ns();
    printf("sample %.1f\nplain %.1f\nmove %.1f\nlongest %.1f\nfaults %lu\nrecords %u\n", (double)all / rate / n,
           (double)(all - of_moves) / rate / (n - moves), moves ? (double)of_moves / rate / moves : 0, (double)longest / rate,
           (unsigned long)(page_faults() - faults), trace_extent(thread.image->trace).count);
    return 0;
}
