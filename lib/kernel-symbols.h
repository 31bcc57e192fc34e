/* The kernel's procedures, as hpcrun saves them next to the measurements: a gzip file whose first line is
 * "kernel BOOT", with " all" after it if no name is left out, and whose further lines are "OFFSET SIZE NAME", all
 * numbers hexadecimal. Offsets count from where the kernel's code begins, so the file does not tell where the kernel is in
 * memory. BOOT is the hash of the boot's id, since loadable modules have other offsets in another boot. Processes that are
 * measured from outside append a gzip member each, with the procedures in their call paths only. */
#ifndef LIB_KERNEL_SYMBOLS_H
#define LIB_KERNEL_SYMBOLS_H

#include "lib/alloc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KERNEL_SYMBOLS_SUFFIX ".kernel"

/* Procedures of the running kernel, by offset; without sizes: each ends where the next one begins. */
struct kernel_procedure {
    uint64_t offset;
    const char *name;
};

struct kernel_procedures {
    char *text; /* owned; has the names */
    VEC(struct kernel_procedure) all;
};

/* Reads them from /proc/kallsyms; `start`: first address of the kernel's code. */
void kernel_procedures_read(struct kernel_procedures *procedures, uint64_t start);
void kernel_procedures_free(struct kernel_procedures *procedures);

/* Bytes to append to the file in one piece: the procedures that contain one of the `n` offsets, which are sorted; NULL:
 * all. The caller frees. */
char *kernel_symbols_packed(const struct kernel_procedures *procedures, uint64_t boot, const uint64_t *offsets, size_t n,
                            size_t *size);

/* A list: the text of a file with all names but those of loadable modules, whose places others may have later. The
 * caller frees. */
char *kernel_symbols_listed(const struct kernel_procedures *procedures, uint64_t boot, size_t *size);

/* What kernel_symbols_packed gives, from a list; NULL: it is of another boot, or lacks a procedure that contains one of
 * the offsets. */
char *kernel_symbols_found(const char *list, size_t list_size, uint64_t boot, const uint64_t *offsets, size_t n,
                           size_t *size);

/* Whether a list is of that boot. */
bool kernel_symbols_are_of(const char *list, size_t list_size, uint64_t boot);

/* Whether the text of a file has all names of that boot. */
bool kernel_symbols_are_all(const char *text, uint64_t boot);

struct kernel_symbol {
    uint64_t begin, end; /* offsets */
    const char *name;    /* not terminated */
    size_t length;
};

/* Visits the symbols of that boot in the text of a file, which has a byte 0 after it. Other lines are skipped. */
void kernel_symbols_visit(const char *text, size_t size, uint64_t boot,
                          void (*visit)(void *data, const struct kernel_symbol *symbol), void *data);

#endif
