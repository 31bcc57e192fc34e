/* agents/python/python-layout.h: interpreters of other versions, or with other structures, are refused. */
#include "tests/unit/cmocka_suite.h"

#include "agents/python/python-layout.h"

static uint64_t version, runtime[90];
static uint64_t code_type[8], text_type[8]; /* tp_basicsize is word 4, or 6 without a GIL */

static struct python_exports exports_of(unsigned minor, uint64_t code_size, uint64_t text_size)
{
    version = (uint64_t)0x03000000 | minor << 16 | 0x02f0;
    code_type[4] = code_type[6] = code_size;
    text_type[4] = text_type[6] = text_size;
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

/* 3.11: a size that fits the place of their version. */
TEST(functions_with_versions)
{
    static uint64_t function_type[8];
    struct python_layout layout;
    struct python_exports exports = exports_of(11, 184, 80);
    assert_null(python_layout_find(&exports, &layout));
    assert_int_equal(layout.function_version, 0);
    exports.types.function = (uint64_t)(uintptr_t)function_type;
    function_type[4] = 136;
    assert_null(python_layout_find(&exports, &layout));
    assert_int_equal(layout.function_version, 128);
    function_type[4] = 144;
    assert_null(python_layout_find(&exports, &layout));
    assert_int_equal(layout.function_version, 0);
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

/* ---- offsets that the interpreter says itself, as of builds for x86-64 ---- */

#define COOKIE 0x7970677562656478 /* "xdebugpy" */

static const uint64_t of_3_13[] = {
    COOKIE, 51185136, 0,    279864, 608, 632, 191464, 7272, 7264, 7344, 7400, 7656, 7640, 7648, 16,
    7752,   0,        7768, 7760,   304, 0,   8,      16,   72,   152,  160,  232,  32,   80,   8,
    0,      56,       72,   70,     208, 112, 120,    128,  136,  68,   52,   96,   104,  200,  16,
    8,      416,      24,   88,     168, 32,  24,     16,   40,   24,   16,   48,   32,   40,   24,
    16,     32,       16,   24,     40,  16,  32,     64,   32,   16,   40};
static const uint64_t of_3_13_without_gil[] = {
    COOKIE, 51185136, 1,    324800, 608, 632, 212096, 7272, 7264, 7344, 7400, 7664, 7648, 7656, 16,
    7760,   0,        7784, 7776,   304, 0,   8,      16,   72,   152,  160,  232,  32,   80,   8,
    0,      56,       72,   70,     224, 128, 136,    144,  152,  84,   68,   112,  120,  216,  32,
    24,     432,      40,   104,    184, 48,  40,     32,   56,   40,   32,   64,   48,   56,   40,
    32,     48,       32,   40,     56,  32,  48,     80,   48,   32,   56};
static const uint64_t of_3_14[] = {
    COOKIE, 51250416, 0,   316592, 784, 808,  225840, 7280, 7272, 7344, 7360, 7408, 7664,
    7648,   7656,     16,  7760,   0,   7776, 7768,   7968, 0,    832,  0,    8,    16,
    72,     152,      160, 232,    32,  88,   8,      0,    56,   80,   74,   64,   0,
    216,    112,      120, 128,    136, 68,   52,     96,   104,  208,  0,    16,   8,
    416,    24,       88,  168,    40,  32,   16,     40,   24,   16,   200,  24,   40,
    32,     48,       32,  40,     24,  16,   32,     16,   24,   40,   16,   32,   64,
    32,     16,       40,  240,    192, 160,  24,     72};
static const uint64_t of_3_14_without_gil[] = {
    COOKIE, 51250416, 1,   362368, 784, 808,  246720, 7280, 7272,  7344, 7360, 7408, 7712,
    7696,   7704,     16,  7808,   0,   7832, 7824,   8024, 17628, 832,  0,    8,    16,
    72,     152,      160, 232,    32,  88,   8,      0,    56,    80,   78,   64,   72,
    240,    128,      136, 144,    152, 84,   68,     112,  120,   232,  224,  32,   24,
    432,    40,       104, 184,    56,  48,   32,     56,   40,    32,   216,  40,   56,
    48,     64,       48,  56,     40,  32,   48,     32,   40,    56,   32,   48,   80,
    48,     32,       56,  288,    192, 176,  40,     88};

#define FIND(words, code_size, text_size, layout)                                                  \
    (memcpy(runtime, words, sizeof(words)),                                                        \
     exports = exports_of(words[1] >> 16 & 0xff, code_size, text_size),                            \
     python_layout_find(&exports, layout))

TEST(offsets_of_3_13)
{
    struct python_layout layout;
    struct python_exports exports;
    assert_null(FIND(of_3_13, 200, 64, &layout));
    assert_int_equal(layout.gil_holder, exports.runtime + 88400 + 7760);
    assert_int_equal(layout.gil_in_state, 8);
    assert_int_equal(layout.thread_frame, 72);
    assert_int_equal(layout.code_first_traceable, 184);
    assert_int_equal(layout.generator_frame, 72);
    assert_int_equal(layout.thread_task, 0);
    assert_int_equal(layout.thread_sections, 0);
    assert_null(FIND(of_3_13_without_gil, 216, 80, &layout));
    assert_int_equal(layout.thread_sections, 176);
    assert_int_equal(layout.gil_in_state, 16);
    assert_int_equal(layout.code_first_traceable, 200);
    assert_int_equal(layout.generator_frame, 88);
    assert_int_equal(layout.text_kind_bit, 2);
}

TEST(offsets_of_3_14)
{
    struct python_layout layout;
    struct python_exports exports;
    assert_null(FIND(of_3_14, 208, 64, &layout));
    assert_int_equal(layout.gil_holder, exports.runtime + 90752 + 7768);
    assert_int_equal(layout.thread_task, 872);
    assert_int_equal(layout.frame_owner, 74);
    assert_int_equal(layout.frame_stack_pointer, 64);
    assert_int_equal(layout.frame_copy, 0);
    assert_int_equal(layout.code_version, 92);
    assert_int_equal(layout.code_first_traceable, 192);
    assert_int_equal(layout.text_kind_bit, 2);
    assert_null(FIND(of_3_14_without_gil, 232, 80, &layout));
    assert_int_equal(layout.gil_holder, exports.runtime + 115648 + 7824);
    assert_int_equal(layout.object_more, 16);
    assert_int_equal(layout.thread_sections, layout.thread_tid + 16);
    assert_int_equal(layout.frame_copy, 72);
    assert_int_equal(layout.code_copies, 224);
    assert_int_equal(layout.code_version, 108);
    assert_int_equal(layout.code_first_traceable, 208);
    assert_int_equal(layout.text_kind_bit, 8);
}

TEST(offsets_that_do_not_fit)
{
    struct python_layout layout;
    struct python_exports exports;
    assert_non_null(FIND(of_3_14, 216, 64, &layout));
    assert_null(FIND(of_3_14, 208, 64, &layout));
    runtime[34] = 500; /* an offset that is not where frames are read */
    assert_non_null(python_layout_find(&exports, &layout));
    runtime[0] = 0;
    runtime[34] = 56;
    assert_non_null(python_layout_find(&exports, &layout));
}
