/* Decides whether the binary on disk is the one that was measured. */
#ifndef HPCPROF_MEASURED_BINARY_H
#define HPCPROF_MEASURED_BINARY_H

#include "hpcprof/modules/load-modules.h"

enum binary_match {
    BINARY_MATCHES,
    BINARY_MISSING,  /* no such file */
    BINARY_UNUSABLE, /* unreadable, or not an ELF file */
    BINARY_CHANGED, /* another build: a different build-id or, for a module without one, a different
                       size, modification time or header hash */
};

/* Compares a file with a module. For all but BINARY_MATCHES, *cause is a line that says why; the
 * caller frees it. */
enum binary_match binary_compare(const char *path, const struct load_module *module, char **cause);

/* Writes this process's vdso to a file. Returns false if it is not the module's vdso or cannot be
 * written. */
bool binary_write_vdso(const struct load_module *module, const char *path);

#endif
