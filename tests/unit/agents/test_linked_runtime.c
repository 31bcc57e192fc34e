/* agents/common/linked-runtime.h on this program, whose functions have a known order. */
#include "tests/unit/cmocka_suite.h"

#include "agents/common/linked-runtime.h"

#define BYTES 16 /* of each */
#define FUNCTION(name, binding)                                                                    \
    "." binding " " name "; .type " name ", @function; " name ": .fill 16, 1, 0x90; .size " name   \
    ", 16;"

/* runtime_a, a static function and runtime_b form one range, runtime_c and runtime_e one each;
 * runtime_d is not listed. runtime_b has other names, too. */
#define ALIAS(name, of)                                                                            \
    ".globl " name "; .type " name ", @function; .set " name ", " of "; .size " name ", 16;"

__asm__(".text;" FUNCTION("user_before", "globl") FUNCTION("static_before", "local")
            FUNCTION("runtime_a", "globl") FUNCTION("static_of_runtime", "local")
                FUNCTION("runtime_b", "hidden") FUNCTION("static_after", "local")
                    FUNCTION("user_after", "globl") FUNCTION("runtime_c", "globl")
                        FUNCTION("runtime_d", "globl") FUNCTION("runtime_e", "globl")
                            FUNCTION("runtime_end",
                                     "globl") ".globl runtime_b;" ALIAS("a_name_of_b", "runtime_b")
                                ALIAS("z_name_of_b", "runtime_b"));

extern char user_before[], user_after[], runtime_a[], runtime_b[], runtime_c[], runtime_e[];
extern char __executable_start;

static struct agent_module program(void)
{
    return (struct agent_module){.bias = (uint64_t)&__executable_start, .path = ""};
}

static void assert_range(const struct agent_claim *claim, const char *first, const char *last)
{
    assert_int_equal(claim->start, (uint64_t)first);
    assert_int_equal(claim->end, (uint64_t)last + BYTES);
    assert_int_equal(claim->tag, 7);
}

TEST(what_is_between_its_functions_is_the_runtimes)
{
    static const char *const names[] = {"runtime_e", "runtime_a",  "runtime_b",
                                        "runtime_c", "not_linked", NULL};
    struct agent_module module = program();
    size_t count;
    struct agent_claim *claims = linked_runtime(&module, names, 7, &count);
    assert_int_equal(count, 3);
    assert_range(&claims[0], runtime_a, runtime_b);
    assert_range(&claims[1], runtime_c, runtime_c);
    assert_range(&claims[2], runtime_e, runtime_e);
    free(claims);
}

TEST(a_program_without_it_has_none)
{
    static const char *const names[] = {"not_linked", "static_of_runtime", NULL};
    struct agent_module module = program();
    size_t count;
    assert_null(linked_runtime(&module, names, 7, &count));
    module.path = "/nowhere";
    assert_null(linked_runtime(&module, names, 7, &count));
}
