/* The bytes of XML, compared with those of libxml2's writer. */
#include "tests/unit/cmocka_suite.h"

#include "hpcstruct/structure/xml-text.h"

#include <libxml/xmlwriter.h>

/* An empty document with these values as attributes, by libxml2. The caller frees. */
static char *by_libxml(const char *const *values, size_t count)
{
    xmlBuffer *buffer = xmlBufferCreate();
    xmlTextWriter *writer = xmlNewTextWriterMemory(buffer, 0);
    xmlTextWriterSetIndent(writer, 1);
    xmlTextWriterStartDocument(writer, NULL, "US-ASCII", NULL);
    xmlTextWriterStartElement(writer, (const xmlChar *)"R");
    xmlTextWriterWriteAttribute(writer, (const xmlChar *)"i", (const xmlChar *)"0");
    for (size_t i = 0; i < count; i++) {
        char number[24];
        snprintf(number, sizeof number, "%zu", i + 1);
        xmlTextWriterStartElement(writer, (const xmlChar *)"V");
        xmlTextWriterWriteAttribute(writer, (const xmlChar *)"i", (const xmlChar *)number);
        xmlTextWriterWriteAttribute(writer, (const xmlChar *)"n", (const xmlChar *)values[i]);
        if (i % 2 == 0)
            xmlTextWriterEndElement(writer);
    }
    xmlTextWriterEndDocument(writer); /* ends the elements that are open */
    xmlFreeTextWriter(writer);
    char *text = strdup((const char *)xmlBufferContent(buffer));
    xmlBufferFree(buffer);
    return text;
}

static char *by_us(const char *const *values, size_t count)
{
    struct xml_text xml = {0};
    xml_start(&xml, "R");
    for (size_t i = 0; i < count; i++) {
        xml_start(&xml, "V");
        xml_attribute(&xml, "n", values[i]);
        if (i % 2 == 0)
            xml_end(&xml, "V");
    }
    while (xml.depth > 1)
        xml_end(&xml, "V");
    xml_end(&xml, "R");
    vec_push(&xml.bytes, '\0');
    return xml.bytes.at;
}

TEST(test_attributes)
{
    static const char *const values[] = {
        "",
        "plain",
        "operator<(a &&, b<c>) \"x\" 'y'",
        "\xc3\xa9t\xc3\xa9 \xe2\x80\xae \xf0\x9f\x98\x80 end",
        "&amp; &#10; ]]> <!-- -->",
        "\xc2\x85\xc2\x80",
        "~{}|\\^`",
    };
    const size_t count = sizeof values / sizeof *values;
    char *expected = by_libxml(values, count), *found = by_us(values, count);
    const char *document = strchr(expected, '\n') + 1; /* without <?xml ...?> */
    assert_string_equal(found, document);
    free(expected);
    free(found);
}

TEST(test_numbers)
{
    struct xml_text xml = {.depth = 2, .next_index = 41};
    xml_start(&xml, "S");
    xml_number(&xml, "a", 0);
    xml_number(&xml, "b", UINT64_MAX);
    xml_address(&xml, "c", 0);
    xml_address(&xml, "d", UINT64_MAX);
    xml_begin_ranges(&xml, "v");
    xml_end_ranges(&xml);
    xml_begin_ranges(&xml, "w");
    xml_range(&xml, 0, 16);
    xml_range(&xml, 0x1f, 0xabcdef);
    xml_end_ranges(&xml);
    xml_end(&xml, "S");
    vec_push(&xml.bytes, '\0');
    assert_string_equal(xml.bytes.at,
                        "  <S i=\"41\" a=\"0\" b=\"18446744073709551615\" c=\"0x0\" "
                        "d=\"0xffffffffffffffff\" v=\"{}\" w=\"{[0x0-0x10) [0x1f-0xabcdef)}\"/>\n");
    assert_int_equal(xml.next_index, 42);
    assert_int_equal(xml.depth, 2);
    vec_free(&xml.bytes);
}
