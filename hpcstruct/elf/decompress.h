/* Unpacks compressed ELF sections: SHF_COMPRESSED (zlib or zstd) and the older .zdebug_ (zlib).
 *
 * Returns the contents, which belong to the caller, and their size; NULL, and a line that says why
 * (of the caller, too), when they are damaged or claim a size that the stored bytes cannot hold. */
#ifndef HPCSTRUCT_DECOMPRESS_H
#define HPCSTRUCT_DECOMPRESS_H

#include <stddef.h>
#include <stdint.h>

/* `stored` begins with an Elf64_Chdr. */
uint8_t *unpack_elf(const uint8_t *stored, size_t stored_size, size_t *size, char **cause);

/* `stored` begins with "ZLIB" and the size, 8 bytes big-endian. */
uint8_t *unpack_gnu(const uint8_t *stored, size_t stored_size, size_t *size, char **cause);

#endif
