#include "hpcrun/thread/ready-time.h"

#include "hpcrun/base/small-file.h"
#include "hpcrun/base/text-buffer.h"
#include "hpcrun/process/process.h"

uint64_t run_delay(int tid)
{
    char name[48], numbers[80];
    struct text path = TEXT(name);
    const char *at = numbers;
    uint64_t on_cpu, delay;
    if (process_is_restricted())
        return READY_UNKNOWN;
    text_add(&path, "/proc/self/task/");
    text_add_number(&path, (uint64_t)tid);
    text_add(&path, "/schedstat");
    small_file_read(name, numbers, sizeof numbers);
    if (!text_parse_number(&at, &on_cpu) || *at++ != ' ' || !text_parse_number(&at, &delay))
        return READY_UNKNOWN;
    return on_cpu > 0 ? delay : READY_UNKNOWN; /* a kernel without accounts says 0 0 0 */
}

uint64_t ready_time(const struct thread *thread)
{
    uint64_t delay = thread->began_ready == READY_UNKNOWN ? READY_UNKNOWN : run_delay(thread->tid);
    uint64_t none = thread->began_ready + thread->sampled_ready;
    if (delay == READY_UNKNOWN)
        return READY_UNKNOWN;
    return delay > none ? delay - none : 0;
}
