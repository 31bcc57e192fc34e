#include "hpcrun/life/fork.h"

#include "hpcrun/life/end.h"
#include "hpcrun/life/thread-life.h"
#include "hpcrun/logical/agents.h"
#include "hpcrun/logical/workers.h"
#include "hpcrun/process/identity.h"
#include "hpcrun/process/process-notes.h"
#include "hpcrun/process/process.h"
#include "hpcrun/process/report.h"
#include "hpcrun/record/flush.h"
#include "hpcrun/record/measurement.h"
#include "hpcrun/record/perf-map.h"
#include "hpcrun/record/process-chunks.h"
#include "hpcrun/thread/threads.h"

void process_before_fork(void)
{
    threads_lock_for_fork();
}

void process_after_fork_in_parent(void)
{
    threads_unlock_after_fork();
}

void process_after_fork_in_child(void)
{
    threads_unlock_after_fork();
    report_after_fork();
    measurement_leave_to_parent();
    perf_map_after_fork(process.pid);
    identify_process();
    process.origin = ORIGIN_FORK;
    process_goes_on();
    note_begin();
    measurement_init();
    process_chunks_forget();
    workers_forget();
    agents_after_fork();
    flush_forget_totals();
    thread_after_fork();
}
