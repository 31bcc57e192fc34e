#include "tests/unit/cmocka_suite.h"

#include "hpcprof/modules/load-modules.h"

#include <string.h>

static uint32_t add(struct modules *modules, const char *path, const char *build_id, uint64_t size,
                    uint64_t hash)
{
    const struct measurement_module instance = {
        .path = (char *)path,
        .build_id = (uint8_t *)build_id,
        .build_id_size = strlen(build_id),
        .file_size = size,
        .header_hash = hash,
    };
    return modules_add(modules, &instance);
}

static void a_build_id_is_one_module_wherever_it_lies(void **state)
{
    (void)state;
    struct modules modules = {0};
    assert_int_equal(add(&modules, "/b/lib.so", "\xab\x01", 10, 1), 0);
    assert_int_equal(add(&modules, "/a/lib.so", "\xab\x01", 20, 2), 0);
    assert_int_equal(add(&modules, "/b/lib.so", "\xab\x01", 10, 1), 0);
    assert_int_equal(add(&modules, "/b/lib.so", "\xab\x02", 10, 1), 1);
    modules_sort_paths(&modules);
    assert_string_equal(modules.all.at[0].build_id, "ab01");
    assert_string_equal(modules.all.at[0].path, "/a/lib.so");
    assert_int_equal(modules.all.at[0].paths.n, 2);
    modules_free(&modules);
}

static void without_build_id_path_size_and_hash_count(void **state)
{
    (void)state;
    struct modules modules = {0};
    assert_int_equal(add(&modules, "/lib.so", "", 10, 1), 0);
    assert_int_equal(add(&modules, "/lib.so", "", 10, 1), 0);
    assert_int_equal(add(&modules, "/lib.so", "", 11, 1), 1);
    assert_int_equal(add(&modules, "/lib.so", "", 10, 2), 2);
    assert_int_equal(add(&modules, "/other.so", "", 10, 1), 3);
    modules_free(&modules);
}

static void what_one_instance_was_the_module_is(void **state)
{
    (void)state;
    struct modules modules = {0};
    struct measurement_module instance = {
        .path = "[vdso]", .build_id = (uint8_t *)"x", .build_id_size = 1};
    modules_add(&modules, &instance);
    assert_false(modules.all.at[0].used || modules.all.at[0].is_vdso);
    instance.used = true;
    instance.flags = MODULE_VDSO;
    modules_add(&modules, &instance);
    instance.used = false;
    instance.flags = 0;
    assert_int_equal(modules_add(&modules, &instance), 0);
    assert_true(modules.all.at[0].used && modules.all.at[0].is_vdso);
    modules_free(&modules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_build_id_is_one_module_wherever_it_lies),
        cmocka_unit_test(without_build_id_path_size_and_hash_count),
        cmocka_unit_test(what_one_instance_was_the_module_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
