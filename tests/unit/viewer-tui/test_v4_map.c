#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/db/v4-map.h"

static uint8_t bytes[256];
static const struct v4_map map = {.path = (char *)"file", .bytes = bytes, .size = sizeof bytes};

TEST(arrays_must_lie_in_the_file)
{
    assert_ptr_equal(v4_array(&map, 0, 256, 1, 1), bytes);
    assert_ptr_equal(v4_array(&map, 256, 0, 8, 8), bytes + 256);
    assert_ptr_equal(v4_array(&map, 8, 31, 8, 8), bytes + 8);
    assert_null(v4_array(&map, 8, 32, 8, 8));
    assert_null(v4_array(&map, 257, 0, 1, 1));
    assert_null(v4_array(&map, 4, 1, 8, 8));
    /* Products and sums that do not fit into 64 bits. */
    assert_null(v4_array(&map, 8, UINT64_MAX / 8 + 2, 8, 8));
    assert_null(v4_array(&map, UINT64_MAX - 7, 1, 8, 8));
    assert_null(v4_array(&map, 8, UINT64_MAX, 1, 1));
}

TEST(strings_must_end_in_the_file)
{
    memset(bytes, 'x', sizeof bytes);
    bytes[10] = '\0';
    assert_string_equal(v4_string(&map, 8), "xx");
    assert_string_equal(v4_string(&map, 10), "");
    assert_null(v4_string(&map, 11));
    assert_null(v4_string(&map, 256));
    assert_null(v4_string(&map, UINT64_MAX));
}

TEST(structures_are_copied_from_8_byte_boundaries)
{
    uint64_t value = 0;
    memset(bytes, 0, sizeof bytes);
    bytes[248] = 42;
    assert_true(v4_read(&map, 248, &value, sizeof value));
    assert_int_equal(value, 42);
    assert_false(v4_read(&map, 244, &value, sizeof value));
    assert_false(v4_read(&map, 256, &value, sizeof value));
}
