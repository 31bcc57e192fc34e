#include "tests/unit/cmocka_suite.h"

#include "hpcprof/modules/structure-image.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    struct structure *s = structure_read_cached(path, &cause);
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

static void assert_same_scope(const struct structure_scope *a, const struct structure_scope *b)
{
    assert_int_equal(a->parent, b->parent);
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->function, b->function);
    assert_int_equal(a->file, b->file);
    assert_int_equal(a->line, b->line);
    assert_int_equal(a->address, b->address);
    assert_int_equal(a->pauses, b->pauses);
    assert_int_equal(a->is_stub, b->is_stub);
}

static void assert_same(const struct structure *a, const struct structure *b)
{
    assert_same_strings(&a->names, &b->names);
    assert_same_strings(&a->files, &b->files);
    assert_same_strings(&a->directories, &b->directories);
    assert_same_strings(&a->overhead_kinds, &b->overhead_kinds);
    assert_int_equal(a->functions.n, b->functions.n);
    for (size_t i = 0; i < a->functions.n; i++) {
        const struct structure_function *x = &a->functions.at[i], *y = &b->functions.at[i];
        assert_true(x->name == y->name && x->file == y->file && x->line == y->line &&
                    x->entry == y->entry);
    }
    assert_int_equal(a->scopes.n, b->scopes.n);
    for (size_t i = 0; i < a->scopes.n; i++)
        assert_same_scope(&a->scopes.at[i], &b->scopes.at[i]);
    assert_int_equal(a->statements.n, b->statements.n);
    assert_memory_equal(a->statements.at, b->statements.at,
                        a->statements.n * sizeof *a->statements.at);
    assert_int_equal(a->waits.n, b->waits.n);
    assert_memory_equal(a->waits.at, b->waits.at, a->waits.n * sizeof *a->waits.at);
    assert_int_equal(a->calls.n, b->calls.n);
    assert_memory_equal(a->calls.at, b->calls.at, a->calls.n * sizeof *a->calls.at);
    assert_int_equal(a->has_lines, b->has_lines);
    assert_int_equal(a->n_units, b->n_units);
    assert_int_equal(a->n_unoptimized, b->n_unoptimized);
}

static void test_an_image_is_what_the_file_is(void **state)
{
    (void)state;
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

/* ---- when the image is used ---- */

static void test_the_image_stands_for_the_file(void **state)
{
    (void)state;
    begin(3);
    assert_int_equal(line_read(), 3);
    write_file(4); /* of the same size */
    set_time(1000);
    assert_int_equal(line_read(), 3);
}

static void test_another_file_has_another_image(void **state)
{
    (void)state;
    begin(3);
    assert_int_equal(line_read(), 3);
    write_file(4);
    set_time(1001);
    assert_int_equal(line_read(), 4);
    write_file(5);
    set_time(1001);
    assert_int_equal(line_read(), 4); /* the image was written again */
}

static void test_small_files_have_none(void **state)
{
    (void)state;
    begin(3);
    FILE *file = fopen(path, "wb");
    fprintf(file, "<LM><F n=\"/a\"><P v=\"{[0x1000-0x1010)}\"><S l=\"9\" v=\"{[0x1000-0x1010)}\"/></P></F></LM>");
    fclose(file);
    assert_int_equal(line_read(), 9);
    assert_int_equal(access(image_path, F_OK), -1);
}

static void test_no_file(void **state)
{
    (void)state;
    char *cause = NULL;
    assert_null(structure_read_cached("/nonexistent", &cause));
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
static void test_damaged_images_are_written_again(void **state)
{
    (void)state;
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
static void test_impossible_numbers(void **state)
{
    (void)state;
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
        FILE *file = fmemopen(bytes, size, "r");
        struct structure *s = structure_image_read(file, &key);
        for (size_t i = 0; s && i < s->statements.n; i++)
            assert_true(structure_procedure(s, s->statements.at[i].scope) < s->scopes.n);
        structure_free(s);
        fclose(file);
        memcpy(bytes + at, old, 4);
    }
    free(bytes);
}

static int start(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/file.hpcstruct", folder);
    snprintf(image_path, sizeof image_path, "%s.image", path);
    return 0;
}

static int finish(void **state)
{
    (void)state;
    unlink(path);
    unlink(image_path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_image_is_what_the_file_is),
        cmocka_unit_test(test_the_image_stands_for_the_file),
        cmocka_unit_test(test_another_file_has_another_image),
        cmocka_unit_test(test_small_files_have_none),
        cmocka_unit_test(test_no_file),
        cmocka_unit_test(test_damaged_images_are_written_again),
        cmocka_unit_test(test_impossible_numbers),
    };
    return cmocka_run_group_tests(tests, start, finish);
}
