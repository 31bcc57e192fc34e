/* Messages of Protocol Buffers, built in memory: fields of numbers, bytes and messages. */
#ifndef VIEWER_PROTOBUF_H
#define VIEWER_PROTOBUF_H

#include "viewer-tui/base/text.h"

#include <stdint.h>

static inline void protobuf_varint(struct text *message, uint64_t value)
{
    char bytes[10];
    size_t n = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[n++] = (char)(value | 0x80);
    bytes[n++] = (char)value;
    text_add_bytes(message, bytes, n);
}

/* Adds a number; 0 is left out, since it is the value of an absent field. */
static inline void protobuf_number(struct text *message, unsigned field, uint64_t value)
{
    if (value == 0)
        return;
    protobuf_varint(message, (uint64_t)field << 3);
    protobuf_varint(message, value);
}

/* Adds a string, a message or a packed list of numbers. */
static inline void protobuf_bytes(struct text *message, unsigned field, const char *bytes,
                                  size_t size)
{
    protobuf_varint(message, (uint64_t)field << 3 | 2);
    protobuf_varint(message, size);
    text_add_bytes(message, bytes, size);
}

#endif
