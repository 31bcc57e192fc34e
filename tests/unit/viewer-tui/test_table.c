/* A table in its three formats. */
#include "tests/unit/cmocka_suite.h"

#include "viewer-tui/table/table.h"

#include <math.h>

struct line {
    const char *name;
    unsigned workers;
    int64_t rank;
    double time, low, high;
    const double *costs;
};

#define MEMBER(name) .place = offsetof(struct line, name)

static struct metric work = {.name = "work", .unit = "s", .state = METRIC_MEASURED};
static const struct metrics metrics = {.at = &work, .n = 1};

static const struct table_column columns[] = {
    {"workers", "workers", "workers", NULL, OF_UNSIGNED, MEMBER(workers), .width = 9},
    {NULL, NULL, NULL, "empty", OF_INTEGER, MEMBER(rank)},
    {"rank", "rank", "rank", NULL, OF_INTEGER, MEMBER(rank), .width = 6},
    {"name", "name", "name", NULL, OF_TEXT, MEMBER(name)},
    {"time of all runs", "time", "time", "times", OF_DOUBLE, MEMBER(time), .width = 9, .decimals = 2},
    {NULL, "low", "interval", NULL, OF_DOUBLE, MEMBER(low)},
    {NULL, NULL, "interval", NULL, OF_DOUBLE, MEMBER(high)},
    {NULL, NULL, "high", "times", OF_DOUBLE, MEMBER(high)},
    {"work, s", "work", NULL, NULL, OF_COST, MEMBER(costs), .width = 16, .scale = {1, 1, "s"}, .whole = 8},
    {NULL, "percent", "percent", "percents", OF_PERCENT, MEMBER(costs), .whole = 8},
    {NULL, NULL, "unknown", "percents", OF_PERCENT, MEMBER(costs), .whole = 0},
};

static const double two = 2, none = NAN;
static const struct line lines[] = {{"a,b", 4, 1, 0.5, 0.25, 1, &two}, {NULL, 0, -1, NAN, 0, NAN, &none}};
static const struct data_table table = {columns, sizeof columns / sizeof *columns, lines, sizeof *lines, 2, &metrics};

/* What is written in a format; the caller frees. */
static char *written(enum format format, void (*write)(const struct data_table *table, struct writer *writer))
{
    struct writer writer;
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    writer_open(&writer, format, 0, out);
    write(&table, &writer);
    writer_free(&writer);
    fclose(out);
    return text;
}

static void assert_written(enum format format, void (*write)(const struct data_table *table, struct writer *writer),
                           const char *expected)
{
    char *text = written(format, write);
    assert_string_equal(text, expected);
    free(text);
}

static void write_all(const struct data_table *of, struct writer *writer)
{
    table_write(of, writer, "rows", of->n_rows);
}

TEST(text_has_costs_first_and_titles_in_lines)
{
    assert_written(FORMAT_TEXT, write_all,
                   "         work, s  workers  rank  time of  name\n"
                   "                                all runs\n"
                   "      2.0  25.0%        4     1     0.50  a,b\n"
                   "        -               0     -        -  -\n");
}

TEST(csv_has_a_record_for_each_row)
{
    assert_written(FORMAT_CSV, write_all,
                   "workers,rank,name,time,low,work,percent\r\n"
                   "4,1,\"a,b\",0.5,0.25,2,25\r\n"
                   "0,,,-,0,-,-\r\n");
}

TEST(json_has_groups_and_arrays)
{
    assert_written(FORMAT_JSON, write_all,
                   "{\"metrics\": [], \"rows\": [\n"
                   "{\"workers\": 4, \"empty\": {}, \"rank\": 1, \"name\": \"a,b\", \"times\": {\"time\": 0.5, \"high\": 1}, "
                   "\"interval\": [0.25, 1], \"percents\": {\"percent\": 25, \"unknown\": null}},\n"
                   "{\"workers\": 0, \"empty\": {}, \"rank\": null, \"name\": null, \"times\": {\"time\": null, \"high\": null}, "
                   "\"interval\": [0, null], \"percents\": {\"percent\": null, \"unknown\": null}}]}\n");
}
