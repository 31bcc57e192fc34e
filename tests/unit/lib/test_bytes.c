#include "tests/unit/cmocka_suite.h"

#include "lib/bytes.h"

#include <zlib.h>

TEST(varints_round_trip_at_every_length)
{
    uint8_t buffer[VARINT_MAX_BYTES];
    for (unsigned bits = 0; bits < 64; bits++)
        for (int below = 0; below < 2; below++) {
            uint64_t value = ((uint64_t)1 << bits) - (uint64_t)below;
            uint8_t *end = put_varint(buffer, value);
            const uint8_t *at = buffer;
            uint64_t back;
            assert_true(get_varint(&at, end, &back));
            assert_ptr_equal(at, end);
            assert_true(back == value);
            at = buffer;
            assert_false(get_varint(&at, end - 1, &back));
            assert_ptr_equal(at, buffer);
        }
}

TEST(varints_over_64_bits_are_refused)
{
    const uint8_t too_long[11] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x80, 0};
    const uint8_t too_big[10] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2};
    const uint8_t *at = too_long;
    uint64_t value;
    assert_false(get_varint(&at, too_long + sizeof too_long, &value));
    at = too_big;
    assert_false(get_varint(&at, too_big + sizeof too_big, &value));
}

TEST(zigzag_round_trips)
{
    const int64_t values[] = {0, -1, 1, -2, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        assert_true(unzigzag(zigzag(values[i])) == values[i]);
    assert_true(zigzag(-1) == 1);
}

TEST(crc_is_that_of_zlib)
{
    uint8_t data[1000];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 31 + i / 7);
    for (size_t size = 0; size <= sizeof data; size += 37)
        assert_int_equal(crc32_update(0, data, size), crc32(0, data, (uInt)size));
    uint32_t parts = crc32_update(crc32_update(0, data, 333), data + 333, sizeof data - 333);
    assert_int_equal(parts, crc32(0, data, sizeof data));
}
