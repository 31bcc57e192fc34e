/* An executable mapping of a measured process. */
#ifndef HPCRUN_OUTSIDE_MAPPING_H
#define HPCRUN_OUTSIDE_MAPPING_H

#include <limits.h>
#include <stdint.h>

struct mapping {
    uint64_t start, end, offset, inode;
    unsigned major, minor; /* of the device */
    char path[PATH_MAX];   /* as the process sees it; "[vdso]" */
};

#endif
