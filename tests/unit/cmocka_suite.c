/* Runs the tests of a program, which add themselves before main. */
#include "tests/unit/cmocka_suite.h"

#include "tests/fuzz/promise.h"

#include <assert.h>

static struct CMUnitTest tests[64];
static size_t n;

__attribute__((weak)) const CMFixtureFunction suite_each[2], suite_all[2];

void suite_add(struct CMUnitTest test)
{
    assert(n < sizeof tests / sizeof *tests);
    tests[n++] = test;
}

int suite_run(void)
{
    return _cmocka_run_group_tests("tests", tests, n, suite_all[0], suite_all[1]);
}

/* A broken promise. */
_Noreturn void check_failed(const char *what)
{
    fail_msg("%s", what);
    abort();
}

__attribute__((weak)) int main(void)
{
    return suite_run();
}
