/* Conflicts in debug information are resolved; chains of inlined calls; tables of several units. */
#include "tests/unit/cmocka_suite.h"

#include "hpcstruct/dwarf/debug-info.h"
#include "hpcstruct/dwarf/function-table.h"
#include "hpcstruct/structure/source-ranges.h"

static uint8_t code_bytes[0x1000];

static struct elf_image image;
static struct debug_info info;

STEP(begin)
{
    const struct elf_code code = {0x1000, 0x2000, code_bytes};
    memset(&image, 0, sizeof image);
    memset(&info, 0, sizeof info);
    vec_push(&image.code, code);
}

STEP(end)
{
    debug_info_free(&info);
    vec_free(&image.code);
}

EACH_TEST(begin, end);

static uint32_t line_at(uint64_t address)
{
    uint32_t mark = debug_info_line_index(&info, address);
    return mark == DEBUG_NONE ? 0 : info.lines.at[mark].line;
}

static uint32_t scope_at(uint64_t address)
{
    uint32_t mark = debug_info_scope_index(&info, address);
    return mark == DEBUG_NONE ? DEBUG_NONE : info.scope_rows.at[mark].scope;
}

/* ---- lines ---- */

TEST(test_sequences)
{
    debug_info_add_line(&info, 0x1200, 0, 20);
    debug_info_add_line(&info, 0x1200, 0, 21); /* the row before covers no bytes */
    debug_info_add_line(&info, 0x1208, 0, 21); /* same line */
    debug_info_add_line(&info, 0x11ff, 0, 99); /* descending address: ignored */
    debug_info_add_line(&info, 0x1210, 0, 22);
    debug_info_end_sequence(&info, 0x1220, &image);
    debug_info_add_line(&info, 0x1100, 0, 10);
    debug_info_end_sequence(&info, 0x1120, &image);
    debug_info_add_line(&info, 0x1218, 0,
                        30); /* overlap: used after the end of the first sequence */
    debug_info_add_line(&info, 0x1228, 0, 31);
    debug_info_end_sequence(&info, 0x1230, &image);
    debug_info_add_line(&info, 0x1ff0, 0, 40); /* cut at the end of the code */
    debug_info_end_sequence(&info, 0x3000, &image);
    debug_info_finish(&info, 1);
    const struct {
        uint64_t address;
        uint32_t line;
    } expected[] = {
        {0x0fff, 0},  {0x1100, 10}, {0x111f, 10}, {0x1120, 0},  {0x1200, 21}, {0x120f, 21},
        {0x1210, 22}, {0x121f, 22}, {0x1220, 30}, {0x1227, 30}, {0x1228, 31}, {0x122f, 31},
        {0x1230, 0},  {0x1ff0, 40}, {0x2000, 0},  {0x2fff, 0},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(line_at(expected[i].address), expected[i].line);
}

/* ---- scopes ---- */

static uint32_t scope(uint32_t function, uint32_t parent, uint32_t line)
{
    const struct debug_scope new = {.function = function, .parent = parent, .call_line = line};
    vec_push(&info.scopes, new);
    return (uint32_t)info.scopes.n - 1;
}

TEST(test_scopes)
{
    uint32_t f = debug_info_function(&info, "f", 0, 1), g = debug_info_function(&info, "g", 0, 2);
    uint32_t outer = scope(f, DEBUG_NONE, 0), inner = scope(g, outer, 5);
    uint32_t innermost = scope(g, inner, 6), other = scope(g, DEBUG_NONE, 0);
    debug_info_add_range(&info, 0x1000, 0x1100, outer, &image);
    debug_info_add_range(&info, 0x1800, 0x1810, outer, &image); /* its cold part */
    debug_info_add_range(&info, 0x1000, 0x1040, inner, &image);
    debug_info_add_range(&info, 0x1010, 0x1020, innermost, &image);
    debug_info_add_range(&info, 0x1050, 0x1200, innermost, &image); /* beyond its parent */
    debug_info_add_range(&info, 0x1300, 0x1310, other, &image);
    debug_info_add_range(&info, 0x0000, 0x0010, other, &image); /* outside the code */
    debug_info_finish(&info, 1);
    const struct {
        uint64_t address;
        uint32_t scope;
    } expected[] = {
        {0x0005, DEBUG_NONE}, {0x1000, inner},     {0x100f, inner},      {0x1010, innermost},
        {0x101f, innermost},  {0x1020, inner},     {0x1040, outer},      {0x104f, outer},
        {0x1050, innermost},  {0x11ff, innermost}, {0x1200, DEBUG_NONE}, {0x1300, other},
        {0x1310, DEBUG_NONE}, {0x1800, outer},     {0x1810, DEBUG_NONE},
    };
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_int_equal(scope_at(expected[i].address), expected[i].scope);
    assert_ptr_equal(debug_info_function_at(&info, 0x1010), &info.functions.at[f]);
    assert_ptr_equal(debug_info_function_at(&info, 0x1305), &info.functions.at[g]);
    assert_null(debug_info_function_at(&info, 0x1250));
}

TEST(test_functions)
{
    uint32_t f = debug_info_function(&info, "f", 3, 10);
    assert_int_equal(debug_info_function(&info, "f", 3, 10), f);
    assert_int_not_equal(debug_info_function(&info, "f", 3, 11), f);
    assert_int_not_equal(debug_info_function(&info, "f", 4, 10), f);
    assert_int_not_equal(debug_info_function(&info, "g", 3, 10), f);
}

/* Functions without a declaration are distinct, and are declared where their code begins. */
TEST(test_local_functions)
{
    uint32_t one = debug_info_local_function(&info, "lambda");
    uint32_t two = debug_info_local_function(&info, "lambda");
    uint32_t unused = debug_info_local_function(&info, "lambda");
    uint32_t known = debug_info_function(&info, "f", 7, 1);
    assert_int_not_equal(one, two);
    uint32_t around = scope(known, DEBUG_NONE, 0);
    debug_info_add_range(&info, 0x1000, 0x1100, around, &image);
    debug_info_add_range(&info, 0x1010, 0x1020, scope(one, around, 5), &image);
    debug_info_add_range(&info, 0x1030, 0x1050, scope(two, around, 6), &image);
    debug_info_add_line(&info, 0x1000, 3, 1);
    debug_info_add_line(&info, 0x1018, 3, 9);
    debug_info_add_line(&info, 0x1020, 3, 2);
    debug_info_add_line(&info, 0x1030, 3, 0);
    debug_info_add_line(&info, 0x1034, 4, 21);
    debug_info_add_line(&info, 0x1038, 3, 5); /* in another file */
    debug_info_add_line(&info, 0x103c, 4, 20);
    debug_info_add_line(&info, 0x1050, 4, 3); /* after its end */
    debug_info_end_sequence(&info, 0x1100, &image);
    debug_info_finish(&info, 1);
    const struct {
        uint32_t function, file, line;
    } expected[] = {{one, 3, 1}, {two, 4, 20}, {unused, DEBUG_NONE, 0}, {known, 7, 1}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        assert_int_equal(info.functions.at[expected[i].function].file, expected[i].file);
        assert_int_equal(info.functions.at[expected[i].function].line, expected[i].line);
    }
}

/* Only a declaration says that functions of two units are the same. */
TEST(test_function_table)
{
    struct function_table table = {0};
    struct unit_scopes unit = {0};
    const struct found_function f = {
        .name = "f", .file = 3, .line = 4, .offset = 5, .prefix = NO_PREFIX};
    const struct found_function local = {
        .name = "lambda", .file = DEBUG_NONE, .offset = 6, .prefix = NO_PREFIX};
    struct found_function second = local;
    second.offset = 7;
    vec_push(&unit.functions, f);
    vec_push(&unit.functions, local);
    vec_push(&unit.functions, second);
    uint32_t numbers[2][3];
    for (int i = 0; i < 2; i++)
        function_table_add(&table, &unit, numbers[i]);
    assert_int_equal(numbers[0][0], numbers[1][0]);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < i; k++)
            assert_int_not_equal(numbers[i / 2][1 + i % 2], numbers[k / 2][1 + k % 2]);
    function_table_finish(&table, &info, 1);
    assert_int_equal(info.functions.n, 5);
    function_table_free(&table);
    unit_scopes_free(&unit);
}

