/* hpcrun/code/module-list.h: copies of what the loader keeps of modules. The library that comes and goes
 * is simulated-copy-1.so. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/code/module-list.h"
#include "lib/elf-notes.h"

#include <dlfcn.h>
#include <link.h>

#define LIBRARY "simulated-copy-1.so"
#define OTHER   "simulated-copy-2.so"

static void *open_library(const char *name)
{
    void *library = dlopen(name, RTLD_NOW);
    assert_non_null(library);
    return library;
}

static struct module_list make_list(void)
{
    struct module_list list;
    assert_true(module_list_make(&list));
    return list;
}

/* Position of a module in a list; its number of modules: not there. */
static size_t find(const struct module_list *list, const char *name)
{
    size_t i = 0;
    while (i < list->count && !strstr(list->at[i].path, name))
        i++;
    return i;
}

/* Compares the next module of the list with what the loader says, until they differ. */
static int compare_next(struct dl_phdr_info *info, size_t size, void *data)
{
    const struct listed_module **next = data, *module = (*next)++;
    assert_string_equal(module->path, info->dlpi_name);
    assert_ptr_not_equal(module->path, info->dlpi_name);
    assert_int_equal(module->bias, info->dlpi_addr);
    unsigned notes = 0;
    bool starts = false, ends = false;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + segment->p_vaddr, end = start + segment->p_memsz;
        if (segment->p_type == PT_LOAD) {
            assert_true(start >= module->start && end <= module->end);
            starts |= start == module->start;
            ends |= end == module->end;
        } else if (segment->p_type == PT_NOTE) {
            const struct listed_notes *copy = &module->notes[notes++];
            assert_int_equal(copy->address, start);
            assert_int_equal(copy->bytes, segment->p_memsz);
            assert_memory_equal(copy->copy, (const void *)start, segment->p_memsz);
        }
    }
    assert_true(starts && ends);
    return 0;
}

TEST(a_list_has_what_the_loader_has)
{
    struct module_list list = make_list();
    const struct listed_module *next = list.at;
    dl_iterate_phdr(compare_next, &next);
    assert_ptr_equal(next, list.at + list.count);
    assert_string_equal(list.at[0].path, "");
    assert_int_equal(list.changes, module_list_changes());
    module_list_free(&list);
    assert_int_equal(list.count, 0);
}

TEST(a_list_stays_when_a_module_goes)
{
    size_t bytes;
    void *library = open_library(LIBRARY);
    struct module_list before = make_list();
    dlclose(library);
    assert_null(dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD));
    assert_int_not_equal(before.changes, module_list_changes());
    const struct listed_module *gone = &before.at[find(&before, LIBRARY)];
    assert_true(gone < before.at + before.count);
    bool has_build_id = false;
    for (unsigned i = 0; i < LISTED_NOTES; i++)
        has_build_id |= elf_note_find(gone->notes[i].copy, gone->notes[i].bytes,
                                      gone->notes[i].align, "GNU", &bytes) != NULL;
    assert_true(has_build_id);
    struct module_list after = make_list();
    assert_int_equal(find(&after, LIBRARY), after.count);
    module_list_free(&after);
    module_list_free(&before);
}

TEST(new_modules_come_last)
{
    void *first = open_library(LIBRARY), *second = open_library(OTHER);
    struct module_list before = make_list();
    dlclose(first);
    first = open_library(LIBRARY);
    struct module_list after = make_list();
    assert_true(find(&before, LIBRARY) < find(&before, OTHER));
    assert_true(find(&after, LIBRARY) == after.count - 1 && find(&after, OTHER) < after.count - 1);
    module_list_free(&after);
    module_list_free(&before);
    dlclose(first);
    dlclose(second);
}

/* Two libraries at the same addresses differ by path or by build-id. */
TEST(a_module_is_the_same_by_place_path_and_notes)
{
    struct module_list one = make_list(), two = make_list();
    assert_true(module_is_same(&one.at[0], &two.at[0]));
    struct listed_module other = two.at[0];
    other.end++;
    assert_false(module_is_same(&one.at[0], &other));
    other = two.at[0];
    other.path = "elsewhere";
    assert_false(module_is_same(&one.at[0], &other));
    other = two.at[0];
    for (unsigned i = 0; i < LISTED_NOTES; i++)
        if (other.notes[i].bytes > 0) {
            ((uint8_t *)other.notes[i].copy)[other.notes[i].bytes - 1]++;
            assert_false(module_is_same(&one.at[0], &other));
            ((uint8_t *)other.notes[i].copy)[other.notes[i].bytes - 1]--;
        }
    assert_true(module_is_same(&one.at[0], &other));
    module_list_free(&one);
    module_list_free(&two);
}
