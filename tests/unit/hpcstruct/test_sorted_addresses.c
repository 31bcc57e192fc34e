/* Sorting: lists of all lengths, in order and not. */
#include "tests/unit/cmocka_suite.h"

#include "hpcstruct/elf/sorted-addresses.h"

#define MOST 700

/* `count` addresses, some of them equal, of which the last `moved` come first. */
static void fill(uint64_t *addresses, size_t count, size_t moved)
{
    for (size_t i = 0; i < count; i++)
        addresses[(i + moved) % count] = 0x1000 + i / 3 * 16;
}

static void check_sorted(const uint64_t *addresses, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(addresses[i], 0x1000 + i / 3 * 16);
}

static void lists_of_addresses_are_sorted(void **state)
{
    (void)state;
    uint64_t addresses[MOST];
    for (size_t count = 0; count < MOST; count += 1 + count / 5)
        for (size_t moved = 0; moved < count; moved++) {
            fill(addresses, count, moved);
            sort_addresses(addresses, count);
            check_sorted(addresses, count);
        }
}

static void tables_are_sorted_wherever_they_are_not(void **state)
{
    (void)state;
    uint64_t addresses[MOST];
    for (size_t count = 0; count < MOST; count += 1 + count / 5)
        for (size_t moved = 0; moved < count; moved++) {
            fill(addresses, count, moved);
            sort_table(addresses, count, sizeof *addresses, compare_addresses);
            check_sorted(addresses, count);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_of_addresses_are_sorted),
        cmocka_unit_test(tables_are_sorted_wherever_they_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
