#include "tests/unit/cmocka_suite.h"

#include "hpcprof/modules/load-modules.h"

static uint32_t add(struct load_modules *modules, const char *path, const char *build_id,
                    uint64_t size, uint64_t hash)
{
    const struct measurement_module instance = {
        .path = (char *)path,
        .build_id = (uint8_t *)build_id,
        .build_id_size = strlen(build_id),
        .file_size = size,
        .header_hash = hash,
    };
    return load_modules_add(modules, &instance);
}

TEST(a_build_id_identifies_a_module_at_any_path)
{
    struct load_modules modules = {0};
    assert_int_equal(add(&modules, "/b/lib.so", "\xab\x01", 10, 1), 0);
    assert_int_equal(add(&modules, "/a/lib.so", "\xab\x01", 20, 2), 0);
    assert_int_equal(add(&modules, "/b/lib.so", "\xab\x01", 10, 1), 0);
    assert_int_equal(add(&modules, "/b/lib.so", "\xab\x02", 10, 1), 1);
    load_modules_sort_paths(&modules);
    assert_string_equal(modules.all.at[0].build_id, "ab01");
    assert_string_equal(modules.all.at[0].path, "/a/lib.so");
    assert_int_equal(modules.all.at[0].paths.n, 2);
    load_modules_free(&modules);
}

TEST(without_build_id_path_size_and_hash_count)
{
    struct load_modules modules = {0};
    assert_int_equal(add(&modules, "/lib.so", "", 10, 1), 0);
    assert_int_equal(add(&modules, "/lib.so", "", 10, 1), 0);
    assert_int_equal(add(&modules, "/lib.so", "", 11, 1), 1);
    assert_int_equal(add(&modules, "/lib.so", "", 10, 2), 2);
    assert_int_equal(add(&modules, "/other.so", "", 10, 1), 3);
    load_modules_free(&modules);
}

TEST(a_module_has_the_flags_of_all_its_instances)
{
    struct load_modules modules = {0};
    struct measurement_module instance = {
        .path = "[vdso]", .build_id = (uint8_t *)"x", .build_id_size = 1};
    load_modules_add(&modules, &instance);
    assert_false(modules.all.at[0].is_used || modules.all.at[0].is_vdso);
    instance.used = true;
    instance.flags = MODULE_VDSO | MODULE_REPLACED;
    load_modules_add(&modules, &instance);
    instance.used = false;
    instance.flags = 0;
    assert_int_equal(load_modules_add(&modules, &instance), 0);
    assert_true(modules.all.at[0].is_used && modules.all.at[0].is_vdso);
    assert_true(modules.all.at[0].is_replaced);
    load_modules_free(&modules);
}
