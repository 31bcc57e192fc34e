/* Little-endian integers, variable-length integers and CRCs, as the measurement file uses them.
 * Header only; safe in signal handlers: no state, no libc beyond memcpy.
 *
 * Variable-length integers are LEB128 (7 bits per byte, least significant first, high bit set on
 * all bytes but the last), at most 10 bytes. Signed ones are zigzag-coded first. */
#ifndef LIB_BYTES_H
#define LIB_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline void put_u16(uint8_t *at, uint16_t value)
{
    memcpy(at, &value, sizeof value);
}

static inline void put_u32(uint8_t *at, uint32_t value)
{
    memcpy(at, &value, sizeof value);
}

static inline void put_u64(uint8_t *at, uint64_t value)
{
    memcpy(at, &value, sizeof value);
}

static inline uint16_t get_u16(const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint32_t get_u32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t get_u64(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

#define VARINT_MAX_BYTES 10

/* Writes `value` at `at` (room for VARINT_MAX_BYTES); returns the first byte after it. */
static inline uint8_t *put_varint(uint8_t *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (uint8_t)value | 0x80;
        value >>= 7;
    }
    *at++ = (uint8_t)value;
    return at;
}

static inline uint64_t zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static inline int64_t unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* Reads a variable-length integer from *at, not beyond `end`, and advances *at. Returns 0 and does
 * not change *value if the bytes end early or encode more than 64 bits. */
static inline int get_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    uint64_t result = 0;
    const uint8_t *p = *at;
    for (unsigned shift = 0; shift < 64 && p < end; shift += 7) {
        uint8_t byte = *p++;
        if (shift == 63 && byte > 1)
            return 0;
        result |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *value = result;
            *at = p;
            return 1;
        }
    }
    return 0;
}

/* CRC-32 (IEEE 802.3, reflected polynomial 0xedb88320, as in zlib and gzip) of `size` bytes
 * appended to data whose CRC is `crc`; start with 0. Works on four bits at a time: its table is 64
 * bytes, so a signal handler evicts little of the program's cache. */
static inline uint32_t crc32_update(uint32_t crc, const void *data, size_t size)
{
    static const uint32_t table[16] = {
        0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
        0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
        0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
    };
    const uint8_t *p = data;
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc = (crc >> 4) ^ table[(crc ^ p[i]) & 15];
        crc = (crc >> 4) ^ table[(crc ^ (p[i] >> 4)) & 15];
    }
    return ~crc;
}

#endif
