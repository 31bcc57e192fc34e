/* Functions that only calls reveal, and the code that matters for some addresses: the rules of
 * called-functions.h and wanted-code.h. */
#include "tests/unit/cmocka_suite.h"

#include "tests/unit/hpcstruct/made_module.h"

#include "hpcstruct/code/called-functions.h"
#include "hpcstruct/code/wanted-code.h"

/* ---- called functions ---- */

/* Functions of this size have a call across the end of the first MiB. */
enum { GAP = 0x400000, FUNCTION_SIZE = 876, FUNCTIONS = 6000, GAP_SIZE = FUNCTIONS * FUNCTION_SIZE };

/* A program of small functions in one gap: each calls the one three further on. An instruction across the end of
 * the second MiB looks like a call from its third byte on. */
static uint8_t *large_gap(void)
{
    static const uint8_t no_call[] = {0x48, 0xb8, 0xe8, 0x40, 0, 0, 0, 0x90, 0x90, 0x90}; /* movabs */
    uint8_t *bytes = malloc(GAP_SIZE);
    assert_non_null(bytes);
    for (size_t at = 0; at < GAP_SIZE; at += FUNCTION_SIZE) {
        const int32_t distance = 3 * FUNCTION_SIZE - 5;
        memset(bytes + at, 0x90, FUNCTION_SIZE); /* nop */
        bytes[at] = 0xe8;                        /* call */
        memcpy(bytes + at + 1, &distance, sizeof distance);
        bytes[at + FUNCTION_SIZE - 1] = 0xc3; /* ret */
    }
    memcpy(bytes + (2 << 20) - 2, no_call, sizeof no_call);
    return bytes;
}

TEST(called_functions_of_a_large_gap)
{
    uint8_t *bytes = large_gap();
    for (unsigned workers = 1; workers <= 4; workers += 3) {
        struct code_map map = {0};
        struct address_list called = {0};
        const struct fragment_flow flow = {0};
        const struct elf_code code = {GAP, GAP + GAP_SIZE, bytes};
        struct elf_image image = {0};
        vec_push(&image.code, code);
        const struct symbol_table no_symbols = {0};
        const struct frame_entries no_frames = {0};
        const struct plt_stubs no_stubs = {0};
        const struct code_sources sources = {
            .image = &image, .symbols = &no_symbols, .frames = &no_frames, .stubs = &no_stubs};
        code_map_build(&map, &sources, workers);
        assert_int_equal(map.fragments.n, 1);
        called_functions_find(&called, &map, &flow, workers);
        assert_int_equal(called.all.n, FUNCTIONS - 3);
        for (size_t i = 0; i < called.all.n; i++)
            assert_int_equal(called.all.at[i], GAP + (i + 3) * FUNCTION_SIZE);
        vec_free(&called.all);
        vec_free(&image.code);
        code_map_free(&map);
    }
    free(bytes);
}

/* Targets in known functions and at the begin of gaps are not listed, others once; calls of known functions
 * count, too. */
TEST(targets_that_begin_functions)
{
    struct made_module *made = made_module_new();
    made_symbol(made, 0x1100, 0x40, "known");
    made->at = 0x1100;
    made_call(made, 0x1120); /* in itself */
    made_call(made, 0x1220);
    made_work(made, 8);
    made->at = 0x1200; /* a gap */
    made_call(made, 0x1200);
    made_call(made, 0x1220);
    made_call(made, 0x1108);
    made_call(made, 0x1240);
    made_work(made, 40);
    made_module_map(made, NULL, 0);
    struct address_list called = {0};
    called_functions_find(&called, &made->module.map, made->module.flows, 2);
    assert_int_equal(called.all.n, 2);
    assert_int_equal(called.all.at[0], 0x1220);
    assert_int_equal(called.all.at[1], 0x1240);
    vec_free(&called.all);
}

/* ---- wanted code ---- */

static void add_wanted(struct made_module *made, struct code_ranges *ranges, uint64_t address)
{
    struct address_list addresses = {0};
    ranges->all.n = 0;
    vec_push(&addresses.all, address);
    wanted_code_find(ranges, &addresses, &made->module.map, &made->module.cross_jumps);
    vec_free(&addresses.all);
}

/* a jumps to a.cold, from which b is reached, whose cold part jumps to c; d stands alone. */
TEST(connected_owners_are_wanted)
{
    struct made_module *made = made_module_new();
    static const char *const names[] = {"a", "a.cold", "b", "b.cold", "c", "d"};
    for (unsigned i = 0; i < 6; i++) {
        made_symbol(made, 0x1100 + 0x40 * i, 0x40, names[i]);
        made->at = 0x1100 + 0x40 * i;
        made_work(made, 20);
    }
    static const uint64_t jumps[][2] = {
        {0x1100, 0x1140}, {0x1140, 0x1190}, {0x1180, 0x11c0}, {0x11c0, 0x1210}};
    for (size_t i = 0; i < 4; i++) {
        made->at = jumps[i][0];
        made_branch(made, jumps[i][1]);
    }
    made_module_map(made, NULL, 0);
    const struct flow_sources sources = {&made->module.map, made->module.flows, &made->image,
                                         &made->module.frames};
    cross_jumps_find(&made->module.cross_jumps, &sources, 2);
    struct code_ranges ranges = {0};
    for (unsigned i = 0; i < 5; i++) {
        add_wanted(made, &ranges, 0x1110 + 0x40 * i);
        assert_int_equal(ranges.all.n, 5);
        assert_true(code_ranges_overlap(&ranges, 0x1100, 0x1101));
        assert_true(code_ranges_overlap(&ranges, 0x123f, 0x1300));
        assert_false(code_ranges_overlap(&ranges, 0x1240, 0x2000));
    }
    add_wanted(made, &ranges, 0x1250);
    assert_int_equal(ranges.all.n, 1);
    assert_true(code_ranges_overlap(&ranges, 0x1000, 0x1241));
    assert_true(code_ranges_overlap(&ranges, 0x127f, 0x1280));
    assert_false(code_ranges_overlap(&ranges, 0x1000, 0x1240));
    assert_false(code_ranges_overlap(&ranges, 0x1260, 0x1260)); /* empty */
    add_wanted(made, &ranges, 0x3000);                          /* no code */
    assert_int_equal(ranges.all.n, 0);
    assert_false(code_ranges_overlap(&ranges, 0, UINT64_MAX));
    vec_free(&ranges.all);
}