/* ---- chains ---- */

TEST(test_chains)
{
    uint32_t f = debug_info_function(&info, "f", 0, 1), g = debug_info_function(&info, "g", 0, 2);
    uint32_t procedure = scope(f, DEBUG_NONE, 0);
    uint32_t one = scope(g, procedure, 5), copy = scope(g, procedure, 5);
    uint32_t elsewhere = scope(g, procedure, 6), deep = scope(f, copy, 7);
    struct inline_chains chains = {0};
    inline_chains_reset(&chains, &info);
    assert_int_equal(inline_chains_of_scope(&chains, DEBUG_NONE), EMPTY_CHAIN);
    assert_int_equal(inline_chains_of_scope(&chains, procedure), EMPTY_CHAIN);
    uint32_t a = inline_chains_of_scope(&chains, one), b = inline_chains_of_scope(&chains, deep);
    assert_int_equal(inline_chains_of_scope(&chains, copy), a); /* a copy has the same chain */
    uint32_t c = inline_chains_of_scope(&chains, elsewhere);
    assert_int_not_equal(c, a);
    assert_int_equal(chains.all.at[b].depth, 2);
    assert_int_equal(inline_chains_prefix(&chains, b, 1), a);
    assert_int_equal(inline_chains_prefix(&chains, b, 0), EMPTY_CHAIN);
    assert_int_equal(inline_chains_common(&chains, a, b), a);
    assert_int_equal(inline_chains_common(&chains, b, a), a);
    assert_int_equal(inline_chains_common(&chains, b, c), EMPTY_CHAIN);
    assert_int_equal(inline_chains_common(&chains, b, b), b);
    inline_chains_free(&chains);
}

