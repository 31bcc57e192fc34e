/* The functions of include/hpctoolkit.h. */
#include "hpcrun/base/hook.h"
#include "hpcrun/life/process-life.h"
#include "hpcrun/process/process.h"
#include "include/hpctoolkit.h"

HOOK void hpctoolkit_sampling_start(void)
{
    process_set_sampling(true);
}

HOOK void hpctoolkit_sampling_stop(void)
{
    process_set_sampling(false);
}

HOOK int hpctoolkit_sampling_is_active(void)
{
    return process.active && atomic_load(&sampling.on);
}
