/* Sorting: lists of all lengths, in order and not. */
#include "tests/unit/cmocka_suite.h"

#include "hpcstruct/elf/sorted-addresses.h"

#define MOST 700

typedef void sorter(uint64_t *addresses, size_t count);

/* The address at an index of a sorted list: some addresses are in it several times. */
static uint64_t address_at(size_t index)
{
    return 0x1000 + index / 3 * 16;
}

/* Sorts lists whose second part, which begins anywhere, has come before the first. */
static void check(sorter *sort)
{
    uint64_t addresses[MOST];
    for (size_t count = 0; count < MOST; count += 1 + count / 5)
        for (size_t moved = 0; moved < count; moved++) {
            for (size_t i = 0; i < count; i++)
                addresses[(i + moved) % count] = address_at(i);
            sort(addresses, count);
            for (size_t i = 0; i < count; i++)
                assert_int_equal(addresses[i], address_at(i));
        }
}

static void sort_as_table(uint64_t *addresses, size_t count)
{
    sort_table(addresses, count, sizeof *addresses, compare_addresses);
}

TEST(addresses_are_sorted)
{
    check(sort_addresses);
}

TEST(tables_are_sorted)
{
    check(sort_as_table);
}
