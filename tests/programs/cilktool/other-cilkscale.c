/* Stands for Cilkscale's own shared library, with which programs are linked. */
#include "hpcrun/cilktool/csi-hooks.h"
#include "hpcrun/cilktool/probe-output.h"

#include <stdio.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

void __csi_init(void)
{
}

void __csi_func_entry(int64_t function, uint64_t properties)
{
}

void __csi_func_exit(int64_t exit, int64_t function, uint64_t properties)
{
}

void __csi_detach(int64_t detach, unsigned region, uint64_t properties)
{
}

void __csi_task(int64_t task, int64_t detach, uint64_t properties)
{
}

void __csi_task_exit(int64_t exit, int64_t task, int64_t detach, unsigned region,
                     uint64_t properties)
{
}

void __csi_detach_continue(int64_t continues, int64_t detach, unsigned region, uint64_t properties)
{
}

void __csi_before_sync(int64_t sync, unsigned region)
{
}

void __csi_after_sync(int64_t sync, unsigned region)
{
}

wsp_t wsp_getworkspan(void)
{
    return (wsp_t){1, 1, 1};
}

wsp_t wsp_sub(wsp_t left, wsp_t right)
{
    return (wsp_t){left.work - right.work, left.span - right.span, left.bspan - right.bspan};
}

void wsp_dump(wsp_t values, const char *tag)
{
    printf("the other library: %s\n", tag);
}
