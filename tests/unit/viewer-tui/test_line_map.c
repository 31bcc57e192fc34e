#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/compare/edits.h"

#include "lib/alloc.h"

/* A text whose lines are letters. */
static struct file_lines text_of(const char *letters)
{
    struct file_lines text = {.n = (uint32_t)strlen(letters)};
    text.bytes = mem_alloc(2 * text.n + 1);
    text.at = mem_alloc((text.n + 1) * sizeof *text.at);
    for (uint32_t i = 0; i < text.n; i++) {
        text.bytes[2 * i] = letters[i];
        text.at[i] = text.bytes + 2 * i;
    }
    return text;
}

static struct line_map map_of(const char *left, const char *right)
{
    struct file_lines texts[] = {text_of(left), text_of(right)};
    struct line_map map;
    line_map_make(&map, &texts[0], &texts[1]);
    file_lines_free(&texts[0]);
    file_lines_free(&texts[1]);
    return map;
}

/* `expected` has for each line of the left text the one on the right, 0 for none. */
static void check(const char *left, const char *right, const uint32_t *expected)
{
    struct line_map map = map_of(left, right);
    for (uint32_t line = 1; line <= map.n_left; line++)
        assert_int_equal(map.to_right[line], expected[line - 1]);
    line_map_free(&map);
}

TEST(lines_are_found_again)
{
    check("", "abc", NULL);
    check("abc", "", (uint32_t[]){0, 0, 0});
    check("abc", "abc", (uint32_t[]){1, 2, 3});
    check("abc", "xabyc", (uint32_t[]){2, 3, 5});
    check("abcd", "acxd", (uint32_t[]){1, 0, 2, 4});
    check("abc", "axc", (uint32_t[]){1, 0, 3});
}

TEST(what_moved_is_in_one_place_only)
{
    /* Of b and cde, the longer one stays. */
    check("abcdef", "acdebf", (uint32_t[]){1, 0, 2, 3, 4, 6});
}

TEST(lines_that_occur_often_are_found_by_their_neighbors)
{
    check("{a}{b}{c}", "{x}{a}{b}y{c}", (uint32_t[]){1, 5, 6, 7, 8, 9, 11, 12, 13});
    check("{{{", "{{{{", (uint32_t[]){1, 2, 3});
}

/* Of random texts of few different lines: pairs are of equal lines, do not cross, go both ways. */
TEST(pairs_are_sound)
{
    srand(1);
    for (int round = 0; round < 2000; round++) {
        char texts[2][31] = {"", ""};
        int letters = 1 + rand() % 12;
        for (int side = 0; side < 2; side++)
            for (int i = rand() % 30; i > 0; i--)
                texts[side][i - 1] = 'a';
        for (int side = 0; side < 2; side++)
            for (char *at = texts[side]; *at; at++)
                *at = (char)('a' + rand() % letters);
        struct line_map map = map_of(texts[0], texts[1]);
        uint32_t last = 0, n_pairs = 0, n_back = 0;
        for (uint32_t line = 1; line <= map.n_left; line++) {
            uint32_t right = map.to_right[line];
            if (!right)
                continue;
            assert_true(right > last && right <= map.n_right);
            assert_int_equal(texts[0][line - 1], texts[1][right - 1]);
            assert_int_equal(map.to_left[right], line);
            last = right;
            n_pairs++;
        }
        for (uint32_t line = 1; line <= map.n_right; line++)
            n_back += map.to_left[line] != 0;
        assert_int_equal(n_pairs, n_back);
        line_map_free(&map);
    }
}
