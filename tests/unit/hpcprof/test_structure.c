#include "tests/unit/cmocka_suite.h"

#include "hpcprof/modules/structure.h"

#include <unistd.h>

static char path[] = "/tmp/test_structure.XXXXXX";

/* A new file each time: ext4 writes a file that was cut and written again to the disk at once. */
static void write_bytes(const char *bytes, size_t size)
{
    unlink(path);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static struct structure *read_text(const char *text)
{
    char *cause = NULL;
    write_bytes(text, strlen(text));
    struct structure *s = structure_read(fopen(path, "rbe"), &cause);
    if (!s)
        fail_msg("%s", cause);
    assert_null(cause);
    return s;
}

static void assert_refused(const char *text, const char *part)
{
    char *cause = NULL;
    write_bytes(text, strlen(text));
    assert_null(structure_read(fopen(path, "rbe"), &cause));
    if (!strstr(cause, part))
        fail_msg("'%s' does not say '%s'", cause, part);
    assert_null(strchr(cause, '\n'));
    free(cause);
}

static const char head[] = "<?xml version=\"1.0\"?>\n"
                           "<HPCToolkitStructure i=\"0\" version=\"4.9\" n=\"\">"
                           "<LM i=\"1\" n=\"/usr/bin/xz\" g=\"hpcstruct 1\">";
static const char tail[] = "</LM></HPCToolkitStructure>";

static char *document(const char *body)
{
    static char text[8192];
    snprintf(text, sizeof text, "%s%s%s", head, body, tail);
    return text;
}

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

TEST(chains_of_scopes)
{
    struct structure *s = read_text(document(
        "<F n=\"/s/a.c\">"
        "<P n=\"main\" ln=\"main\" l=\"2\" v=\"{[0x1000-0x1100) [0x9000-0x9010)}\">"
        "<S l=\"3\" v=\"{[0x1000-0x1004) [0x1008-0x100c)}\"/>"
        "<S l=\"4\" v=\"{[0x1004-0x1008)}\"/>"
        "<L l=\"5\" f=\"/s/m.h\" v=\"{[0x1010-0x1011)}\">"
        "<S l=\"6\" v=\"{[0x1010-0x1014)}\"/>"
        "<A l=\"7\" f=\"/s/a.c\" n=\"\" v=\"{}\"><A l=\"40\" f=\"/s/b.h\" n=\"twice\" v=\"{}\">"
        "<S l=\"41\" v=\"{[0x1014-0x1018)}\"/>"
        "<L l=\"42\" v=\"{[0x1018-0x1019)}\"><S l=\"43\" v=\"{[0x1018-0x101c)}\"/></L>"
        "<A l=\"44\" n=\"\" v=\"{}\"><A l=\"1\" f=\"/s/c.h\" n=\"deep\" v=\"{}\">"
        "<S l=\"2\" f=\"/s/d.inc\" v=\"{[0x101c-0x1020)}\"/></A></A>"
        "</A></A>"
        "<S l=\"8\" v=\"{[0x1020-0x1024)}\"/>"
        "</L>"
        "<S l=\"0\" v=\"{[0x1024-0x1100)}\"/>"
        "<C l=\"3\" v=\"{[0x1000-0x1004)}\" t=\"0x9\"/>"
        "</P></F>"
        "<F n=\"&lt;unknown file&gt;\"><P n=\"&lt;xz+0x5000&gt;\" l=\"0\" v=\"{[0x5000-0x5010)}\">"
        "<S l=\"9\" v=\"{[0x5000-0x5010)}\"/></P></F>"));
    assert_string_equal(describe(s, 0x1000), "main = /s/a.c:3");
    assert_string_equal(describe(s, 0x1003), "main = /s/a.c:3");
    assert_string_equal(describe(s, 0x1004), "main = /s/a.c:4");
    assert_string_equal(describe(s, 0x1008), "main = /s/a.c:3");
    assert_string_equal(describe(s, 0x100c), "nothing");
    assert_string_equal(describe(s, 0x0fff), "nothing");
    assert_string_equal(describe(s, 0x1013), "loop /s/m.h:5 < main = /s/m.h:6");
    assert_string_equal(describe(s, 0x1014),
                        "twice at /s/a.c:7 < loop /s/m.h:5 < main = /s/b.h:41");
    assert_string_equal(describe(s, 0x1018),
                        "loop /s/b.h:42 < twice at /s/a.c:7 < loop /s/m.h:5 < main = /s/b.h:43");
    assert_string_equal(
        describe(s, 0x101c),
        "deep at /s/b.h:44 < twice at /s/a.c:7 < loop /s/m.h:5 < main = /s/d.inc:2");
    assert_string_equal(describe(s, 0x1020), "loop /s/m.h:5 < main = /s/m.h:8");
    assert_string_equal(describe(s, 0x10ff), "main = /s/a.c:0");
    assert_string_equal(describe(s, 0x1100), "nothing");
    assert_string_equal(describe(s, 0x5000), "<xz+0x5000> = ?:0");
    assert_string_equal(describe(s, UINT64_MAX), "nothing");
    assert_true(s->has_lines);

    const struct structure_statement *deep = structure_find(s, 0x101c);
    uint32_t procedure = structure_procedure(s, deep->scope);
    const struct structure_function *main_function =
        &s->functions.at[s->scopes.at[procedure].function];
    assert_string_equal(strtab_string(&s->names, main_function->name), "main");
    assert_int_equal(main_function->line, 2);
    assert_int_equal(main_function->entry, 0x1000);
    structure_free(s);
}

TEST(functions_are_one_per_name_file_and_line)
{
    struct structure *s = read_text(document(
        "<F n=\"/s/a.c\">"
        "<P n=\"f\" l=\"2\" v=\"{[0x2000-0x2010)}\"><S l=\"2\" v=\"{[0x2000-0x2010)}\"/></P>"
        "<P n=\"f\" l=\"2\" v=\"{[0x1000-0x1010)}\"><S l=\"2\" v=\"{[0x1000-0x1010)}\"/></P>"
        "<P n=\"f\" l=\"3\" v=\"{[0x3000-0x3010)}\"><S l=\"2\" v=\"{[0x3000-0x3010)}\"/></P>"
        "</F><F n=\"/s/./x/../a.c\">" /* the same file */
        "<P n=\"f\" l=\"3\" v=\"{[0x4000-0x4010)}\"><S l=\"2\" v=\"{[0x4000-0x4010)}\"/></P>"
        "</F><F n=\"&lt;unknown file&gt;\">"
        "<P n=\"f\" l=\"0\" v=\"{[0x5000-0x5010)}\"><S l=\"0\" v=\"{[0x5000-0x5010)}\"/></P>"
        "<P n=\"f\" l=\"0\" v=\"{[0x6000-0x6010)}\"><S l=\"0\" v=\"{[0x6000-0x6010)}\"/></P>"
        "</F>"));
    assert_int_equal(s->functions.n, 4);
    assert_int_equal(s->files.count, 1);
    assert_int_equal(s->functions.at[0].entry, 0x1000);
    assert_int_equal(s->functions.at[1].entry, 0x3000);
    assert_int_equal(s->functions.at[2].entry, 0x5000);
    assert_int_equal(s->functions.at[3].entry, 0x6000);
    structure_free(s);
}

TEST(overlapping_statements_are_made_disjoint)
{
    struct structure *s =
        read_text(document("<F n=\"/s/a.c\"><P n=\"f\" l=\"2\" v=\"{[0x1000-0x1100)}\">"
                           "<S l=\"5\" v=\"{[0x1020-0x1030) [0x1000-0x1010)}\"/>"
                           "<S l=\"6\" v=\"{[0x1008-0x1028) [0x1024-0x1026) [0x1050-0x1040)}\"/>"
                           "</P></F>"));
    static const struct {
        uint64_t address;
        const char *line;
    } expected[] = {{0x1007, "f = /s/a.c:5"}, {0x100f, "f = /s/a.c:5"}, {0x1010, "f = /s/a.c:6"},
                    {0x1027, "f = /s/a.c:6"}, {0x1028, "f = /s/a.c:5"}, {0x102f, "f = /s/a.c:5"},
                    {0x1030, "nothing"},      {0x1045, "nothing"}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_string_equal(describe(s, expected[i].address), expected[i].line);
    structure_free(s);
}

TEST(what_is_no_structure_is_refused)
{
    assert_refused("", "line");
    assert_refused("hello", "line 1");
    assert_refused("<a><b></a>", "line 1");
    assert_refused("<HPCToolkitStructure/>", "no load module");
    assert_refused("<html><body>no</body></html>", "no load module");
    char *cause = NULL;
    assert_null(structure_read(fopen("/nonexistent", "rbe"), &cause));
    assert_string_equal(cause, "No such file or directory");
    free(cause);
    assert_null(structure_read(fopen("/tmp", "rbe"), &cause));
    assert_string_equal(cause, "Is a directory");
    free(cause);
}

TEST(elements_in_wrong_places_are_ignored)
{
    struct structure *s = read_text(document(
        "<S l=\"1\" v=\"{[0x1-0x2)}\"/><L l=\"1\"><S l=\"2\" v=\"{[0x3-0x4)}\"/></L>"
        "<A n=\"x\"><A n=\"y\"><S l=\"2\" v=\"{[0x5-0x6)}\"/></A></A>"
        "<P n=\"outer\"><P n=\"inner\" v=\"{[0x7-0x8)}\"><S l=\"1\" v=\"{[0x7-0x8)}\"/></P></P>"
        "<F><P><S v=\"{[0x9-0xa)}\"/><S/><L/><A/><A><A/></A></P></F>"
        "<P v=\"junk\"><S l=\"99999999999999\" v=\"{[0xb-0xc) [zz-0xd) [0xe-0xf)}\"/></P>"));
    static const uint64_t outside[] = {1, 3, 5, 0xd, 0xe};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        assert_string_equal(describe(s, outside[i]), "nothing");
    assert_string_equal(describe(s, 7), "outer = ?:0");
    assert_string_equal(describe(s, 9), " = ?:0");
    assert_string_equal(describe(s, 0xb), " = ?:0");
    structure_free(s);
}

static void check_invariants(const struct structure *s)
{
    for (size_t i = 0; i < s->scopes.n; i++) {
        const struct structure_scope *scope = &s->scopes.at[i];
        assert_true(scope->parent == STRUCTURE_NONE || scope->parent < i);
        assert_true((scope->parent == STRUCTURE_NONE) == (scope->kind == SCOPE_PROCEDURE));
        assert_true(scope->kind == SCOPE_LOOP || scope->function < s->functions.n);
        assert_true(scope->file == STRUCTURE_NONE || scope->file < s->files.count);
    }
    for (size_t i = 0; i < s->statements.n; i++) {
        const struct structure_statement *statement = &s->statements.at[i];
        assert_true(statement->begin < statement->end && statement->scope < s->scopes.n);
        assert_true(i == 0 || statement[-1].end <= statement->begin);
        assert_ptr_equal(structure_find(s, statement->begin), statement);
        assert_ptr_equal(structure_find(s, statement->end - 1), statement);
        if (i + 1 == s->statements.n || statement[1].begin > statement->end)
            assert_null(structure_find(s, statement->end));
        if (i == 0 && statement->begin > 0)
            assert_null(structure_find(s, statement->begin - 1));
    }
}

/* A function with two copies begins where its sampled one does; one without sampled copies, nowhere, as if
 * the structure lacked it. */
TEST(sampled_procedures_are_marked)
{
    static const uint64_t addresses[] = {0x2010, 0x20ff, 0x9999};
    for (int others_matter = 0; others_matter < 2; others_matter++) {
        struct structure *s = read_text(document("<F n=\"/s/a.c\">"
                                                 "<P n=\"f\" l=\"2\" v=\"{[0x1000-0x1100)}\">"
                                                 "<S l=\"3\" v=\"{[0x1000-0x1100)}\"/></P>"
                                                 "<P n=\"f\" l=\"2\" v=\"{[0x2000-0x2100)}\">"
                                                 "<S l=\"3\" v=\"{[0x2000-0x2100)}\"/></P>"
                                                 "<P n=\"g\" l=\"9\" v=\"{[0x3000-0x3100)}\">"
                                                 "<S l=\"9\" v=\"{[0x3000-0x3100)}\"/></P></F>"));
        structure_mark_sampled(s, addresses, 3, others_matter);
        for (size_t i = 0; i < 3; i++)
            assert_int_equal(s->scopes.at[i].is_sampled, i == 1);
        assert_int_equal(s->functions.n, 2);
        assert_int_equal(s->functions.at[0].entry, others_matter ? 0x1000 : 0x2000);
        assert_int_equal(s->functions.at[1].entry, others_matter ? 0x3000 : 0);
        structure_free(s);
    }
}

/* Buckets of addresses: one, few of many statements, and as many as bits allow. */
TEST(addresses_are_found_wherever_they_are)
{
    static const char *const statements[] = {
        "<S l=\"1\" v=\"{[0x0-0xffffffffffffffff)}\"/>",
        "<S l=\"1\" v=\"{[0x0-0x1) [0xfffffffffffffff0-0xfffffffffffffff8)}\"/>",
        "<S l=\"1\" v=\"{[0x10-0x11) [0x12-0x13) [0x13-0x14) [0x100000-0x100001)}\"/>"
        "<S l=\"2\" v=\"{[0x11-0x12) [0x15-0x18) [0xfffff-0x100000)}\"/>",
    };
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        char body[1024];
        snprintf(body, sizeof body, "<P n=\"f\">%s</P>", statements[i]);
        struct structure *s = read_text(document(body));
        assert_int_equal(s->statements.n, i == 0 ? 1 : i == 1 ? 2 : 7);
        check_invariants(s);
        structure_free(s);
    }
}

TEST(random_damage_is_survived)
{
    static char text[8192], damaged[8192];
    static const char interesting[] = "<>/\"&;=AFLPSnlvf0x[-){} ";
    snprintf(text, sizeof text, "%s",
             document("<F n=\"/s/a.c\"><P n=\"f&lt;int&gt;\" l=\"2\" v=\"{[0x1000-0x1100)}\">"
                      "<S l=\"3\" v=\"{[0x1000-0x1010)}\"/><L l=\"5\" v=\"{[0x1010-0x1011)}\">"
                      "<A l=\"7\" f=\"/s/a.c\" n=\"\"><A l=\"4\" f=\"/s/b.h\" n=\"g\">"
                      "<S l=\"8\" v=\"{[0x1010-0x1020) [0x1040-0x1050)}\"/></A></A></L></P></F>"));
    size_t size = strlen(text);
    uint64_t random = 1;
    for (unsigned round = 0; round < 20000; round++) {
        memcpy(damaged, text, size);
        for (unsigned hits = 1 + round % 4; hits > 0; hits--) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            size_t at = (size_t)(random >> 40) % size;
            damaged[at] = round % 3 ? interesting[(random >> 20) % (sizeof interesting - 1)]
                                    : (char)(random >> 20);
        }
        write_bytes(damaged, round % 5 ? size : (size_t)(random >> 40) % size);
        char *cause = NULL;
        struct structure *s = structure_read(fopen(path, "rbe"), &cause);
        assert_true((s == NULL) == (cause != NULL));
        if (s)
            check_invariants(s);
        free(cause);
        structure_free(s);
    }
}

