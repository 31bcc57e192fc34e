/* Load modules that come and go: by the loader's own table of them, and by ours, for a glibc before 2.35. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/code/module-instances.h"

#include <dlfcn.h>
#include <link.h>

/* A library of glibc that nothing here needs. */
#define LIBRARY "libBrokenLocale.so.1"

static int begin(void **state)
{
    const struct known_code known = {.own = (uintptr_t)begin};
    return modules_init("/program", &known) ? 0 : -1;
}

STEP(end)
{
    module_ranges_use_own_table(false);
}

static int compare_code(struct dl_phdr_info *info, size_t size, void *count)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
            continue;
        const uint64_t first = info->dlpi_addr + segment->p_vaddr;
        const uint64_t places[] = {first, first + segment->p_memsz - 1};
        for (int k = 0; k < 2; k++) {
            struct module_range ours = {0}, loaders = {0};
            assert_true(module_range_find(places[k], &ours));
            module_ranges_use_own_table(false);
            assert_true(module_range_find(places[k], &loaders));
            module_ranges_use_own_table(true);
            assert_int_equal(ours.start, loaders.start);
            assert_int_equal(ours.end, loaders.end);
            assert_int_equal(ours.bias, loaders.bias);
            assert_string_equal(ours.name, loaders.name);
            assert_ptr_equal(ours.eh_frame_hdr, loaders.eh_frame_hdr);
        }
        ++*(int *)count;
    }
    return 0;
}

/* Its code has the ips of a module; what it hides, or what lies far from it, has one. */
TEST(the_kernel_is_a_module)
{
    const uint64_t start = 0xffffffff81000000;
    uint32_t id = modules_end();
    modules_add_kernel(start, 77);
    assert_int_equal(ip_instance(modules_kernel_ip(start + 0x123)), id);
    assert_int_equal(ip_offset(modules_kernel_ip(start + 0x123)), 0x123);
    assert_int_equal(ip_offset(modules_kernel_ip(0xfffffe0000001000)), 0);
    assert_int_equal(modules_get(id)->flags, MODULE_KERNEL);
    assert_int_equal(modules_get(id)->hash, 77);
    assert_string_equal(modules_get(id)->path, KERNEL_MODULE);
    assert_true(modules_get(id)->start == 0 && modules_get(id)->bias == 0);
    modules_add_kernel(0, 77);
    assert_int_equal(ip_offset(modules_kernel_ip(start + 0x123)), 0);
}

TEST(our_table_says_what_the_loader_says)
{
    int count = 0;
    struct module_range range;
    module_ranges_use_own_table(true);
    dl_iterate_phdr(compare_code, &count);
    assert_in_range(count, 4, 100); /* this program, cmocka, libc, the loader */
    assert_false(module_range_find(1, &range));
    assert_false(module_range_find(UINT64_MAX, &range));
    assert_true(module_range_find((uint64_t)begin, &range));
    assert_true(module_range_find(range.end - 1, &range));
    const uint64_t after = range.end;
    assert_false(module_range_find(after, &range) && range.start < after);
}

static uint64_t first_address(void *library)
{
    struct link_map *map = NULL;
    assert_non_null(library);
    assert_int_equal(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
    return map->l_addr;
}

/* Its instance; 0: it is in no module. */
static uint32_t instance_at(uint64_t address)
{
    struct module_range range;
    if (!module_range_find(address, &range))
        return 0;
    const uint64_t ip = modules_ip(address + 8, &range);
    assert_int_equal(ip_offset(ip), address + 8 - range.bias);
    assert_int_equal(modules_ip(address, &range), ip - 8);
    return ip_instance(ip);
}

TEST(each_load_has_an_instance_of_its_own)
{
    uint32_t before = 0, others = instance_at((uint64_t)begin);
    for (int i = 0; i < 4; i++) {
        module_ranges_use_own_table(i % 2);
        void *library = dlopen(LIBRARY, RTLD_NOW);
        const uint64_t address = first_address(library);
        module_ranges_refresh();
        const uint32_t instance = instance_at(address), generation = modules_generation();
        assert_in_range(instance, before + 1, modules_end() - 1);
        assert_non_null(strstr(modules_get(instance)->path, LIBRARY));
        assert_int_equal(modules_get(instance)->start, address);
        assert_int_equal(modules_get(instance)->generation, generation);
        modules_unload_begin();
        assert_int_equal(modules_generation(), generation + 1);
        dlclose(library);
        modules_unload_end();
        assert_int_equal(modules_generation(), generation + 2);
        assert_int_equal(instance_at(address), 0);
        assert_int_equal(instance_at((uint64_t)begin), others);
        before = instance;
    }
    assert_string_equal(modules_get(others)->path, "/program");
    assert_null(modules_get(modules_end()));
}

ALL_TESTS(begin, end);
