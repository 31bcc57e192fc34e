#include "tests/unit/cmocka_suite.h"

#include "hpcprof/base/file-writer.h"

#include <fcntl.h>
#include <unistd.h>

static char path[64];

STEP(make_path)
{
    snprintf(path, sizeof path, "/tmp/test-file-writer-%d", (int)getpid());
}

static int remove_path(void **state)
{
    return unlink(path);
}

static size_t contents(uint8_t *into, size_t room)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t size = 0;
    for (ssize_t got; (got = read(fd, into + size, room - size)) > 0;)
        size += (size_t)got;
    close(fd);
    return size;
}

TEST(offsets_alignment_and_patches)
{
    struct file_writer file;
    unlink(path);
    file_create(&file, path);
    file_write_string(&file, "abc");
    assert_int_equal(file.offset, 4);
    assert_int_equal(file_align(&file, 4), 4);
    file_write(&file, "x", 1);
    assert_int_equal(file_align(&file, 8), 8);
    file_write(&file, "end", 3);
    file_patch(&file, 1, "BC", 2);
    file_write(&file, "!", 1);
    assert_int_equal(file.offset, 12);
    file_close(&file);
    uint8_t found[32];
    assert_int_equal(contents(found, sizeof found), 12);
    assert_memory_equal(found, "aBC\0x\0\0\0end!", 12);
}

/* Pieces smaller and larger than any buffer, patched while some are still in the buffer. */
TEST(pieces_of_all_sizes)
{
    enum { SIZE = 3 << 20 };
    uint8_t *bytes = malloc(SIZE), *found = malloc(SIZE + 1);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i * 2654435761u >> 13);
    struct file_writer file;
    unlink(path);
    file_create(&file, path);
    for (size_t at = 0, size = 1; at < SIZE; at += size, size = size * 5 % 700001 + 1) {
        size = size < SIZE - at ? size : SIZE - at;
        file_write(&file, bytes + at, size);
        if (at > 100) {
            bytes[at - 50] ^= 0xff;
            file_patch(&file, at - 50, bytes + at - 50, 1);
        }
    }
    assert_int_equal(file.offset, SIZE);
    file_close(&file);
    assert_int_equal(contents(found, SIZE + 1), SIZE);
    assert_memory_equal(found, bytes, SIZE);
    free(bytes);
    free(found);
}

/* Large data between small ones, by one thread and by several. */
TEST(several_threads)
{
    enum { SIZE = 9 << 20 };
    uint8_t *bytes = malloc(SIZE), *found = malloc(SIZE + 7);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i * 2654435761u >> 24);
    for (unsigned workers = 1; workers < 4; workers++) {
        struct file_writer file;
        unlink(path);
        file_create(&file, path);
        file_write(&file, "abc", 3);
        file_write_by(&file, bytes, SIZE, workers);
        file_write_by(&file, bytes, 0, workers);
        file_write(&file, "xyz", 3);
        assert_int_equal(file.offset, SIZE + 6);
        file_close(&file);
        assert_int_equal(contents(found, SIZE + 7), SIZE + 6);
        assert_memory_equal(found, "abc", 3);
        assert_memory_equal(found + 3, bytes, SIZE);
        assert_memory_equal(found + 3 + SIZE, "xyz", 3);
    }
    free(bytes);
    free(found);
}

ALL_TESTS(make_path, remove_path);