static int start(void **state)
{
    int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int finish(void **state)
{
    return unlink(path);
}

/* The kind of overhead at an address; "" for none. */
static const char *kind_at(const struct structure *s, uint64_t address)
{
    uint32_t kind = structure_find(s, address)->overhead;
    return kind == STRUCTURE_NONE ? "" : strtab_string(&s->overhead_kinds, kind);
}

/* A tag applies to the elements inside, unless they have tags of their own. */
TEST(kinds_of_overhead)
{
    struct structure *s = read_text(document(
        "<F n=\"/s/a.c\">"
        "<P n=\"main\" ln=\"main\" l=\"2\" v=\"{[0x1000-0x1100)}\">"
        "<S l=\"3\" v=\"{[0x1000-0x1004)}\"/>"
        "<S l=\"4\" v=\"{[0x1004-0x1008)}\" o=\"overhead\"/>"
        "<A l=\"7\" n=\"\" v=\"{}\"><A l=\"40\" f=\"/s/b.h\" n=\"push\" v=\"{}\" o=\"spawn\">"
        "<S l=\"41\" v=\"{[0x1008-0x100c)}\"/>"
        "<L l=\"42\" v=\"{[0x100c-0x100d)}\"><S l=\"43\" v=\"{[0x100c-0x1010)}\"/></L>"
        "<A l=\"44\" n=\"\" v=\"{}\"><A l=\"1\" f=\"/s/c.h\" n=\"wait\" v=\"{}\" o=\"sync\">"
        "<S l=\"2\" v=\"{[0x1010-0x1014)}\"/></A></A>"
        "<S l=\"45\" v=\"{[0x1014-0x1018)}\"/></A></A>"
        "<S l=\"8\" v=\"{[0x1018-0x1100)}\"/></P>"
        "<P n=\"look\" ln=\"look\" l=\"9\" v=\"{[0x2000-0x2100)}\" o=\"steal\">"
        "<S l=\"9\" v=\"{[0x2000-0x2010)}\"/>"
        "<S l=\"10\" v=\"{[0x2010-0x2100)}\" o=\"spawn\"/></P>"
        "<P n=\"user\" ln=\"user\" l=\"20\" v=\"{[0x3000-0x3100)}\">"
        "<S l=\"21\" v=\"{[0x3000-0x3100)}\"/></P></F>"));
    static const struct {
        uint64_t address;
        const char *kind;
    } expected[] = {{0x1000, ""},      {0x1004, "overhead"}, {0x1008, "spawn"}, {0x100c, "spawn"},
                    {0x1010, "sync"},  {0x1014, "spawn"},    {0x1018, ""},      {0x2000, "steal"},
                    {0x2010, "spawn"}, {0x3000, ""}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_string_equal(kind_at(s, expected[i].address), expected[i].kind);
    assert_int_equal(s->overhead_kinds.count, 4);
    structure_free(s);
}

ALL_TESTS(start, finish);
