/* What every cmocka program includes: cmocka, and what most need of the C library.
 *
 *     TEST(name) { ... }                  a test; main() in cmocka_suite.c runs them in the order of the file
 *     TEST_WITH(begin, end, name) { ... } one between two functions, each of which may be NULL
 *     EACH_TEST(begin, end);              what the other tests of the program are between
 *     ALL_TESTS(begin, end);              what all together are between
 *     STEP(name) { ... }                  such a function, if nothing in it can fail but by an assertion */
#ifndef TESTS_UNIT_CMOCKA_SUITE_H
#define TESTS_UNIT_CMOCKA_SUITE_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern const CMFixtureFunction suite_each[2], suite_all[2];
#define EACH_TEST(begin, end) const CMFixtureFunction suite_each[2] = {begin, end}
#define ALL_TESTS(begin, end) const CMFixtureFunction suite_all[2] = {begin, end}

void suite_add(struct CMUnitTest test);
int suite_run(void); /* the status of main() */

#define STEP(name)                                                                                 \
    static void step_##name(void);                                                                 \
    static int name(void **state)                                                                  \
    {                                                                                              \
        step_##name();                                                                             \
        return 0;                                                                                  \
    }                                                                                              \
    static void step_##name(void)

#define TEST(name) TEST_WITH(suite_each[0], suite_each[1], name)
#define TEST_WITH(begin, end, name)                                                                \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void add_##name(void)                                      \
    {                                                                                              \
        suite_add((struct CMUnitTest){#name, name, begin, end, NULL});                             \
    }                                                                                              \
    static void name(void **state)

#endif
