/* Writes XML elements as text into memory, in the bytes of libxml2's writer with indentation and
 * encoding US-ASCII, but several times as fast. */
#ifndef HPCSTRUCT_XML_TEXT_H
#define HPCSTRUCT_XML_TEXT_H

#include "lib/alloc.h"

#include <stdbool.h>
#include <stdint.h>

struct xml_text {
    VEC(char) bytes;
    unsigned depth;      /* number of open elements */
    bool is_tag_open;    /* the start tag written last lacks its end */
    uint32_t next_index; /* attribute `i` of the next element */
};

/* Starts an element with the attribute `i`, its number. */
void xml_start(struct xml_text *xml, const char *element);
void xml_end(struct xml_text *xml, const char *element);

/* Adds an attribute to the start tag written last. `value` is UTF-8 without control characters. */
void xml_attribute(struct xml_text *xml, const char *name, const char *value);
void xml_number(struct xml_text *xml, const char *name, uint64_t value);
void xml_address(struct xml_text *xml, const char *name, uint64_t value);

/* Adds an attribute with a set of ranges: "{[0x10-0x20) [0x30-0x40)}". */
void xml_begin_ranges(struct xml_text *xml, const char *name);
void xml_range(struct xml_text *xml, uint64_t begin, uint64_t end);
void xml_end_ranges(struct xml_text *xml);

#endif
