/* Is the binary on disk the one that was measured? */
#ifndef HPCPROF_MEASURED_BINARY_H
#define HPCPROF_MEASURED_BINARY_H

#include "hpcprof/modules/load-modules.h"

enum binary_match {
    BINARY_MATCHES,
    BINARY_MISSING,  /* no such file */
    BINARY_UNUSABLE, /* it cannot be read or is not an ELF file */
    BINARY_CHANGED,  /* another build: its build-id differs, or, of a module without one, size, time
                        of modification or header hash */
};

/* For all but BINARY_MATCHES, *cause is a line that says why and belongs to the caller. */
enum binary_match binary_compare(const char *path, const struct module *module, char **cause);

/* Writes this process's vdso to a file. False when it is not the module's, or cannot be written. */
bool binary_write_vdso(const struct module *module, const char *path);

#endif
