/* Owners of addresses, and the parts of procedures: the rules of code-map.h and procedures.h, on a
 * handmade module. */
#include "tests/unit/cmocka_suite.h"

#include "tests/unit/hpcstruct/made_module.h"

/* ---- the map ---- */

struct expected_fragment {
    uint64_t begin, end;
    const char *name; /* of its owner */
};

static void check_map(struct made_module *made, const struct expected_fragment *expected,
                      size_t count)
{
    const struct code_map *map = &made->module.map;
    assert_int_equal(map->fragments.n, count);
    for (size_t i = 0; i < count; i++) {
        const struct code_fragment *fragment = &map->fragments.at[i];
        const char *name = map->owners.at[fragment->owner].name;
        assert_int_equal(fragment->begin, expected[i].begin);
        assert_int_equal(fragment->end, expected[i].end);
        assert_string_equal(name ? name : "?", expected[i].name);
        assert_ptr_equal(fragment->bytes, made->code + (fragment->begin - CODE_AT));
        assert_int_equal(code_map_find(map, fragment->begin), i);
        assert_int_equal(code_map_find(map, fragment->end - 1), i);
    }
    assert_int_equal(code_map_find(map, CODE_AT - 1), UINT32_MAX);
    assert_int_equal(code_map_find(map, CODE_AT + CODE_SIZE), UINT32_MAX);
}

#define CHECK_MAP(made, ...)                                                                       \
    check_map(made, (const struct expected_fragment[]){__VA_ARGS__},                               \
              sizeof((const struct expected_fragment[]){__VA_ARGS__}) /                            \
                  sizeof(struct expected_fragment))

TEST(test_symbols)
{
    struct made_module *made = made_module_new();
    made_symbol(made, 0x1100, 0x100, "around");
    made_symbol(made, 0x1140, 0x20, "inside");
    made_symbol(made, 0x1180, 0x100, "overlapping"); /* begins last: owns the overlap */
    made_symbol(made, 0x1100, 0x80, "__alias");
    made_symbol(made, 0x1ff0, 0x100, "beyond"); /* the end of the code */
    made_module_map(made, NULL, 0);
    CHECK_MAP(made, {0x1100, 0x1140, "around"}, {0x1140, 0x1160, "inside"},
              {0x1160, 0x1180, "around"}, {0x1180, 0x1280, "overlapping"},
              {0x1ff0, 0x2000, "beyond"});
    assert_int_equal(made->module.map.owners.n, 4);
}

TEST(test_frames_and_stubs)
{
    struct made_module *made = made_module_new();
    made_stub(made, 0x1020, "puts@plt");
    made_symbol(made, 0x1100, 0x80, "named");
    made_frame(made, 0x1100, 0x1180, false);
    made_frame(made, 0x1140, 0x1160, false); /* inside a named function: hand-written assembly */
    made_frame(made, 0x1200, 0x1240, false);
    made_frame(made, 0x1240, 0x1250, true);
    made_module_map(made, NULL, 0);
    CHECK_MAP(made, {0x1020, 0x1030, "puts@plt"}, {0x1100, 0x1180, "named"}, {0x1200, 0x1240, "?"},
              {0x1240, 0x1250, "?"});
    const struct code_owner *owners = made->module.map.owners.at;
    assert_true(owners[0].is_stub && owners[1].has_frame && !owners[1].begins_mid_function);
    assert_true(owners[2].has_frame && owners[3].begins_mid_function);
}

/* Uncovered code is divided at labels and call targets; padding has no owner. */
TEST(test_gaps)
{
    struct made_module *made = made_module_new();
    made_symbol(made, 0x1000, 0x10, "first");
    made->at = 0x1020;
    made_work(made, 16);
    made_symbol(made, 0x1030, 0, "label");
    made_symbol(made, 0x1050, 0x10, "last");
    made_module_map(made, (const uint64_t[]){0x1038}, 1);
    CHECK_MAP(made, {0x1000, 0x1010, "first"}, {0x1020, 0x1030, "?"}, {0x1030, 0x1038, "label"},
              {0x1038, 0x1050, "?"}, {0x1050, 0x1060, "last"});
    assert_true(made->module.map.owners.at[1].is_gap);
}

/* ---- procedures ---- */

/* A function at 0x1100 that jumps into another part at 0x1400, which jumps back to its middle. */
static struct made_module *split_function(void)
{
    struct made_module *made = made_module_new();
    made->at = 0x1100;
    made_branch(made, 0x1400);
    made_work(made, 4);
    made_return(made);
    made->at = 0x1400;
    made_work(made, 2);
    made_jump(made, 0x1106);
    return made;
}

static void expect_entry(struct made_module *made, uint64_t entry)
{
    made_module_procedures(made, NULL, 0);
    assert_int_equal(made_entry_of(made, 0x1106), 0x1100);
    assert_int_equal(made_entry_of(made, 0x1403), entry);
}

TEST(test_cold_part_by_name)
{
    struct made_module *made = split_function();
    made_symbol(made, 0x1100, 0x40, "f");
    made_symbol(made, 0x1400, 0x20, "f.cold");
    made_module_map(made, NULL, 0);
    expect_entry(made, 0x1100);

    made = split_function();
    made_symbol(made, 0x1100, 0x40, "f");
    made_symbol(made, 0x1400, 0x20, "g"); /* named: a function, whatever jumps to it */
    made_module_map(made, NULL, 0);
    expect_entry(made, 0x1400);

    made = split_function();
    made_symbol(made, 0x1100, 0x40, "f");
    made_symbol(made, 0x1400, 0x20, "f.cold");
    made->at = 0x1600;
    made_call(made, 0x1400); /* called: a function */
    made_symbol(made, 0x1600, 0x10, "caller");
    made_module_map(made, NULL, 0);
    expect_entry(made, 0x1400);
}

