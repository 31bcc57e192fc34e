/* Where the kernel's code is, as far as it tells this process: not if kernel.kptr_restrict is set, nor an ordinary
 * user whom kernel.perf_event_paranoid forbids to sample the kernel. Normal context: opens files. */
#ifndef HPCRUN_BASE_KERNEL_TEXT_H
#define HPCRUN_BASE_KERNEL_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* The first address of the kernel's code, by /proc/kallsyms; 0: it is hidden. */
uint64_t kernel_text_start(void);

/* A hash of the boot's id; 0: unknown. */
uint64_t kernel_boot(void);

/* Appends to the file of names (lib/kernel-symbols.h) in an open directory. Returns 0 or a negative errno. */
long kernel_names_append(int directory, const char *file, int mode, const char *bytes, size_t size);

#endif
