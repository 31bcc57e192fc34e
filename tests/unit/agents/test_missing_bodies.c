/* agents/common/missing-bodies.h: a body is missing if its caller has called another function. */
#include "tests/unit/cmocka_suite.h"

#include "agents/common/missing-bodies.h"

/* Functions begin at multiples of this; there is none below. */
#define FUNCTION 0x100000u

static unsigned asked;

static uint64_t function(const struct agent_cursor *cursor, uint64_t pc)
{
    asked++;
    return pc / FUNCTION * FUNCTION;
}

static const struct agent_host host = {.function = function};

static uint64_t missing(uint64_t body, uint64_t pc)
{
    return missing_body(&host, NULL, body, pc);
}

STEP(begin)
{
    missing_bodies_forget();
    asked = 0;
}

TEST(a_body_that_was_called_is_not_missing)
{
    assert_int_equal(missing(FUNCTION, FUNCTION), 0);
    assert_int_equal(missing(FUNCTION, FUNCTION + 5), 0);
    assert_int_equal(missing(FUNCTION, 2 * FUNCTION - 1), 0); /* far from its begin */
}

TEST(a_body_is_missing_if_another_function_was_called)
{
    assert_int_equal(missing(2 * FUNCTION, FUNCTION + 5), 2 * FUNCTION);
    assert_int_equal(missing(2 * FUNCTION, 3 * FUNCTION), 2 * FUNCTION);
}

TEST(without_knowledge_nothing_is_missing)
{
    assert_int_equal(missing(0, FUNCTION + 5), 0);
    assert_int_equal(asked, 0);
    assert_int_equal(missing(2 * FUNCTION, FUNCTION - 1), 0); /* in no function */
}

/* An address has the same answer while its module stays. */
TEST(the_host_is_asked_once)
{
    for (unsigned i = 1; i < 4; i++) {
        assert_int_equal(missing(FUNCTION, FUNCTION + 5), 0);
        assert_int_equal(missing(3 * FUNCTION + 100, 3 * FUNCTION + 5), 3 * FUNCTION + 100);
        assert_int_equal(asked, 2);
    }
    missing_bodies_forget();
    missing(FUNCTION, FUNCTION + 5);
    assert_int_equal(asked, 3);
}

/* More addresses than there is room for, at the same distances from a body and from others. */
TEST(every_address_has_its_own_answer)
{
    for (int round = 0; round < 2; round++)
        for (uint64_t i = 1; i < 3000; i++) {
            uint64_t other = FUNCTION + i;
            assert_int_equal(missing(FUNCTION, FUNCTION + 16 * i), 0);
            assert_int_equal(missing(other, other + 16 * i), other);
        }
}

EACH_TEST(begin, NULL);
