#include "hpcrun/process/process.h"

#include "hpcrun/base/sys.h"

struct process process;
struct sampling sampling;

bool process_is_ours(void)
{
    return process.pid == sys_getpid();
}