TEST(test_part_without_name)
{
    struct made_module *made = split_function(); /* jumps back to the middle */
    made_frame(made, 0x1100, 0x1140, false);
    made_frame(made, 0x1400, 0x1420, false);
    made_module_map(made, NULL, 0);
    expect_entry(made, 0x1100);

    made = split_function(); /* two functions jump there: shared code */
    made->at = 0x1600;
    made_jump(made, 0x1400);
    made_frame(made, 0x1100, 0x1140, false);
    made_frame(made, 0x1400, 0x1420, false);
    made_frame(made, 0x1600, 0x1610, false);
    made_module_map(made, NULL, 0);
    expect_entry(made, 0x1400);
}

TEST(test_tail_call)
{
    for (int begins_mid_function = 0; begins_mid_function < 2; begins_mid_function++) {
        struct made_module *made = made_module_new();
        made->at = 0x1100;
        made_work(made, 4);
        made_jump(made, 0x1400);
        made->at = 0x1400;
        made_return(made);
        made_frame(made, 0x1100, 0x1140, false);
        made_frame(made, 0x1400, 0x1420, begins_mid_function); /* decides */
        made_module_map(made, NULL, 0);
        expect_entry(made, begins_mid_function ? 0x1100 : 0x1400);
    }
}

/* Adds a function at `at`: `size` bytes of code, then a jump to 0x1400, where a function without a name is. */
static void add_jump(struct made_module *made, uint64_t at, const char *name,
                        const uint8_t *bytes, size_t size)
{
    made->at = at;
    made_bytes(made, bytes, size);
    made_jump(made, 0x1400);
    made_symbol(made, at, size + 5, name);
    made_frame(made, at, at + size + 5, false);
}

static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
static const uint8_t first_of_two[] = {0x48, 0x8d, 0x7f, 0x10}; /* lea 0x10(%rdi),%rdi */

/* The name of the function at 0x1400. */
static const char *lent_name(struct made_module *made)
{
    made->at = 0x1400;
    made_return(made);
    made_frame(made, 0x1400, 0x1401, false);
    made->at = 0x1700;
    made_call(made, 0x1400);
    made_symbol(made, 0x1700, 5, "caller");
    made_module_map(made, NULL, 0);
    made_module_procedures(made, NULL, 0);
    uint32_t number = procedures_find(&made->module.procedures, &made->module.map, 0x1400);
    return made->module.procedures.all.at[number].name;
}

TEST(test_name_of_a_function_that_only_jumps_there)
{
    struct made_module *made = made_module_new();
    add_jump(made, 0x1500, "with_mark", endbr64, sizeof endbr64);
    assert_string_equal(lent_name(made), "with_mark");

    made = made_module_new();
    add_jump(made, 0x1500, "plain", NULL, 0);
    add_jump(made, 0x1600, "of_a_part_of_the_object", first_of_two, sizeof first_of_two);
    assert_string_equal(lent_name(made), "plain");

    for (int is_first = 0; is_first < 2; is_first++) {
        made = made_module_new();
        add_jump(made, 0x1500, is_first ? "end" : "end_with", NULL, 0);
        add_jump(made, 0x1600, is_first ? "end_with" : "end", endbr64, sizeof endbr64);
        assert_string_equal(lent_name(made), "end");
    }

    for (int place = 0; place < 3; place++) {
        static const char *const names[] = {"end_now", "end", "end_with"};
        made = made_module_new();
        for (unsigned i = 0; i < 3; i++)
            add_jump(made, 0x1500 + 0x10 * i, names[(i + (unsigned)place) % 3], NULL, 0);
        assert_string_equal(lent_name(made), "end");
    }

    made = made_module_new();
    add_jump(made, 0x1500, "one", NULL, 0);
    add_jump(made, 0x1600, "two", NULL, 0);
    assert_null(lent_name(made));
}

/* Its first piece of code is a jump, but elsewhere. */
TEST(test_no_name_of_a_function_in_pieces)
{
    struct made_module *made = made_module_new();
    made->at = 0x1500;
    made_jump(made, 0x1700);
    made_return(made);
    made_jump(made, 0x1400);
    made_symbol(made, 0x1500, 11, "in_pieces");
    made_symbol(made, 0x1505, 1, "between");
    assert_null(lent_name(made));
}

TEST(test_links)
{
    struct made_module *made = made_module_new();
    made_frame(made, 0x1100, 0x1140, false);
    made_frame(made, 0x1400, 0x1420, false);
    made_symbol(made, 0x1500, 0x20, "named");
    made_module_map(made, NULL, 0);
    const struct code_link links[] = {{0x1400, 0x1100}, {0x1500, 0x1100}, {0x0, 0x1100}};
    made_module_procedures(made, links, 3);
    assert_int_equal(made_entry_of(made, 0x1400), 0x1100);
    assert_int_equal(made_entry_of(made, 0x1500), 0x1500); /* named */
    assert_int_equal(made_entry_of(made, 0x1300), 0);
    assert_int_equal(made->module.procedures.all.n, 2);
    assert_int_equal(made->module.procedures.all.at[0].fragment_count, 2);
}
