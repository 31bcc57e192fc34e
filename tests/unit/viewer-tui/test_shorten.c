#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/base/shorten.h"

#include <locale.h>

typedef void shorten(const char *text, size_t columns, bool ascii, struct text *out);

static void check(shorten *shorten, const char *text, size_t columns, bool ascii,
                  const char *expected)
{
    struct text out = {0};
    text_add(&out, "before "); /* stays */
    shorten(text, columns, ascii, &out);
    assert_memory_equal(text_string(&out), "before ", 7);
    assert_string_equal(text_string(&out) + 7, expected);
    vec_free(&out);
}

TEST(what_fits_stays)
{
    check(shorten_path, "/usr/lib/libc.so", 16, true, "/usr/lib/libc.so");
    check(shorten_name, "f(int)", 6, true, "f(int)");
    check(shorten_name, "f(int)", SIZE_MAX, true, "f(int)");
    check(shorten_path, "", 0, true, "");
    check(shorten_name, "", 0, true, "");
}

TEST(paths_lose_their_first_folders)
{
    const char *path = "/usr/lib/x86/libc.so";
    check(shorten_path, path, 18, true, ".../x86/libc.so");
    check(shorten_path, path, 15, true, ".../x86/libc.so");
    check(shorten_path, path, 14, true, ".../libc.so");
    check(shorten_path, path, 14, false, "…/x86/libc.so");
    check(shorten_path, path, 3, true, ".../libc.so"); /* the name stays */
    check(shorten_path, path, 0, true, ".../libc.so");
    check(shorten_path, "/libc.so", 3, true, "/libc.so");
    check(shorten_path, "a.out", 3, true, "a.out");
    check(shorten_path, "/build/folder/", 9, true, ".../folder/");
}

TEST(names_lose_their_innermost_arguments_first)
{
    const char *name = "std::map<int, std::vector<char> >::find(int const&)";
    check(shorten_name, name, 50, true, "std::map<int, std::vector<...> >::find(int const&)");
    check(shorten_name, name, 49, true, "std::map<...>::find(...)");
    check(shorten_name, name, 40, false, "std::map<…>::find(…)");
    check(shorten_name, name, 3, true, "std::map<...>::find(...)");
    check(shorten_name, "f(int) const [clone .cold]", 1, true, "f(int) const [clone .cold]");
    check(shorten_name, "f(int) const [clone .cold]", 1, false, "f(…) const [clone .cold]");
}

TEST(brackets_that_hold_no_arguments_stay)
{
    check(shorten_name, "<whole program>", 3, true, "<whole program>");
    check(shorten_name, "(anonymous namespace)::f(long)", 3, true, "(anonymous namespace)::f(...)");
    check(shorten_name, "<Vec<Item> as Clone>::clone", 3, true, "<Vec<...> as Clone>::clone");
    check(shorten_name, "zstd.(*Encoder).Write", 3, true, "zstd.(*Encoder).Write");
    check(shorten_name, "main.(*", 3, true, "main.(*");
    check(shorten_name, "a::operator()(long) const", 3, true, "a::operator()(...) const");
    check(shorten_name, "bool a::operator< <long>(long)", 3, true, "bool a::operator< <...>(...)");
    check(shorten_name, "a::operator<<(long)", 3, true, "a::operator<<(...)");
    check(shorten_name, "a<long>::operator->() const", 3, true, "a<...>::operator->() const");
    check(shorten_name, "my_operator<long>()", 3, true, "my_operator<...>()");
    check(shorten_name, "f<(Enum)1, (a < b)>::g()", 3, true, "f<...>::g()");
}

TEST(the_middle_is_left_out)
{
    const struct {
        const char *before, *after;
        size_t columns;
        bool ascii;
    } cases[] = {{"worker 71/73", "worker 71/73", 12, true}, {"assembler 71/73", "assem...1/73", 12, true},
                 {"assembler 71/73", "assemb…71/73", 12, false}, {"…………………", "…………", 4, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct text text = {0};
        text_add(&text, cases[i].before);
        shorten_middle(&text, cases[i].columns, cases[i].ascii);
        assert_string_equal(text_string(&text), cases[i].after);
        vec_free(&text);
    }
}

TEST(what_is_not_closed_stays)
{
    check(shorten_name, "f<long, long", 3, true, "f<long, long");
    check(shorten_name, "f(long)>)(", 3, true, "f(...)>)(");
    char deep[300];
    memset(deep, '<', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    check(shorten_name, deep, 3, true, deep);
}

int main(void)
{
    setlocale(LC_CTYPE, "C.UTF-8");
    return suite_run();
}
