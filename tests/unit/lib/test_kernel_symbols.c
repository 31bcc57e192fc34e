/* Names of the kernel's procedures: what is saved, and what is read. */
#include "tests/unit/cmocka_suite.h"

#include "lib/alloc.h"
#include "lib/gzip.h"
#include "lib/kernel-symbols.h"

#include <stdlib.h>
#include <sys/mman.h>
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
    size_t size, text_size;
    struct kernel_procedures procedures = {0};
    struct seen seen = {0};
    char folder[] = "/tmp/hpctest-XXXXXX";
    kernel_procedures_read(&procedures, start);
    char *bytes = kernel_symbols_packed(&procedures, 9, &offset, 1, &size);
    assert_non_null(mkdtemp(folder));
    char *path = mem_printf("%s/h.kernel", folder);
    FILE *file = fopen(path, "w");
    for (unsigned times = 0; times < 2; times++)
        assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    char *text = gzip_read(path, 1 << 20, &text_size);
    assert_non_null(text);
    assert_false(kernel_symbols_are_all(text, 9));
    kernel_symbols_visit(text, text_size, 9, see, &seen);
    assert_int_equal(seen.n, 2);
    assert_int_equal(seen.last.begin, fork - start);
    char *name = mem_strndup(seen.last.name, seen.last.length);
    assert_int_equal(kallsyms_at(fork, name), 1);
    free(name);
    free(text);
    free(bytes);
    kernel_procedures_free(&procedures);
    assert_int_equal(unlink(path), 0);
    free(path);
    assert_int_equal(rmdir(folder), 0);
}

/* The kernel has the names of one address in any order, and its modules, too. */
TEST(procedures_of_this_kernel_are_sorted)
{
    uint64_t start = address_of("_stext");
    if (!start)
        skip();
    struct kernel_procedures procedures = {0};
    kernel_procedures_read(&procedures, start);
    assert_true(procedures.all.n > 1000);
    for (size_t i = 1; i < procedures.all.n; i++) {
        const struct kernel_procedure *its = &procedures.all.at[i], *before = its - 1;
        assert_true(before->offset < its->offset || (before->offset == its->offset && strcmp(before->name, its->name) <= 0));
    }
    kernel_procedures_free(&procedures);
}

/* The text that a packed file has; the caller frees. */
static char *unpacked(char *bytes, size_t size)
{
    char *text = mem_alloc(1024);
    z_stream stream = {.next_in = (unsigned char *)bytes, .avail_in = (unsigned)size,
                       .next_out = (unsigned char *)text, .avail_out = 1023};
    assert_int_equal(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
    assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
    inflateEnd(&stream);
    return text;
}

static void assert_found(const char *list, const uint64_t *offsets, size_t n, const char *expected)
{
    size_t size;
    char *bytes = kernel_symbols_found(list, strlen(list), 0x4d, offsets, n, &size);
    if (!expected) {
        assert_null(bytes);
        return;
    }
    assert_non_null(bytes);
    char *text = unpacked(bytes, size);
    assert_string_equal(text, expected);
    free(text);
    free(bytes);
}

/* Others may have a module's place later, so it is not listed, nor is what has no name; each ends what is before it all
 * the same. */
TEST(names_are_found_in_a_list_of_all_but_modules)
{
    struct kernel_procedures procedures = {0};
    size_t size;
    vec_push(&procedures.all, (struct kernel_procedure){0, "first"});
    vec_push(&procedures.all, (struct kernel_procedure){0x20, "second"});
    vec_push(&procedures.all, (struct kernel_procedure){0x20, "second_alias"});
    vec_push(&procedures.all, (struct kernel_procedure){0x100, "third"});
    vec_push(&procedures.all, (struct kernel_procedure){0x140, "read [ext4]"});
    vec_push(&procedures.all, (struct kernel_procedure){0x180, ""});
    vec_push(&procedures.all, (struct kernel_procedure){0x300000, "last"});
    char *list = kernel_symbols_listed(&procedures, 0x4d, &size);
    assert_int_equal(size, strlen(list));
    assert_string_equal(list, "kernel 4d\n0 20 first\n20 e0 second\n100 40 third\n300000 10000 last\n");
    assert_found(list, (uint64_t[]){0}, 1, "kernel 4d\n0 20 first\n");
    assert_found(list, (uint64_t[]){0x1f, 0x20, 0x21, 0xff, 0x13f}, 5,
                 "kernel 4d\n0 20 first\n20 e0 second\n100 40 third\n");
    assert_found(list, (uint64_t[]){0x100, 0x30ffff}, 2, "kernel 4d\n100 40 third\n300000 10000 last\n");
    assert_found(list, (uint64_t[]){0x100, 0x140}, 2, NULL);
    assert_found(list, (uint64_t[]){0x310000}, 1, NULL);
    free(list);
    vec_free(&procedures.all);
}

TEST(other_lists_have_no_names)
{
    const uint64_t offset = 0x30;
    assert_found("kernel 4d\n10 40 a\n", &offset, 1, "kernel 4d\n10 40 a\n");
    assert_found("kernel 4e\n10 40 a\n", &offset, 1, NULL);
    assert_found("kernel 4\n10 40 a\n", &offset, 1, NULL);
    assert_found("kernel 4d\n", &offset, 1, NULL);
    assert_found("kernel 4d\n10 40 a", &offset, 1, NULL);
    assert_found("kernel 4d\n40 40 a\n", &offset, 1, NULL);
    assert_found("kernel 4d\n10\n", &offset, 1, NULL);
    assert_found("kernel 4d\n\n\n", &offset, 1, NULL);
    assert_found("", &offset, 1, NULL);
}

/* It is a file in memory: nothing may be after it. */
TEST(a_list_is_not_read_beyond_its_end)
{
    static const char list[] = "kernel 4d\n10 40 a\n50";
    const uint64_t offset = 0x60;
    size_t page = (size_t)sysconf(_SC_PAGESIZE), length = strlen(list), size;
    char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    assert_int_equal(mprotect(pages + page, page, PROT_NONE), 0);
    memcpy(pages + page - length, list, length);
    assert_null(kernel_symbols_found(pages + page - length, length, 0x4d, &offset, 1, &size));
    munmap(pages, 2 * page);
}

TEST(a_file_may_have_all_names_of_a_boot)
{
    assert_true(kernel_symbols_are_all("kernel 9\n10 20 a\nkernel 9 all\n10 20 a\n", 9));
    assert_true(kernel_symbols_are_all("kernel 9 all\n", 9));
    assert_false(kernel_symbols_are_all("kernel 9\n10 20 kernel 9 all\n", 9));
    assert_false(kernel_symbols_are_all("kernel 19 all\n", 9));
    struct kernel_procedures none = {0};
    size_t size;
    char *bytes = kernel_symbols_packed(&none, 0x4d, NULL, 0, &size), *header = unpacked(bytes, size);
    assert_true(kernel_symbols_are_all(header, 0x4d));
    free(header);
    free(bytes);
}
