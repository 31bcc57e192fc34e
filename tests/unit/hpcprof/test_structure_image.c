#include "tests/unit/cmocka_suite.h"

#include "hpcprof/modules/structure-image.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/test_structure_image.XXXXXX";
static char path[64], image_path[80];

/* ---- a structure file ---- */

#define PROCEDURES 400

/* Procedures of 64 bytes from 0x1000 on; `line` is that of each one's first statement. The name of the
 * first procedure is longer than any that hpcstruct writes. */
static void write_file(unsigned line)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fprintf(file, "<HPCToolkitStructure i=\"0\" version=\"4.9\" n=\"\"><LM i=\"1\" n=\"/p\" u=\"1/2\">"
                  "<D n=\"/s\"/><F n=\"/s/a.c\">");
    for (unsigned i = 0; i < PROCEDURES; i++) {
        unsigned at = 0x1000 + 64 * i;
        fprintf(file, "<P n=\"procedure_%0*u\" l=\"%u\" v=\"{[0x%x-0x%x)}\" w=\"{[0x%x-0x%x)}\">",
                i == 0 ? 100000 : 1, i, 10 + i, at, at + 64, at + 2, at + 4);
        fprintf(file, "<S l=\"%05u\" v=\"{[0x%x-0x%x)}\" o=\"spawn\"/>", line, at, at + 16);
        fprintf(file, "<L l=\"5\" v=\"{[0x%x-0x%x)}\" w=\"{}\"><A l=\"7\" f=\"/s/a.c\" n=\"\">", at + 16,
                at + 17);
        fprintf(file, "<A l=\"4\" f=\"/s/b.h\" n=\"inlined\"><S l=\"8\" v=\"{[0x%x-0x%x)}\"/></A></A></L>",
                at + 16, at + 64);
        fprintf(file, "<C v=\"{[0x%x-0x%x)}\" t=\"0x1000\"/></P>", at + 20, at + 24);
    }
    fprintf(file, "</F></LM></HPCToolkitStructure>");
    assert_int_equal(fclose(file), 0);
}

