/* Finds the files that hold what was stripped from a binary: its separate debug file, by build-id
 * (DIRECTORY/.build-id/xx/yyyy.debug) or by debug link (beside the binary, in .debug beside it, or
 * below DIRECTORY, with the right checksum), and the file that dwz moved shared parts to. */
#ifndef HPCSTRUCT_DEBUG_FILE_H
#define HPCSTRUCT_DEBUG_FILE_H

#include "hpcstruct/elf/elf-image.h"

#define DEFAULT_DEBUG_DIRECTORY "/usr/lib/debug"

/* The debug file of a binary, opened, or NULL. To be closed by elf_close. */
struct elf_image *debug_file_open(const struct elf_image *image, const char *directory);

/* The supplement of a file with debug information, opened, or NULL. */
struct elf_image *debug_file_open_supplement(const struct elf_image *image, const char *directory);

#endif