/* ---- tables of several units ---- */

/* Adds rows of a table that has these two files; its program names the second file first. */
static void merge_table(uint64_t begin, const char *first, const char *second, uint32_t ids[3])
{
    struct debug_info part = {0};
    ids[0] = DEBUG_NONE;
    ids[1] = strtab_id(&part.files, first);
    ids[2] = strtab_id(&part.files, second);
    debug_info_add_line(&part, begin, ids[2], 1);
    debug_info_add_line(&part, begin + 8, ids[1], 2);
    debug_info_end_sequence(&part, begin + 16, &image);
    debug_info_add_line(&part, begin + 16, DEBUG_NONE, 0);
    debug_info_add_line(&part, begin + 24, ids[1], 3);
    debug_info_end_sequence(&part, begin + 32, &image);
    debug_info_merge_lines(&info, &part, ids, 3);
    assert_int_equal(part.raw_lines.n, 0);
}

TEST(test_merge_lines)
{
    uint32_t one[3], two[3];
    merge_table(0x1100, "a", "b", one);
    merge_table(0x1000, "c", "a", two);
    assert_int_equal(info.files.count, 3);
    assert_int_equal(one[0], DEBUG_NONE);
    assert_string_equal(strtab_string(&info.files, one[1]), "a");
    assert_string_equal(strtab_string(&info.files, one[2]), "b");
    assert_string_equal(strtab_string(&info.files, two[1]), "c");
    assert_int_equal(two[2], one[1]);
    debug_info_finish(&info, 1);
    const struct line_row expected[] = {
        {0x1000, two[2], 1},     {0x1008, two[1], 2},     {0x1010, DEBUG_NONE, 0},
        {0x1018, two[1], 3},     {0x1020, DEBUG_NONE, 0}, {0x1100, one[2], 1},
        {0x1108, one[1], 2},     {0x1110, DEBUG_NONE, 0}, {0x1118, one[1], 3},
        {0x1120, DEBUG_NONE, 0},
    };
    assert_int_equal(info.lines.n, 10);
    for (size_t i = 0; i < info.lines.n; i++) {
        assert_int_equal(info.lines.at[i].address, expected[i].address);
        assert_int_equal(info.lines.at[i].file, expected[i].file);
        assert_int_equal(info.lines.at[i].line, expected[i].line);
    }
}
