/* agents/python/python-layout.h: interpreters of other versions, or with other structures, are refused. */
#include "tests/unit/cmocka_suite.h"

#include "agents/python/python-layout.h"

static uint64_t version, runtime[80];
static uint64_t code_type[8], text_type[8]; /* word 4 is tp_basicsize */

static struct python_exports exports_of(unsigned minor, uint64_t code_size, uint64_t text_size)
{
    version = (uint64_t)0x03000000 | minor << 16 | 0x02f0;
    code_type[4] = code_size;
    text_type[4] = text_size;
    return (struct python_exports){.runtime = (uint64_t)(uintptr_t)runtime,
                                   .version = (uint64_t)(uintptr_t)&version,
                                   .code_type = (uint64_t)(uintptr_t)code_type,
                                   .text_type = (uint64_t)(uintptr_t)text_type,
                                   .eval_start = 0x1000,
                                   .eval_size = 0x200};
}

TEST(known_versions)
{
    struct python_layout layout;
    struct python_exports exports = exports_of(11, 184, 80);
    assert_null(python_layout_find(&exports, &layout));
    assert_int_equal(layout.minor, 11);
    assert_int_equal(layout.runtime, exports.runtime);
    assert_int_equal(layout.eval_end, 0x1200);
    assert_int_equal(layout.gil_condition, exports.runtime + 392);
    exports = exports_of(12, 192, 64);
    assert_null(python_layout_find(&exports, &layout));
    assert_int_equal(layout.minor, 12);
}

TEST(other_versions)
{
    struct python_layout layout;
    for (unsigned minor = 0; minor < 20; minor++) {
        struct python_exports exports = exports_of(minor, 184, 80);
        assert_int_equal(!python_layout_find(&exports, &layout), minor == 11);
    }
}

/* Builds that trace references have larger objects. */
TEST(other_structures)
{
    struct python_layout layout;
    struct python_exports exports = exports_of(11, 200, 96);
    assert_non_null(python_layout_find(&exports, &layout));
    exports = exports_of(11, 184, 96);
    assert_non_null(python_layout_find(&exports, &layout));
}

/* 3.13 says its offsets itself. */
TEST(offsets_of_3_13)
{
    struct python_layout layout;
    struct python_exports exports = exports_of(13, 200, 64);
    memset(runtime, 0, sizeof runtime);
    assert_non_null(python_layout_find(&exports, &layout));
    memcpy(runtime, "xdebugpy", 8);
    runtime[3] = 5000, runtime[6] = 4000; /* sizes of the runtime and an interpreter */
    runtime[5] = 632, runtime[17] = 208, runtime[18] = 200, runtime[23] = 72, runtime[24] = 152;
    runtime[29] = 8, runtime[30] = 0, runtime[31] = 56, runtime[33] = 70;
    runtime[35] = 112, runtime[37] = 128, runtime[38] = 136, runtime[39] = 68, runtime[43] = 200;
    runtime[45] = 8, runtime[65] = 16, runtime[66] = 32;
    runtime[68] = 32, runtime[69] = 16, runtime[70] = 40;
    assert_null(python_layout_find(&exports, &layout));
    assert_int_equal(layout.interpreters, 632);
    assert_int_equal(layout.thread_frame, 72);
    assert_int_equal(layout.code_name, 128);
    assert_int_equal(layout.gil_holder, exports.runtime + 1000 + 200);
    runtime[2] = 1; /* free-threaded: there is no GIL */
    assert_null(python_layout_find(&exports, &layout));
    assert_int_equal(layout.gil_condition, 0);
    runtime[31] = 500; /* an offset that is not where frames are read */
    assert_non_null(python_layout_find(&exports, &layout));
}
