#include "hpcrun/thread/ready-time.h"

#include "hpcrun/base/small-file.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/base/text-buffer.h"
#include "hpcrun/process/process.h"

#include <sys/resource.h>

static const struct cpu_waits unknown = {.ready = READY_UNKNOWN};

/* Whether the kernel keeps accounts: some thread's was read. */
static _Atomic bool has_accounts;

struct cpu_waits cpu_waits_of(int tid)
{
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
    if (on_cpu == 0) /* a kernel without accounts says 0 0 0 */
        return unknown;
    atomic_store_explicit(&has_accounts, true, memory_order_relaxed);
    return waits;
}

static bool needs_no_reading(void)
{
    return atomic_load_explicit(&has_accounts, memory_order_relaxed) && !process_is_restricted();
}

struct cpu_waits cpu_waits_at_begin(const struct thread *thread)
{
    bool is_soon = thread->began_wall - thread->created_wall < START_NS;
    return is_soon && needs_no_reading() ? (struct cpu_waits){0} : cpu_waits_of(thread->tid);
}

struct cpu_waits cpu_waits_since_begin(const struct thread *thread)
{
    bool is_known = thread->began_waits.ready != READY_UNKNOWN;
    struct cpu_waits waits = is_known ? cpu_waits_of(thread->tid) : thread->began_waits;
    if (waits.ready == READY_UNKNOWN)
        return (struct cpu_waits){.ready = READY_UNKNOWN};
    uint64_t caused = atomic_load_explicit(&thread->sampled_ready, memory_order_relaxed);
    uint64_t none = thread->began_waits.ready + caused;
    waits.ready = waits.ready > none ? waits.ready - none : 0;
    waits.timeslices -= thread->began_waits.timeslices;
    return waits;
}

/* A thread waits for a CPU only after the kernel has taken it from one. */
static bool has_kept_its_cpu(void)
{
    struct rusage usage;
    return sys2(SYS_getrusage, RUSAGE_THREAD, &usage) == 0 && usage.ru_nvcsw + usage.ru_nivcsw == 0;
}

struct cpu_waits own_cpu_waits_since_begin(const struct thread *thread)
{
    if (thread->began_waits.ready != READY_UNKNOWN && needs_no_reading() && has_kept_its_cpu())
        return (struct cpu_waits){0};
    return cpu_waits_since_begin(thread);
}
