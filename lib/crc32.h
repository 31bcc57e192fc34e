/* CRC-32 (IEEE 802.3, reflected polynomial 0xedb88320; the CRC of zlib and gzip), computed four
 * bits at a time from a 64-byte constant table: small enough for a signal handler's cache, no
 * initialisation, safe anywhere. */
#ifndef LIB_CRC32_H
#define LIB_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* The CRC of `size` bytes appended to data whose CRC is `crc`; start with 0. */
uint32_t crc32_update(uint32_t crc, const void *data, size_t size);

#endif
