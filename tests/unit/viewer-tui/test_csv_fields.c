/* Fields of CSV: quotes, and what spreadsheets take for formulas. */
#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/table/writer.h"

#include <math.h>

static char *record;
static size_t size;

static struct writer begin(void)
{
    struct writer writer;
    writer_open(&writer, FORMAT_CSV, 0, open_memstream(&record, &size));
    return writer;
}

static void assert_record(struct writer *writer, const char *expected)
{
    csv_end_record(writer);
    fclose(writer->out);
    writer_free(writer);
    assert_string_equal(record, expected);
    free(record);
}

static void assert_text(const char *text, const char *field)
{
    struct writer writer = begin();
    char *expected = mem_printf("x,%s\r\n", field);
    csv_text(&writer, "x");
    csv_text(&writer, text);
    assert_record(&writer, expected);
    free(expected);
}

TEST(texts_are_quoted_where_they_need_it)
{
    assert_text(NULL, "");
    assert_text("", "");
    assert_text("f", "f");
    assert_text("f(int, int)", "\"f(int, int)\"");
    assert_text("operator\"\"", "\"operator\"\"\"\"\"");
    assert_text("a\nb", "a\\x0ab");
}

TEST(a_text_is_no_formula)
{
    assert_text("=2+3", "'=2+3");
    assert_text("=HYPERLINK(\"http://x\",\"y\")", "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"");
    assert_text("+2+3", "'+2+3");
    assert_text("-2+3", "'-2+3");
    assert_text("-[View draw]", "'-[View draw]");
    assert_text("@SUM(A1)", "'@SUM(A1)");
    assert_text("=", "'=");
    assert_text("+", "'+");
    /* Escaped, they begin with a backslash. */
    assert_text("\t=2+3", "\\x09=2+3");
    assert_text("\r=2+3", "\\x0d=2+3");
    assert_text("\n=2+3", "\\x0a=2+3");
    assert_text(" =2+3", " =2+3");
    assert_text("a=2+3", "a=2+3");
    assert_text("'=2+3", "'=2+3");
}

TEST(numbers_stay_numbers)
{
    assert_text("-", "-");
    assert_text("-1.5", "-1.5");
    assert_text("+1.5", "+1.5");
    assert_text("-1.5e-3", "-1.5e-3");
    assert_text("-1.5 s", "'-1.5 s");
    struct writer writer = begin();
    csv_number(&writer, -1.5);
    csv_number(&writer, 0.25);
    csv_integer(&writer, 7);
    assert_record(&writer, "-1.5,0.25,7\r\n");
}
