/* What every cmocka program includes, in the order that cmocka asks for. */
#ifndef TESTS_UNIT_CMOCKA_SUITE_H
#define TESTS_UNIT_CMOCKA_SUITE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
