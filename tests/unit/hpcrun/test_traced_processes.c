/* What the reader of perf's rings keeps of processes: their mappings. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/outside/traced-processes.h"

static void add(struct traced *process, uint64_t start, uint64_t end)
{
    struct perf_event_header record = {.size = sizeof record};
    traced_map_add(process, &(struct mapping){.start = start, .end = end}, &record);
}

static unsigned count(const struct traced *process)
{
    unsigned n = 0;
    for (const struct traced_map *map = process->maps; map; map = map->older)
        n++;
    assert_int_equal(n, process->map_count);
    return n;
}

/* A process that loads and unloads a library again and again: each mapping replaces what lay there, so no
 * process uses up the room of others. */
TEST(mappings_replace_each_other)
{
    struct traced *process = traced_add(1, 0);
    add(process, 0x1000, 0x2000);
    for (unsigned i = 0; i < 300000; i++)
        add(process, 0x10000 + i % 7 * 0x1000, 0x12000 + i % 7 * 0x1000);
    assert_in_range(count(process), 2, 5);
    struct traced *other = traced_add(2, 0);
    add(other, 0x1000, 0x2000);
    assert_int_equal(count(other), 1);
    traced_remove(other);
    traced_remove(process);
}

/* The child of a fork has its parent's mappings; what it maps there changes nothing for the parent. */
TEST(shared_mappings_stay)
{
    struct traced *parent = traced_add(1, 0), *child = traced_add(2, 0);
    add(parent, 0x1000, 0x2000);
    add(parent, 0x3000, 0x4000);
    traced_maps_share(child, parent);
    add(child, 0x3000, 0x4000);
    add(child, 0x3000, 0x5000);
    assert_int_equal(count(child), 3);
    assert_int_equal(count(parent), 2);
    traced_remove(parent);
    assert_int_equal(count(child), 3);
    assert_int_equal(child->maps->older->end, 0x4000);
    traced_remove(child);
}

/* One process can't take the room of all. */
TEST(each_has_a_limit)
{
    struct traced *process = traced_add(1, 0), *other = traced_add(2, 0);
    for (uint64_t i = 0; i < 300000; i++)
        add(process, i << 12, (i + 1) << 12);
    add(other, 0x1000, 0x2000);
    assert_int_equal(count(other), 1);
    traced_remove(process);
    traced_remove(other);
}
