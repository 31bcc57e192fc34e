/* Decompresses ELF sections: SHF_COMPRESSED (zlib or zstd) and the older .zdebug_ (zlib).
 *
 * Both functions return the contents, which the caller frees, and set *size. If the section is
 * damaged, or has more bytes than `most`, they return NULL and set *cause to a line that says why,
 * which the caller frees. */
#ifndef HPCSTRUCT_DECOMPRESS_H
#define HPCSTRUCT_DECOMPRESS_H

#include <stddef.h>
#include <stdint.h>

/* `stored` begins with an Elf64_Chdr. */
uint8_t *decompress_elf(const uint8_t *stored, size_t stored_size, size_t most, size_t *size,
                        char **cause);

/* `stored` begins with "ZLIB" and the size, 8 bytes big-endian. */
uint8_t *decompress_gnu(const uint8_t *stored, size_t stored_size, size_t most, size_t *size,
                        char **cause);

#endif
