/* Finds the files with the debug information of a binary:
 *
 * file                 found by, in this order
 * separate debug file  build-id: DIRECTORY/.build-id/xx/yyyy.debug
 *                      debug link, with matching checksum, and the build-id of the binary, or its
 *                      owner if it has none: beside the binary, in .debug/ beside it, or below
 *                      DIRECTORY
 *                      build-id: debuginfod's cache (elf/debuginfod-cache.h), if the binary has no
 *                      debug information itself
 * supplement of dwz    path and build-id in .gnu_debugaltlink, or build-id as above
 *
 * The places are known, and everybody can make a file with a given checksum or build-id. Its line
 * table could name any file as a source, which hpcprof then copies by the rights of the binary's
 * owner. So a file of a user who is neither root, nor the user, nor the owner of the binary, is not
 * used (debug_file_why_not). */
#ifndef HPCSTRUCT_DEBUG_FILE_H
#define HPCSTRUCT_DEBUG_FILE_H

#include "hpcstruct/elf/elf-image.h"

#define DEFAULT_DEBUG_DIRECTORY "/usr/lib/debug"

/* Why what a file with debug information of `of` says cannot be believed; NULL: it can. */
const char *debug_file_why_not(const struct elf_image *debug, const struct elf_image *of);

/* Opens the debug file of a binary; NULL if there is none. The caller closes it (elf_close). */
struct elf_image *debug_file_open(const struct elf_image *image, const char *directory);

/* Opens the supplement of a file with debug information; NULL if there is none. */
struct elf_image *debug_file_open_supplement(const struct elf_image *image, const char *directory);

#endif
