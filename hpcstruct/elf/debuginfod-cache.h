/* The files that debuginfod clients (gdb, perf, debuginfod-find) have downloaded before:
 * DIRECTORY/BUILDID/debuginfo. DIRECTORY is $DEBUGINFOD_CACHE_PATH, $XDG_CACHE_HOME/debuginfod_client
 * or ~/.cache/debuginfod_client, the first that is set. Nothing is downloaded. */
#ifndef HPCSTRUCT_DEBUGINFOD_CACHE_H
#define HPCSTRUCT_DEBUGINFOD_CACHE_H

#include "hpcstruct/elf/elf-image.h"

/* Opens the debug file with this build-id; NULL if there is none. The caller closes it. Prints a
 * note (lib/diag.h) if a file is there but cannot be used, except an empty one: clients leave it if
 * no server has the file.
 *
 * The directory belongs to the user or to root, and nobody else can write to it; links in it are not
 * followed. Otherwise another user could show us wrong procedures and source files. */
struct elf_image *debuginfod_cache_open(struct elf_bytes build_id);

#endif
