/* The index of .eh_frame that programs without .eh_frame_hdr get, against the linker's. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/outside/eh-frame-index.h"
#include "hpcrun/unwind/cfi.h"

#include <link.h>
#include <sys/mman.h>

static const uint8_t *section, *linkers; /* of this program */
static size_t section_size;
static uint64_t module_end;

/* The section, which .eh_frame_hdr points to, ends with a length of 0. */
static int find(struct dl_phdr_info *info, size_t size, void *data)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        uint64_t at = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_GNU_EH_FRAME)
            linkers = (const uint8_t *)at;
        if (segment->p_type == PT_LOAD && at + segment->p_memsz > module_end)
            module_end = at + segment->p_memsz;
    }
    int32_t distance;
    memcpy(&distance, linkers + 4, sizeof distance);
    section = linkers + 4 + distance;
    uint32_t length = 1;
    for (section_size = 0; length; section_size += 4 + length)
        memcpy(&length, section + section_size, sizeof length);
    return 1;
}

static int begin(void **state)
{
    return dl_iterate_phdr(find, NULL) == 1 ? 0 : -1;
}

ALL_TESTS(begin, NULL);

static uint64_t address_of(const void *at)
{
    return (uint64_t)(uintptr_t)at;
}

static const uint8_t *index_of(const uint8_t *at, size_t size, uint64_t address, size_t *bytes)
{
    return eh_frame_index(&(struct eh_frame_copy){at, size, address}, 1, module_end, bytes);
}

/* Every address of code has the same rules by both. */
TEST(rules_are_those_of_the_linkers_index)
{
    static struct cfi_index ours, theirs;
    static struct cfi_scratch scratch;
    size_t bytes, found = 0;
    uint8_t *copy = malloc(section_size);
    memcpy(copy, section, section_size);
    const uint8_t *index =
        index_of(copy, section_size, address_of(section), &bytes);
    assert_non_null(index);
    assert_true(address_of(index) > module_end && address_of(index) - module_end < INT32_MAX);
    assert_true(cfi_open(&ours, index) && cfi_open(&theirs, linkers));
    assert_int_equal(ours.count, theirs.count);
    for (uint64_t pc = address_of(linkers) - 0x40000; pc < address_of(linkers); pc += 7) {
        const struct cfi_row *row = cfi_row_at(pc, &theirs, &scratch);
        struct cfi_row expected = row ? *row : (struct cfi_row){.start = 0};
        bool is_there = row;
        row = cfi_row_at(pc, &ours, &scratch);
        assert_int_equal(row != NULL, is_there);
        found += is_there;
        if (row)
            assert_memory_equal(row, &expected, sizeof expected);
    }
    assert_true(found > 100);
    munmap((void *)(uintptr_t)index, bytes);
    free(copy);
}

/* Damaged sections: no read outside of the copy, which ends at a page that can't be read. */
TEST(damage)
{
    size_t room = (section_size + 4095) / 4096 * 4096, bytes;
    uint8_t *pages =
        mmap(NULL, room + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(pages != MAP_FAILED && mprotect(pages + room, 4096, PROT_NONE) == 0);
    uint8_t *copy = pages + room - section_size;
    srand(1);
    for (int i = 0; i < 2000; i++) {
        memcpy(copy, section, section_size);
        for (int k = 0; k < 3; k++)
            copy[(size_t)rand() % section_size] = (uint8_t)(rand() % 4 ? rand() : 0xff);
        size_t cut = i % 2 ? (size_t)rand() % section_size : 0;
        const uint8_t *index = index_of(copy + cut, section_size - cut,
                                        address_of(section) + cut, &bytes);
        if (index)
            munmap((void *)(uintptr_t)index, bytes);
    }
    munmap(pages, room + 4096);
}

TEST(nothing_to_index)
{
    static const uint8_t end[4];
    size_t bytes;
    assert_null(index_of(end, sizeof end, address_of(end), &bytes));
    assert_null(index_of(end, 0, address_of(end), &bytes));
}
