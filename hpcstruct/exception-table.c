#include "hpcstruct/exception-table.h"

#include <libdwarf/dwarf.h>

void landings_read(struct landings *landings, const struct elf_image *image,
                   const struct frame_entry *entry)
{
    if (entry->exceptions == 0)
        return;
    uint64_t address = entry->exceptions, pad_base = entry->begin;
    struct cursor c = {.bytes = elf_loaded(image, address)};
    uint8_t encoding = (uint8_t)cursor_unsigned(&c, 1);
    if (encoding != DW_EH_PE_omit)
        pad_base = read_encoded_pointer(&c, address, encoding);
    if ((uint8_t)cursor_unsigned(&c, 1) != DW_EH_PE_omit)
        cursor_uleb(&c);                               /* offset of the type table */
    encoding = (uint8_t)cursor_unsigned(&c, 1) & 0x0f; /* of offsets: relative to no place */
    struct cursor table = cursor_part(&c, cursor_uleb(&c));
    while (cursor_has_more(&table)) {
        uint64_t begin = entry->begin + read_encoded_pointer(&table, address, encoding);
        uint64_t length = read_encoded_pointer(&table, address, encoding);
        uint64_t pad = read_encoded_pointer(&table, address, encoding);
        cursor_uleb(&table); /* action */
        if (table.bad)
            return;
        const struct landing landing = {begin, begin + length, pad_base + pad};
        if (pad && length && elf_code_at(image, landing.pad))
            vec_push(&landings->all, landing);
    }
}
