/* The notes in a PT_NOTE segment of a loaded module: records of a name (the owner) and data. Sizes
 * in them are checked against that of the segment. Uses mem* and str* only. */
#ifndef LIB_ELF_NOTES_H
#define LIB_ELF_NOTES_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The data of the first note of an owner, *bytes of them; NULL if there is none. `align` is 4 or 8,
 * that of the segment. The padding behind the last note may be missing. Zeros may follow the owner's name:
 * Go counts its padding. */
static inline const void *elf_note_find(const uint8_t *segment, size_t size, size_t align,
                                        const char *owner, size_t *bytes)
{
    const uint64_t length = strlen(owner) + 1, mask = ~(uint64_t)(align - 1);
    for (uint64_t at = 0; at <= size && size - at >= sizeof(Elf64_Nhdr);) {
        Elf64_Nhdr note;
        memcpy(&note, segment + at, sizeof note);
        uint64_t data = at + ((sizeof note + (uint64_t)note.n_namesz + align - 1) & mask);
        if (data > size || note.n_descsz > size - data)
            return NULL;
        if (note.n_namesz >= length && memcmp(segment + at + sizeof note, owner, length) == 0) {
            *bytes = note.n_descsz;
            return segment + data;
        }
        at = data + (((uint64_t)note.n_descsz + align - 1) & mask);
    }
    return NULL;
}

#endif
