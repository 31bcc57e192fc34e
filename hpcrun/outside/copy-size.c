#include "hpcrun/outside/copy-size.h"

#define FIRST_TO_SHRINK 500u
#define MOST_TO_SHRINK  1000000u
#define LEAST_ASKED     2u  /* one sample is no reason to grow */
#define MORE_PER_1000   1u  /* samples that may need more than the copy */
#define NS_PER_S        1000000000u
#define LOST_PER_1000   20u /* samples that may be lost */

/* How long the first samples may lie in the rings: FIRST_ROOM_NS, since other programs may begin, too, or FIRST_WAITS
 * waits for a CPU, if that is longer, since both the reader and the worker wait; and THREAD_NS for each thread, since
 * the worker begins with these. */
#define FIRST_ROOM_NS 30000000u
#define THREAD_NS     100000u
#define FIRST_WAITS   4u

uint64_t copy_size_first_time(unsigned threads, uint64_t ready, uint64_t slices)
{
    uint64_t waits = slices ? FIRST_WAITS * (ready / slices) : 0;
    return (waits > FIRST_ROOM_NS ? waits : FIRST_ROOM_NS) + threads * (uint64_t)THREAD_NS;
}

unsigned copy_size_for(uint64_t bytes)
{
    unsigned index = 0;
    while (index < COPY_SIZES && COPY_SIZE(index) < bytes)
        index++;
    return index;
}

/* The index, at most `most`, of the largest size within `bytes`; 0 if all are larger. */
static unsigned size_within(uint64_t bytes, unsigned most)
{
    while (most > 0 && COPY_SIZE(most) > bytes)
        most--;
    return most;
}

void copy_size_begin(struct copy_size *size, uint64_t first_bytes, uint64_t most_bytes)
{
    unsigned most = size_within(most_bytes, COPY_SIZES - 1);
    *size = (struct copy_size){.index = size_within(first_bytes, most), .most = most, .to_shrink = FIRST_TO_SHRINK};
}

bool copy_size_slow_down(struct copy_size *size, uint64_t needed, uint64_t parts, uint64_t threads, unsigned cpus)
{
    uint64_t all = threads < parts * cpus ? threads : parts * cpus;
    while (size->slowdown < MOST_SLOWDOWN && (needed >> size->slowdown) * all > NS_PER_S)
        size->slowdown++;
    return size->slowdown > 0;
}

static void change(struct copy_size *size, unsigned index)
{
    size->index = index;
    size->since = (struct copy_demand){0};
}

/* The number of samples that needed more than the size with this index. */
static uint64_t asked_for_more(const struct copy_size *size, unsigned index)
{
    uint64_t more = 0;
    for (unsigned i = index + 1; i <= COPY_SIZES; i++)
        more += size->since.asked[i];
    return more;
}

static uint64_t samples_of(const struct copy_demand *demand)
{
    uint64_t samples = 0;
    for (unsigned i = 0; i <= COPY_SIZES; i++)
        samples += demand->asked[i];
    return samples;
}

static unsigned needed(const struct copy_size *size, uint64_t samples)
{
    unsigned index = 0;
    while (index < size->index && asked_for_more(size, index) > samples * MORE_PER_1000 / 1000)
        index++;
    return index;
}

bool copy_size_fit(struct copy_size *size, const struct copy_demand *news)
{
    struct copy_demand *since = &size->since;
    const unsigned before = size->index, slowdown = size->slowdown;
    for (unsigned i = 0; i <= COPY_SIZES; i++)
        since->asked[i] += news->asked[i];
    uint64_t samples = samples_of(since);
    since->lost += news->lost;
    uint64_t more = asked_for_more(size, size->index);
    if (since->lost > (samples + since->lost) * LOST_PER_1000 / 1000 && since->lost >= LEAST_ASKED) {
        unsigned smaller = size->index > 0 ? size->index - 1 : 0;
        size->slowdown += size->index == 0 && size->slowdown < MOST_SLOWDOWN;
        size->most = smaller;
        change(size, smaller);
    } else if (size->index < size->most && more >= LEAST_ASKED && more > samples * MORE_PER_1000 / 1000) {
        change(size, size->index + 1);
        size->to_shrink *= size->to_shrink < MOST_TO_SHRINK ? 2 : 1;
    } else if (samples >= size->to_shrink) {
        change(size, needed(size, samples));
    }
    return size->index != before || size->slowdown != slowdown;
}
