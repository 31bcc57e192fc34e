/* The hooks, as a compiler declares them. */
#ifndef HPCRUN_CILKTOOL_CSI_HOOKS_H
#define HPCRUN_CILKTOOL_CSI_HOOKS_H

#include <stdint.h>

/* Numbers of hooks in a compiled file. */
struct csi_counts {
    int64_t of[16];
};

void __csi_init(void);
void __csi_unit_init(const char *file, struct csi_counts counts);
void __csirt_unit_init(const char *file, void *lines, void *sizes, void (*number_calls)(void));
void __csi_func_entry(int64_t function, uint64_t properties);
void __csi_func_exit(int64_t exit, int64_t function, uint64_t properties);
void __csi_detach(int64_t detach, unsigned region, uint64_t properties);
void __csi_task(int64_t task, int64_t detach, uint64_t properties);
void __csi_task_exit(int64_t exit, int64_t task, int64_t detach, unsigned region,
                     uint64_t properties);
void __csi_detach_continue(int64_t continues, int64_t detach, unsigned region, uint64_t properties);
void __csi_before_sync(int64_t sync, unsigned region);
void __csi_after_sync(int64_t sync, unsigned region);
void __csi_bb_entry(int64_t block, uint64_t properties);
void __csi_bb_exit(int64_t block, uint64_t properties);

#endif
