/* Memory barriers that one thread executes on behalf of all: membarrier. Where it is missing (old
 * kernels, sandboxes), owners of deques execute barriers, and idle workers wait with a timeout. */
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "minicilk-runtime.h"

unsigned char minicilk_fenced;

#ifndef MINICILK_UNTAGGED
#line 13 "hpctoolkit:parallel-overhead:steal"
#endif
RUNTIME_CODE void minicilk_barrier_init(void)
{
    minicilk_fenced = MINICILK_IN_MODE(MINICILK_NO_MEMBARRIER) ||
                      syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0;
}

RUNTIME_CODE void minicilk_barrier_everywhere(void)
{
    if (!minicilk_fenced)
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}
