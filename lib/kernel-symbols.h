/* The kernel's procedures, as hpcrun saves them next to the measurements: a gzip file whose first line is
 * "kernel BOOT", and whose further lines are "OFFSET SIZE NAME", all numbers hexadecimal. Offsets count from where the
 * kernel's code begins, so the file does not tell where the kernel is in memory. BOOT is the hash of the boot's id,
 * since loadable modules have other offsets in another boot. Processes that are measured from outside append a
 * gzip member each, with the procedures in their call paths only. */
#ifndef LIB_KERNEL_SYMBOLS_H
#define LIB_KERNEL_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL_SYMBOLS_SUFFIX ".kernel"

/* Which procedures to save. */
struct kernel_wanted {
    uint64_t start;  /* first address of the kernel's code */
    uint64_t boot;
    const uint64_t *offsets; /* of code, sorted; NULL: all procedures */
    size_t n;
};

/* Appends procedures of the running kernel, from /proc/kallsyms, to the file `name` in an open directory; with
 * `shared`, others may read it. False, with errno set, if it can't be written. */
bool kernel_symbols_save(int directory, const char *name, bool shared, const struct kernel_wanted *wanted);

struct kernel_symbol {
    uint64_t begin, end; /* offsets */
    const char *name;    /* not terminated */
    size_t length;
};

/* Visits the symbols in the text of a file that are of that boot. Lines of another form are skipped. */
void kernel_symbols_visit(const char *text, size_t size, uint64_t boot,
                          void (*visit)(void *data, const struct kernel_symbol *symbol), void *data);

#endif