static void set_time(long seconds)
{
    const struct timespec times[2] = {{.tv_sec = seconds}, {.tv_sec = seconds}};
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static struct structure *read_cached(void)
{
    char *cause = NULL;
    struct structure *s = structure_read_cached(path, NULL, &cause);
    assert_non_null(s);
    assert_null(cause);
    return s;
}

/* The line of the first statement of a structure that is read now. */
static uint32_t line_read(void)
{
    struct structure *s = read_cached();
    uint32_t line = structure_find(s, 0x1000)->line;
    structure_free(s);
    return line;
}

/* A new file of that line, and no image. */
static void begin(unsigned line)
{
    write_file(line);
    set_time(1000);
    unlink(image_path);
}

/* ---- what is read ---- */

static void assert_same_strings(const struct strtab *a, const struct strtab *b)
{
    assert_int_equal(a->count, b->count);
    for (uint32_t i = 0; i < a->count; i++)
        assert_string_equal(strtab_string(a, i), strtab_string(b, i));
}

/* Files and functions may have other numbers. */
static void assert_same_file(const struct structure *a, uint32_t x, const struct structure *b,
                             uint32_t y)
{
    assert_int_equal(x == STRUCTURE_NONE, y == STRUCTURE_NONE);
    if (x != STRUCTURE_NONE)
        assert_string_equal(strtab_string(&a->files, x), strtab_string(&b->files, y));
}

static void assert_same_function(const struct structure *a, uint32_t i, const struct structure *b,
                                 uint32_t k)
{
    const struct structure_function *x = &a->functions.at[i], *y = &b->functions.at[k];
    assert_string_equal(strtab_string(&a->names, x->name), strtab_string(&b->names, y->name));
    assert_same_file(a, x->file, b, y->file);
    assert_true(x->line == y->line && x->entry == y->entry);
}

static void assert_same_scope(const struct structure *a, uint32_t i, const struct structure *b,
                              uint32_t k)
{
    const struct structure_scope *x = &a->scopes.at[i], *y = &b->scopes.at[k];
    assert_int_equal(x->kind, y->kind);
    if (x->kind != SCOPE_LOOP)
        assert_same_function(a, x->function, b, y->function);
    assert_same_file(a, x->file, b, y->file);
    assert_int_equal(x->line, y->line);
    assert_int_equal(x->address, y->address);
    assert_int_equal(x->pauses, y->pauses);
    assert_int_equal(x->is_stub, y->is_stub);
    assert_int_equal(x->parent == STRUCTURE_NONE, y->parent == STRUCTURE_NONE);
    if (x->parent != STRUCTURE_NONE)
        assert_same_scope(a, x->parent, b, y->parent);
}

static void assert_same_statement(const struct structure *a, const struct structure_statement *x,
                                  const struct structure *b, const struct structure_statement *y)
{
    assert_true(x->begin == y->begin && x->end == y->end && x->line == y->line &&
                x->overhead == y->overhead);
    assert_same_file(a, x->file, b, y->file);
    assert_same_scope(a, x->scope, b, y->scope);
}

static void assert_same_module(const struct structure *a, const struct structure *b)
{
    assert_same_strings(&a->directories, &b->directories);
    assert_same_strings(&a->overhead_kinds, &b->overhead_kinds);
    assert_int_equal(a->waits.n, b->waits.n);
    assert_memory_equal(a->waits.at, b->waits.at, a->waits.n * sizeof *a->waits.at);
    assert_int_equal(a->calls.n, b->calls.n);
    assert_memory_equal(a->calls.at, b->calls.at, a->calls.n * sizeof *a->calls.at);
    assert_int_equal(a->has_lines, b->has_lines);
    assert_int_equal(a->n_units, b->n_units);
    assert_int_equal(a->n_unoptimized, b->n_unoptimized);
}

static void assert_same(const struct structure *a, const struct structure *b)
{
    assert_same_module(a, b);
    assert_int_equal(a->names.count, b->names.count);
    assert_int_equal(a->files.count, b->files.count);
    assert_int_equal(a->functions.n, b->functions.n);
    assert_int_equal(a->scopes.n, b->scopes.n);
    assert_int_equal(a->statements.n, b->statements.n);
    for (size_t i = 0; i < a->statements.n; i++)
        assert_same_statement(a, &a->statements.at[i], b, &b->statements.at[i]);
}

TEST(test_an_image_is_what_the_file_is)
{
    begin(3);
    char *cause = NULL;
    struct structure *parsed = structure_read(fopen(path, "rbe"), &cause), *first = read_cached();
    assert_int_equal(parsed->calls.n, PROCEDURES);
    assert_int_equal(parsed->waits.n, PROCEDURES);
    assert_int_equal(parsed->n_unoptimized, 1);
    assert_same(first, parsed);
    assert_int_equal(access(image_path, F_OK), 0);
    struct structure *second = read_cached();
    assert_same(second, parsed);
    structure_free(parsed);
    structure_free(first);
    structure_free(second);
}

/* The procedures at some addresses are those of the file, and no other ones are there. */
TEST(test_some_procedures)
{
    /* In three procedures, twice in one; before all, and after all. */
    static uint64_t addresses[] = {0x10, 0x1000, 0x1000 + 64 * 7, 0x103f + 64 * 7,
                                   0x1020 + 64 * (PROCEDURES - 1), 0x1000 + 64 * PROCEDURES};
    const struct address_set only = {{addresses, 6, 6}};
    begin(3);
    char *cause = NULL;
    struct structure *parsed = structure_read(fopen(path, "rbe"), &cause);
    structure_free(read_cached());
    struct structure *s = structure_read_cached(path, &only, &cause);
    assert_non_null(s);
    assert_same_module(s, parsed);
    assert_int_equal(s->scopes.n, 3 * 3);
    assert_int_equal(s->functions.n, 3 + 1); /* procedures, and the one that is inlined in each */
    assert_int_equal(s->statements.n, 3 * 2);
    for (size_t i = 0; i < s->statements.n; i++)
        assert_same_statement(s, &s->statements.at[i], parsed,
                              structure_find(parsed, s->statements.at[i].begin));
    for (size_t i = 1; i < 5; i++)
        assert_non_null(structure_find(s, addresses[i]));
    assert_null(structure_find(s, 0x1040));
    structure_free(parsed);
    structure_free(s);
}

/* ---- when the image is used ---- */

TEST(test_the_image_stands_for_the_file)
{
    begin(3);
    assert_int_equal(line_read(), 3);
    write_file(4); /* of the same size */
    set_time(1000);
    assert_int_equal(line_read(), 3);
}

TEST(test_another_file_has_another_image)
{
    begin(3);
    assert_int_equal(line_read(), 3);
    write_file(4);
    set_time(1001);
    assert_int_equal(line_read(), 4);
    write_file(5);
    set_time(1001);
    assert_int_equal(line_read(), 4); /* the image was written again */
}

TEST(test_small_files_have_none)
{
    begin(3);
    FILE *file = fopen(path, "wb");
    fprintf(file, "<LM><F n=\"/a\"><P v=\"{[0x1000-0x1010)}\"><S l=\"9\" v=\"{[0x1000-0x1010)}\"/></P></F></LM>");
    fclose(file);
    assert_int_equal(line_read(), 9);
    assert_int_equal(access(image_path, F_OK), -1);
}

TEST(test_no_file)
{
    char *cause = NULL;
    assert_null(structure_read_cached("/nonexistent", NULL, &cause));
    assert_string_equal(cause, "No such file or directory");
    free(cause);
}

/* ---- damage ---- */

/* The image's bytes; the caller frees. */
static char *image_bytes(size_t *size)
{
    struct stat status;
    assert_int_equal(stat(image_path, &status), 0);
    char *bytes = malloc((size_t)status.st_size);
    FILE *file = fopen(image_path, "rb");
    *size = fread(bytes, 1, (size_t)status.st_size, file);
    fclose(file);
    assert_int_equal(*size, status.st_size);
    return bytes;
}

static void write_image(const char *bytes, size_t size)
{
    unlink(image_path);
    FILE *file = fopen(image_path, "wb");
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

/* What was cut or is too long is not used. */
TEST(test_damaged_images_are_written_again)
{
    begin(3);
    line_read();
    size_t size;
    char *bytes = image_bytes(&size);
    for (unsigned i = 0; i < 40; i++) {
        write_image(bytes, size * i / 40);
        write_file(4);
        set_time(1000);
        assert_int_equal(line_read(), 4);
        write_file(5);
        set_time(1000);
        assert_int_equal(line_read(), 4); /* of the new image */
    }
    char *longer = calloc(size + 1, 1);
    memcpy(longer, bytes, size);
    write_image(longer, size + 1);
    assert_int_equal(line_read(), 5);
    free(longer);
    free(bytes);
}

/* Any number that is replaced by the largest one is either noticed, or does no harm. */
TEST(test_impossible_numbers)
{
    static uint64_t addresses[] = {0x1000, 0x1000 + 64 * 100, 0x1000 + 64 * 399};
    const struct address_set set = {{addresses, 3, 3}}, *const only[] = {NULL, &set};
    begin(3);
    line_read();
    size_t size;
    char *bytes = image_bytes(&size);
    struct image_key key;
    memcpy(&key, bytes + 8, sizeof key);
    for (size_t at = 0; at + 4 <= size; at += 61) { /* every field of some element */
        char old[4];
        memcpy(old, bytes + at, 4);
        memset(bytes + at, 0xff, 4);
        for (size_t k = 0; k < 2; k++) {
            struct structure *s =
                structure_image_read((const uint8_t *)bytes, size, &key, only[k]);
            for (size_t i = 0; s && i < s->statements.n; i++)
                assert_true(structure_procedure(s, s->statements.at[i].scope) < s->scopes.n);
            structure_free(s);
        }
        memcpy(bytes + at, old, 4);
    }
    free(bytes);
}

static int start(void **state)
{
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/file.hpcstruct", folder);
    snprintf(image_path, sizeof image_path, "%s.image", path);
    return 0;
}

static int finish(void **state)
{
    unlink(path);
    unlink(image_path);
    return rmdir(folder);
}

ALL_TESTS(start, finish);
