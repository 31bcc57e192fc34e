/* Signal handler: may be used there.
 *
 * What the kernel says is mapped at an address. The path that the loader knows may be that of
 * another file by now. */
#ifndef HPCRUN_CODE_MAPPED_PATH_H
#define HPCRUN_CODE_MAPPED_PATH_H

#include <stddef.h>
#include <stdint.h>

/* The path of the file whose mapping begins at `start`; NULL when there is none, or no /proc. It
 * lies in the buffer, of at least PATH_MAX + 128 bytes. */
const char *mapped_path(uint64_t start, char *buffer, size_t room);

#endif
