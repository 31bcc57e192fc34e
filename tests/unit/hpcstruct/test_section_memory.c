/* Memory of debug sections that have been read is given back. */
#include "tests/unit/cmocka_suite.h"

#include "hpcstruct/elf/elf-image.h"

/* Bytes of the mapping at an address that are in memory. */
static size_t resident(const void *address)
{
    char line[512];
    unsigned long begin, end, kilobytes = 0;
    bool is_inside = false;
    FILE *maps = fopen("/proc/self/smaps", "re");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
            is_inside = (uintptr_t)address >= begin && (uintptr_t)address < end;
        else if (is_inside && sscanf(line, "Rss: %lu kB", &kilobytes) == 1)
            break;
    }
    fclose(maps);
    return (size_t)kilobytes * 1024;
}

TEST(test_release)
{
    char *cause = NULL;
    struct elf_image *image = elf_open("/proc/self/exe", &cause);
    assert_non_null(image);
    struct elf_bytes info = elf_section_data(image, elf_section(image, ".debug_info"), &cause);
    volatile uint8_t sum = 0;
    for (size_t i = 0; i < info.size; i++)
        sum = (uint8_t)(sum + info.at[i]);
    size_t before = resident(info.at), two_pages = 2 * 4096;
    assert_true(before >= info.size && info.size > 10 * two_pages);
    elf_release_bytes(image, info.at, info.at + info.size);
    assert_true(resident(info.at) <= before - info.size + two_pages);
    elf_release_bytes(image, (const uint8_t *)&before, (const uint8_t *)(&before + 1));
    sum = info.at[0]; /* is read again */
    elf_release_debug_sections(image);
    assert_true(resident(info.at) <= before - info.size + two_pages);
    elf_close(image);
}
