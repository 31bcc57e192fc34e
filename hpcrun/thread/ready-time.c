#include "hpcrun/thread/ready-time.h"

#include "hpcrun/base/small-file.h"
#include "hpcrun/base/text-buffer.h"
#include "hpcrun/process/process.h"

struct cpu_waits cpu_waits_of(int tid)
{
    static const struct cpu_waits unknown = {.ready = READY_UNKNOWN};
    char name[48], numbers[80];
    struct text path = TEXT(name);
    const char *at = numbers;
    uint64_t on_cpu;
    struct cpu_waits waits;
    if (process_is_restricted())
        return unknown;
    text_add(&path, "/proc/self/task/");
    text_add_number(&path, (uint64_t)tid);
    text_add(&path, "/schedstat");
    small_file_read(name, numbers, sizeof numbers);
    if (!text_parse_number(&at, &on_cpu) || *at++ != ' ' || !text_parse_number(&at, &waits.ready) ||
        *at++ != ' ' || !text_parse_number(&at, &waits.timeslices))
        return unknown;
    return on_cpu > 0 ? waits : unknown; /* a kernel without accounts says 0 0 0 */
}

struct cpu_waits cpu_waits_since_begin(const struct thread *thread)
{
    bool is_known = thread->began_waits.ready != READY_UNKNOWN;
    struct cpu_waits waits = is_known ? cpu_waits_of(thread->tid) : thread->began_waits;
    if (waits.ready == READY_UNKNOWN)
        return (struct cpu_waits){.ready = READY_UNKNOWN};
    uint64_t none = thread->began_waits.ready + thread->sampled_ready;
    waits.ready = waits.ready > none ? waits.ready - none : 0;
    waits.timeslices -= thread->began_waits.timeslices;
    return waits;
}
