/* Notes of ELF segments: sound ones are found, and nothing behind the segment is read. */
#include "tests/unit/cmocka_suite.h"

#include "lib/elf-notes.h"

#include <sys/mman.h>
#include <unistd.h>

/* A segment that ends where memory ends. */
static uint8_t *page, *page_end;
static size_t size;

static int make_page(void **state)
{
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    page = mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page_end = page + bytes;
    return page == MAP_FAILED || mprotect(page_end, bytes, PROT_NONE) != 0;
}

/* Sets the segment: `count` bytes, those of two notes as far as they fit. */
static const uint8_t *make(uint32_t name_size, uint32_t data_size, size_t count)
{
    static uint8_t notes[64];
    const Elf64_Nhdr first = {.n_namesz = 4, .n_descsz = 8, .n_type = 1},
                     second = {.n_namesz = name_size, .n_descsz = data_size, .n_type = 2};
    memset(notes, 0, sizeof notes);
    memcpy(notes, &first, sizeof first);
    memcpy(notes + 12, "GNU\0abcdefgh", 12);
    memcpy(notes + 24, &second, sizeof second);
    memcpy(notes + 36, "mine\0\0\0\0hello", 13);
    size = count;
    memcpy(page_end - size, notes, size);
    return page_end - size;
}

static const char *found(const uint8_t *segment, const char *owner, size_t expected)
{
    size_t bytes = 0;
    const char *data = elf_note_find(segment, size, 4, owner, &bytes);
    if (data)
        assert_int_equal(bytes, expected);
    return data;
}

TEST(notes_are_found)
{
    const uint8_t *segment = make(5, 5, 52);
    assert_memory_equal(found(segment, "GNU", 8), "abcdefgh", 8);
    assert_memory_equal(found(segment, "mine", 5), "hello", 5);
    assert_null(found(segment, "min", 0));
    assert_null(found(segment, "other", 0));
}

TEST(data_of_eight_bytes_alignment)
{
    static const uint8_t segment[] = "\4\0\0\0\10\0\0\0\1\0\0\0GNU\0abcdefgh";
    size_t bytes;
    assert_memory_equal(elf_note_find(segment, 24, 8, "GNU", &bytes), "abcdefgh", 8);
}

/* The search for another owner ends with the segment. */
TEST(the_last_padding_may_be_missing)
{
    const uint8_t *segment = make(5, 5, 49);
    assert_memory_equal(found(segment, "mine", 5), "hello", 5);
    assert_null(found(segment, "other", 0));
}

TEST(sizes_beyond_the_segment_end_the_search)
{
    static const uint32_t sizes[] = {17, 0x1000, 0x7fffffff, 0xfffffffc, 0xffffffff};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_null(found(make(sizes[i], 5, 52), "other", 0));
        assert_null(found(make(5, sizes[i], 52), "mine", 0));
    }
    assert_null(found(make(5, 5, 30), "mine", 0)); /* not even its sizes are whole */
    assert_null(found(make(5, 5, 0), "mine", 0));
}

ALL_TESTS(make_page, NULL);
