#include "tests/fuzz/reader-checks.h"
#include "tests/unit/cmocka_suite.h"
#include "tests/unit/hpcprof/made_image.h"

#include "hpcprof/modules/structure.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* The structure of the image that was made; with `only`, of some procedures. */
static struct structure *read_some(const struct address_set *only)
{
    size_t size;
    const uint8_t *bytes = made_image(&size);
    struct structure *s = structure_read(bytes, size, only);
    assert_non_null(s);
    return s;
}

static struct structure *read_made(void)
{
    return read_some(NULL);
}

static void assert_refused(void)
{
    size_t size;
    const uint8_t *bytes = made_image(&size);
    assert_null(structure_read(bytes, size, NULL));
}

/* A procedure of a single statement. */
static void add_simple(const char *name, const char *file, uint32_t line, uint64_t begin, uint64_t end)
{
    made_procedure(name, file, line, begin);
    made_fragment(begin, end);
    made_statement(0, file, file ? line : 0, begin, end, NULL);
}

/* ---- what an image says ---- */

/* The scopes around an address, innermost first, and its line: "loop a.c:3 < main = a.c:4". */
static const char *describe(const struct structure *s, uint64_t address)
{
    static char text[1024];
    const struct structure_statement *statement = structure_find(s, address);
    if (!statement)
        return "nothing";
    char *to = text;
    for (uint32_t i = statement->scope; i != STRUCTURE_NONE; i = s->scopes.at[i].parent) {
        const struct structure_scope *scope = &s->scopes.at[i];
        const char *file =
            scope->file == STRUCTURE_NONE ? "?" : strtab_string(&s->files, scope->file);
        if (scope->kind == SCOPE_LOOP)
            to += sprintf(to, "loop %s:%u < ", file, scope->line);
        else
            to +=
                sprintf(to, "%s", strtab_string(&s->names, s->functions.at[scope->function].name));
        if (scope->kind == SCOPE_INLINED)
            to += sprintf(to, " at %s:%u < ", file, scope->line);
    }
    sprintf(to, " = %s:%u",
            statement->file == STRUCTURE_NONE ? "?" : strtab_string(&s->files, statement->file),
            statement->line);
    return text;
}

TEST(facts_of_a_module)
{
    made_image_begin();
    add_simple("f", "/s/a.c", 2, 0x2000, 0x2010);
    made_wait(0x2004, 0x2007);
    add_simple("g", "/s/a.c", 3, 0x1000, 0x1010);
    made_wait(0x1004, 0x1007);
    made_call(0x100f, 0x2000);
    made_directory("/s");
    struct structure *s = read_made();
    assert_true(s->has_lines);
    assert_int_equal(s->n_units, 2);
    assert_int_equal(s->n_unoptimized, 1);
    assert_string_equal(strtab_string(&s->directories, 0), "/s");
    assert_true(structure_waits_at(s, 0x1006) && structure_waits_at(s, 0x2004));
    assert_false(structure_waits_at(s, 0x1007) || structure_waits_at(s, 0x2003));
    assert_int_equal(s->calls.n, 1);
    assert_true(s->calls.at[0].address == 0x100f && s->calls.at[0].target == 0x2000);
    structure_free(s);
}

