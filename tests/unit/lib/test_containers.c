#include "tests/unit/cmocka_suite.h"

#include "lib/alloc.h"
#include "lib/binary-search.h"
#include "lib/hash-tables.h"

TEST(vec_keeps_what_was_pushed)
{
    VEC(int) v = {0};
    for (int i = 0; i < 1000; i++)
        vec_push(&v, i * i);
    assert_int_equal(v.n, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(v.at[i], i * i);
    vec_free(&v);
    assert_null(v.at);
}

/* Of all sizes, some of them larger than a block. */
TEST(pool_keeps_what_was_written)
{
    enum { COUNT = 3000 };
    struct mem_pool pool = {0};
    static unsigned char *taken[COUNT];
    static size_t sizes[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        sizes[i] = i % 1000 == 999 ? (size_t)3 << 20 : i * 7 % 5000;
        taken[i] = mem_pool_take(&pool, sizes[i]);
        assert_int_equal((uintptr_t)taken[i] % _Alignof(max_align_t), 0);
        memset(taken[i], (int)(i % 251), sizes[i]);
    }
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < sizes[i]; k++)
            if (taken[i][k] != i % 251)
                fail_msg("byte %zu of %zu", k, i);
    mem_pool_free(&pool);
    assert_null(pool.blocks.at);
}

TEST(idmap_finds_what_was_put)
{
    struct idmap map = {0};
    assert_int_equal(idmap_get(&map, 1, 2), IDMAP_NONE);
    for (uint32_t i = 0; i < 20000; i++)
        idmap_put(&map, i / 7, (uint64_t)i << 40, i);
    idmap_put(&map, 0, 0, 77);
    for (uint32_t i = 1; i < 20000; i++)
        assert_int_equal(idmap_get(&map, i / 7, (uint64_t)i << 40), i);
    assert_int_equal(idmap_get(&map, 0, 0), 77);
    assert_int_equal(idmap_get(&map, 1, 1), IDMAP_NONE);
    assert_int_equal(map.count, 20000);
    idmap_free(&map);
}

TEST(strtab_gives_dense_ids)
{
    struct strtab table = {0};
    char text[32];
    assert_int_equal(strtab_find(&table, ""), UINT32_MAX);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 5000; i++) {
            snprintf(text, sizeof text, "name %u", i);
            assert_int_equal(strtab_id(&table, text), i);
        }
    assert_string_equal(strtab_string(&table, 4321), "name 4321");
    assert_int_equal(strtab_find(&table, "name 4999"), 4999);
    assert_int_equal(strtab_find(&table, "name 5000"), UINT32_MAX);
    strtab_free(&table);
}

TEST(partition_point_is_the_first_that_fails)
{
    static const unsigned sorted[] = {1, 3, 3, 3, 7};
    for (size_t n = 0; n <= 5; n++)
        for (unsigned key = 0; key < 9; key++) {
            size_t below = 0, up_to = 0;
            for (size_t i = 0; i < n; i++) {
                below += sorted[i] < key;
                up_to += sorted[i] <= key;
            }
            assert_int_equal(partition_point(i, n, sorted[i] < key), below);
            assert_int_equal(partition_point(i, n, sorted[i] <= key), up_to);
        }
}
