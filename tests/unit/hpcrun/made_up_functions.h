/* A test includes this before a source file of hooks. The hooks then call `any_function`, which the test defines, and
 * not libc's functions. */
#ifndef TESTS_UNIT_HPCRUN_MADE_UP_FUNCTIONS_H
#define TESTS_UNIT_HPCRUN_MADE_UP_FUNCTIONS_H

#define HPCRUN_BASE_HOOK_H

#define HOOK
#define REAL_FUNCTION(name)
#define REAL_VERSION(name, version)
#define REAL(name) ((__typeof__(&name))any_function)

#include "tests/unit/cmocka_suite.h"

/* volatile: the compiler would refuse to call a function that it knows as one of another type. */
static void *volatile any_function;

#endif
