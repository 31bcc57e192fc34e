/* The code addresses that agents have claimed: found, refused if they overlap, and given up. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/logical/claims.h"

#define CLAIMED 0x20000u

TEST(claims_are_found_and_given_up)
{
    const struct agent_claim claim = {CLAIMED, CLAIMED + 100, 0};
    assert_true(claims_add(0, &claim, 1));
    const struct agent_claim bad[] = {{CLAIMED + 50, CLAIMED + 150, 0}, /* overlaps */
                                      {CLAIMED + 500, CLAIMED + 500, 0}};
    assert_false(claims_add(0, &bad[0], 1));
    assert_false(claims_add(0, &bad[1], 1));
    for (uint64_t i = 0; i < 100; i++) {
        uint64_t start = 0x100000 + i * 37 % 100 * 32;
        assert_true(claims_add(1 + i % 3, &(struct agent_claim){start, start + 16, 0}, 1));
    }
    for (uint64_t i = 0; i < 100; i++) {
        assert_int_equal(claims_agent(0x100000 + i * 37 % 100 * 32), 1 + i % 3);
        assert_int_equal(claims_agent(0x10000f + i * 37 % 100 * 32), 1 + i % 3);
        assert_int_equal(claims_agent(0x100010 + i * 37 % 100 * 32), -1);
    }
    claims_remove(0x100000, 0x100000 + 50 * 32);
    for (uint64_t i = 0; i < 100; i++)
        assert_int_equal(claims_agent(0x100000 + i * 32) >= 0, i >= 50);
    assert_int_equal(claims_agent(CLAIMED), 0);
}

TEST(many_are_claimed_at_once_or_none)
{
    struct agent_claim many[1000], found;
    for (uint32_t i = 0; i < 1000; i++) {
        uint64_t start = 0x200000 + i * 61 % 1000 * 32;
        many[i] = (struct agent_claim){start, start + 16, i};
    }
    many[1000 - 1].end += 17; /* into the next one */
    assert_false(claims_add(2, many, 1000));
    assert_int_equal(claims_agent(many[0].start), -1);
    many[1000 - 1].end -= 17;
    assert_true(claims_add(2, many, 1000));
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(claims_agent(many[i].start), 2);
        assert_true(claims_find(2, many[i].end - 1, &found));
        assert_int_equal(found.start, many[i].start);
        assert_int_equal(found.end, many[i].end);
        assert_int_equal(found.tag, i);
        assert_false(claims_find(1, many[i].start, &found));
        assert_false(claims_find(2, many[i].end, &found));
    }
    claims_remove(0x200000, 0x200000 + 1000 * 32);
    assert_false(claims_find(2, many[0].start, &found));
}
