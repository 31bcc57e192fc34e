#include "tests/unit/cmocka_suite.h"

#include "lib/json.h"

#include <jansson.h>
#include <math.h>

/* A writer into memory; `text` is valid after finish_text. */
struct text_writer {
    struct json_writer json;
    FILE *stream;
    char *text;
    size_t size;
};

static void start_text(struct text_writer *writer, unsigned indent)
{
    writer->stream = open_memstream(&writer->text, &writer->size);
    json_write_start(&writer->json, writer->stream, indent);
}

static void finish_text(struct text_writer *writer)
{
    assert_true(json_write_finish(&writer->json));
    fclose(writer->stream);
}

static void write_sample(struct json_writer *json)
{
    json_write_object(json);
    json_write_key(json, "list");
    json_write_array(json);
    json_write_integer(json, -3);
    json_write_double(json, 0.1);
    json_write_object(json);
    json_write_object_end(json);
    json_write_array(json);
    json_write_array_end(json);
    json_write_array_end(json);
    json_write_key(json, "yes");
    json_write_bool(json, true);
    json_write_key(json, "nothing");
    json_write_null(json);
    json_write_key(json, "no text");
    json_write_string(json, NULL);
    json_write_object_end(json);
}

TEST(layouts)
{
    struct text_writer writer;
    start_text(&writer, 0);
    write_sample(&writer.json);
    finish_text(&writer);
    assert_string_equal(writer.text,
                        "{\"list\": [-3, 0.1, {}, []], \"yes\": true, \"nothing\": null, "
                        "\"no text\": null}\n");
    free(writer.text);
    start_text(&writer, 2);
    write_sample(&writer.json);
    finish_text(&writer);
    assert_string_equal(writer.text, "{\n  \"list\": [\n    -3,\n    0.1,\n    {},\n    []\n  ],\n"
                                     "  \"yes\": true,\n  \"nothing\": null,\n"
                                     "  \"no text\": null\n}\n");
    free(writer.text);
}

TEST(forms_are_written_as_they_stand)
{
    const char *volatile nothing = NULL;
    struct text_writer writer;
    start_text(&writer, 0);
    json_print(&writer.json, "{name:%s %s:%g ids:[%d %jd %u %zu]", "a \"b\"", "a key: x", 0.5, 3, (intmax_t)-1, UINT32_MAX,
               (size_t)1 << 40);
    json_print(&writer.json, "\nquoted:'it: [x] {y}' yes:%i no:%i", true, false);
    json_print(&writer.json, "empty:[] constants:[null true -1 1.5] none:{nan:%g text:%s below:%d}}", NAN, nothing, -7);
    finish_text(&writer);
    assert_string_equal(writer.text,
                        "{\"name\": \"a \\\"b\\\"\", \"a key: x\": 0.5, \"ids\": [3, null, 4294967295, 1099511627776],\n"
                        "\"quoted\": \"it: [x] {y}\", \"yes\": true, \"no\": false, \"empty\": [], "
                        "\"constants\": [null, true, -1, 1.5], \"none\": {\"nan\": null, \"text\": null, \"below\": null}}\n");
    free(writer.text);
}

TEST(breaks_start_lines)
{
    struct text_writer writer;
    start_text(&writer, 0);
    json_write_array(&writer.json);
    for (int i = 1; i <= 2; i++) {
        json_write_break(&writer.json);
        json_write_integer(&writer.json, i);
    }
    json_write_array_end(&writer.json);
    finish_text(&writer);
    assert_string_equal(writer.text, "[\n1,\n2]\n");
    free(writer.text);
}

TEST(strings_are_escaped)
{
    struct text_writer writer;
    start_text(&writer, 0);
    json_write_string(&writer.json, "a\"b\\c\n\t\x01\x1f \xc3\xa9 \xf0\x9f\x98\x80 \xff \xc3");
    finish_text(&writer);
    assert_string_equal(writer.text, "\"a\\\"b\\\\c\\n\\t\\u0001\\u001f \xc3\xa9 \xf0\x9f\x98\x80 "
                                     "\xef\xbf\xbd \xef\xbf\xbd\"\n");
    free(writer.text);
}

TEST(any_bytes_give_json_that_others_read)
{
    srand(1);
    for (int round = 0; round < 2000; round++) {
        char bytes[20];
        for (size_t i = 0; i < sizeof bytes - 1; i++)
            bytes[i] = (char)(1 + rand() % 255);
        bytes[sizeof bytes - 1] = '\0';
        struct text_writer writer;
        start_text(&writer, 0);
        json_write_array(&writer.json);
        json_write_string(&writer.json, bytes);
        json_write_array_end(&writer.json);
        finish_text(&writer);
        json_t *read = json_loads(writer.text, 0, NULL);
        assert_non_null(read);
        json_decref(read);
        free(writer.text);
    }
}

static void check_double(double value, const char *expected)
{
    char text[JSON_DOUBLE_SIZE];
    json_format_double(value, text);
    assert_string_equal(text, expected);
}

TEST(doubles_are_short)
{
    check_double(0.1, "0.1");
    check_double(0.3, "0.3");
    check_double(0.1 + 0.2, "0.30000000000000004");
    check_double(5e-3, "0.005");
    check_double(100, "100");
    check_double(-0.0, "0");
    check_double(9007199254740993.0, "9007199254740992");
    check_double(5e-324, "4.94065645841247e-324");
    check_double(1.7976931348623157e308, "1.7976931348623157e+308");
}

TEST(doubles_round_trip)
{
    srand(2);
    for (int round = 0; round < 20000; round++) {
        uint64_t bits = 0;
        for (int i = 0; i < 8; i++)
            bits = bits << 8 | (uint64_t)(rand() >> 4 & 0xff);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        char text[JSON_DOUBLE_SIZE];
        json_format_double(value, text);
        assert_true(strtod(text, NULL) == value);
    }
}

TEST(what_is_not_a_number_is_null)
{
    struct text_writer writer;
    start_text(&writer, 0);
    json_write_array(&writer.json);
    json_write_double(&writer.json, INFINITY);
    json_write_double(&writer.json, NAN);
    json_write_array_end(&writer.json);
    finish_text(&writer);
    assert_string_equal(writer.text, "[null, null]\n");
    free(writer.text);
}

TEST(a_full_disk_is_noticed)
{
    FILE *full = fopen("/dev/full", "w");
    assert_non_null(full);
    struct json_writer json;
    json_write_start(&json, full, 0);
    json_write_string(&json, "text");
    assert_false(json_write_finish(&json));
    fclose(full);
}
