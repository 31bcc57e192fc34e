/* Names of the kernel's procedures: what is saved, and what is read. */
#include "tests/unit/cmocka_suite.h"

#include "lib/alloc.h"
#include "lib/gzip.h"
#include "lib/kernel-symbols.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct seen {
    unsigned n;
    struct kernel_symbol last;
};

static void see(void *data, const struct kernel_symbol *symbol)
{
    struct seen *seen = data;
    assert_true(symbol->begin < symbol->end && symbol->length > 0);
    seen->n++;
    seen->last = *symbol;
}

static struct seen read_text(const char *text, uint64_t boot)
{
    struct seen seen = {0};
    kernel_symbols_visit(text, strlen(text), boot, see, &seen);
    return seen;
}

TEST(a_line_is_a_procedure)
{
    struct seen seen = read_text("kernel 4d\n10 20 first\nff00 8 ext4_read [ext4]", 0x4d);
    assert_int_equal(seen.n, 2);
    assert_int_equal(seen.last.begin, 0xff00);
    assert_int_equal(seen.last.end, 0xff08);
    assert_memory_equal(seen.last.name, "ext4_read [ext4]", seen.last.length);
    assert_int_equal(seen.last.length, strlen("ext4_read [ext4]"));
}

/* Several processes append; loadable modules have other addresses in another boot. */
TEST(names_of_another_boot_are_skipped)
{
    const char *text = "kernel 1\n10 20 a\nkernel 2\n10 20 b\nkernel 1\n40 20 c\n";
    assert_int_equal(read_text(text, 1).n, 2);
    assert_memory_equal(read_text(text, 2).last.name, "b", 1);
    assert_int_equal(read_text("10 20 a\n", 0).n, 0);
}

TEST(other_lines_are_skipped)
{
    assert_int_equal(read_text("kernel 1\n10\n10 20\n10 20 \n10 0 a\n x\n\nffffffffffffffff 2 a\n10 2\n0 b\n", 1).n, 0);
}

/* What /proc/kallsyms says, counted without the code under test. */
static unsigned kallsyms_at(uint64_t address, const char *name)
{
    FILE *file = fopen("/proc/kallsyms", "r");
    char line[512], found[256], type;
    unsigned long long at;
    unsigned n = 0;
    while (file && fgets(line, sizeof line, file))
        n += sscanf(line, "%llx %c %255s", &at, &type, found) == 3 && at == address && strcmp(found, name) == 0;
    if (file)
        fclose(file);
    return n;
}

static uint64_t address_of(const char *wanted)
{
    FILE *file = fopen("/proc/kallsyms", "r");
    char line[512], name[256], type;
    unsigned long long at, found = 0;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "%llx %c %255s", &at, &type, name) == 3 && strcmp(name, wanted) == 0)
            found = at;
    if (file)
        fclose(file);
    return found;
}

TEST(wanted_procedures_of_this_kernel_are_saved)
{
    uint64_t start = address_of("_stext"), fork = address_of("kernel_clone");
    if (!start || !fork)
        skip(); /* this user may not see addresses */
    uint64_t offset = fork + 4 - start;
    const struct kernel_wanted wanted = {.start = start, .boot = 9, .offsets = &offset, .n = 1};
    char folder[] = "/tmp/hpctest-XXXXXX";
    assert_non_null(mkdtemp(folder));
    int fd = open(folder, O_DIRECTORY | O_RDONLY);
    for (unsigned times = 1; times <= 2; times++) { /* it is appended */
        assert_true(kernel_symbols_save(fd, "h.kernel", false, &wanted));
        size_t size;
        char *path = mem_printf("%s/h.kernel", folder), *text = gzip_read(path, 1 << 20, &size);
        assert_non_null(text);
        struct seen seen = {0};
        kernel_symbols_visit(text, size, 9, see, &seen);
        assert_int_equal(seen.n, times);
        assert_int_equal(seen.last.begin, fork - start);
        char *name = mem_strndup(seen.last.name, seen.last.length);
        assert_int_equal(kallsyms_at(fork, name), 1);
        free(name);
        free(text);
        free(path);
    }
    assert_int_equal(unlinkat(fd, "h.kernel", 0), 0);
    close(fd);
    assert_int_equal(rmdir(folder), 0);
}