TEST(functions_are_one_per_name_file_and_line)
{
    made_image_begin();
    add_simple("f", "/s/a.c", 2, 0x2000, 0x2010);
    add_simple("f", "/s/a.c", 2, 0x1000, 0x1010);
    add_simple("f", "/s/a.c", 3, 0x3000, 0x3010);
    add_simple("f", NULL, 0, 0x5000, 0x5010);
    add_simple("f", NULL, 0, 0x6000, 0x6010);
    struct structure *s = read_made();
    static const uint64_t entries[] = {0x1000, 0x3000, 0x5000, 0x6000};
    assert_int_equal(s->functions.n, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(s->functions.at[i].entry, entries[i]);
    structure_free(s);
}

/* The kind of overhead at an address; "" for none. */
static const char *kind_at(const struct structure *s, uint64_t address)
{
    uint32_t kind = structure_find(s, address)->overhead;
    return kind == STRUCTURE_NONE ? "" : strtab_string(&s->overhead_kinds, kind);
}

/* ---- some procedures ---- */

/* Twenty procedures of 64 bytes from 0x1000 on, each with a cold part at 0x9000, a loop and a call inlined in
 * that. */
static void make_many(void)
{
    static char names[20][16];
    made_image_begin();
    for (unsigned i = 0; i < 20; i++) {
        uint64_t at = 0x1000 + 64 * i, cold = 0x9000 + 16 * i;
        snprintf(names[i], sizeof names[i], "procedure_%u", i);
        made_procedure(names[i], "/s/a.c", 10 + i, at);
        made_fragment(at, at + 64);
        made_fragment(cold, cold + 16);
        made_statement(0, "/s/a.c", 3, at, at + 16, "spawn");
        made_statement(0, "/s/a.c", 9, cold, cold + 16, NULL);
        uint32_t loop = made_loop(0, "/s/a.c", 5, at + 16);
        made_statement(made_inlined(loop, "/s/a.c", 7, "inlined", "/s/b.h", 4), "/s/b.h", 8,
                       at + 16, at + 64, NULL);
        made_wait(at + 2, at + 4);
        made_call(at + 23, 0x1000);
    }
}

/* The procedures at some addresses are there, as in the whole structure, and no other ones. */
TEST(some_procedures)
{
    /* In three procedures: twice in one, in one's cold part; before all, and after all. */
    static uint64_t addresses[] = {0x10, 0x1000, 0x1000 + 64 * 7, 0x103f + 64 * 7, 0x9000 + 16 * 19,
                                   0x9000 + 16 * 20};
    const struct address_set only = {{addresses, 6, 6}};
    make_many();
    struct structure *s = read_some(&only);
    assert_int_equal(s->scopes.n, 3 * 3);
    assert_int_equal(s->functions.n, 3 + 1); /* procedures, and the one that is inlined in each */
    assert_int_equal(s->statements.n, 3 * 3);
    assert_string_equal(describe(s, 0x1000), "procedure_0 = /s/a.c:3");
    assert_string_equal(describe(s, 0x1010 + 64 * 7),
                        "inlined at /s/a.c:7 < loop /s/a.c:5 < procedure_7 = /s/b.h:8");
    assert_string_equal(describe(s, 0x1000 + 64 * 19), "procedure_19 = /s/a.c:3");
    assert_string_equal(describe(s, 0x9000 + 16 * 19), "procedure_19 = /s/a.c:9");
    assert_string_equal(describe(s, 0x1040), "nothing");
    assert_string_equal(kind_at(s, 0x1000), "spawn");
    assert_true(structure_waits_at(s, 0x1002));
    structure_free(s);
}

/* A function with two copies begins where its sampled one does; one without sampled copies, nowhere, as if
 * the structure lacked it. */
TEST(sampled_procedures_are_marked)
{
    static const uint64_t addresses[] = {0x2010, 0x20ff, 0x9999};
    for (int others_matter = 0; others_matter < 2; others_matter++) {
        made_image_begin();
        add_simple("f", "/s/a.c", 2, 0x1000, 0x1100);
        add_simple("f", "/s/a.c", 2, 0x2000, 0x2100);
        add_simple("g", "/s/a.c", 9, 0x3000, 0x3100);
        struct structure *s = read_made();
        structure_mark_sampled(s, addresses, 3, others_matter);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(s->scopes.at[i].is_sampled, i == 1);
        assert_int_equal(s->functions.n, 2);
        assert_int_equal(s->functions.at[0].entry, others_matter ? 0x1000 : 0x2000);
        assert_int_equal(s->functions.at[1].entry, others_matter ? 0x3000 : 0);
        structure_free(s);
    }
}

/* ---- addresses ---- */

/* Buckets of addresses: one, few of many statements, and as many as bits allow. */
TEST(addresses_are_found_wherever_they_are)
{
    static const struct structure_wait ranges[3][8] = {
        {{0, UINT64_MAX}},
        {{0, 1}, {0xfffffffffffffff0, 0xfffffffffffffff8}},
        {{0x10, 0x11}, {0x12, 0x13}, {0x13, 0x14}, {0x100000, 0x100001}, {0x11, 0x12}, {0x15, 0x18},
         {0xfffff, 0x100000}},
    };
    static const size_t counts[] = {1, 2, 7};
    for (size_t i = 0; i < 3; i++) {
        made_image_begin();
        made_procedure("f", NULL, 0, ranges[i][0].begin);
        for (size_t k = 0; k < counts[i]; k++)
            made_statement(0, NULL, 0, ranges[i][k].begin, ranges[i][k].end, NULL);
        made_fragment(0, UINT64_MAX);
        struct structure *s = read_made();
        assert_int_equal(s->statements.n, counts[i]);
        check_structure(s);
        structure_free(s);
    }
}

/* ---- damage ---- */

TEST(overlapping_statements_are_refused)
{
    made_image_begin();
    add_simple("f", "/s/a.c", 2, 0x1000, 0x1010);
    add_simple("g", "/s/a.c", 3, 0x100f, 0x1020);
    assert_refused();
}

/* A procedure that many fragments have in turn would take more memory than the image has. */
TEST(procedures_come_once)
{
    made_image_begin();
    made_procedure("f", NULL, 0, 0x1000);
    made_fragment(0x1000, 0x1001);
    made_procedure("g", NULL, 0, 0x2000);
    made_fragment(0x2000, 0x2001);
    size_t size;
    uint8_t *bytes = (uint8_t *)made_image(&size);
    struct structure *s = structure_read(bytes, size, NULL);
    assert_int_equal(s->scopes.n, 2);
    structure_free(s);
    const struct image_foot *foot = (const struct image_foot *)(bytes + size - sizeof *foot);
    struct image_fragment *fragments =
        (struct image_fragment *)(bytes + foot->sections[IMAGE_FRAGMENTS].at);
    uint64_t first = fragments[0].procedure;
    fragments[0].procedure = fragments[1].procedure;
    fragments[1].procedure = first;
    assert_null(structure_read(bytes, size, NULL));
}

/* Suffixes of one text would take more memory than the image has. */
TEST(strings_do_not_overlap)
{
    made_image_begin();
    made_directory("/first");
    made_directory("/second");
    size_t size;
    uint8_t *bytes = (uint8_t *)made_image(&size);
    const struct image_foot *foot = (const struct image_foot *)(bytes + size - sizeof *foot);
    uint64_t *starts = (uint64_t *)(bytes + foot->sections[IMAGE_DIRECTORIES].at);
    structure_free(structure_read(bytes, size, NULL));
    starts[1]++;
    assert_null(structure_read(bytes, size, NULL));
}

TEST(what_is_no_image_is_refused)
{
    make_many();
    size_t size;
    uint8_t *bytes = (uint8_t *)made_image(&size);
    for (size_t cut = 0; cut < size; cut += cut < 64 ? 1 : 61)
        assert_null(structure_read(bytes, cut, NULL));
    uint8_t *longer = calloc(size + 8, 1);
    size_t foot = size - sizeof(struct image_foot);
    memcpy(longer, bytes, size);
    assert_null(structure_read(longer, size + 8, NULL));
    memset(longer + foot, 0, 8);
    memcpy(longer + foot + 8, bytes + foot, size - foot);
    assert_null(structure_read(longer, size + 8, NULL));
    free(longer);
    bytes[9]++; /* another version */
    assert_null(structure_read(bytes, size, NULL));
    assert_null(structure_read_file(-1, NULL));
    int folder = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC), empty = memfd_create("empty", MFD_CLOEXEC);
    assert_null(structure_read_file(folder, NULL));
    assert_null(structure_read_file(empty, NULL));
    close(folder);
    close(empty);
}

/* Any number that is replaced by an impossible one is either noticed, or does no harm. */
TEST(impossible_numbers)
{
    static uint64_t addresses[] = {0x1000, 0x1000 + 64 * 10, 0x1000 + 64 * 19};
    const struct address_set set = {{addresses, 3, 3}}, *const only[] = {NULL, &set};
    static const uint32_t values[] = {0, 1, 2, UINT32_MAX, INT32_MAX};
    make_many();
    size_t size, refused = 0;
    uint8_t *bytes = (uint8_t *)made_image(&size);
    for (size_t at = 0; at + 4 <= size; at += 4)
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            uint32_t old;
            memcpy(&old, bytes + at, 4);
            memcpy(bytes + at, &values[i], 4);
            for (size_t k = 0; k < 2; k++) {
                struct structure *s = structure_read(bytes, size, only[k]);
                refused += !s;
                if (s)
                    check_structure(s);
                structure_free(s);
            }
            memcpy(bytes + at, &old, 4);
        }
    assert_true(refused > size / 4);
}

STEP(finish)
{
    made_image_free();
}

ALL_TESTS(NULL, finish);
