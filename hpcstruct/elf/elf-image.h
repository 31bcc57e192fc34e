/* An ELF file of x86-64 Linux in memory: its sections, its code, its loaded bytes.
 *
 * Nothing in the file is trusted: offsets and sizes are checked when the file is opened, what does
 * not fit is left out, and every pointer handed out is followed by as many bytes as it says.
 * Addresses are ELF virtual addresses. Works for files without section headers (then the code is
 * that of the executable segments) and for separate debug files (which have no code).
 *
 * Everything handed out belongs to the image. After elf_open it does not change, except by
 * elf_section_data. */
#ifndef HPCSTRUCT_ELF_IMAGE_H
#define HPCSTRUCT_ELF_IMAGE_H

#include "lib/alloc.h"

#include <stdbool.h>
#include <stdint.h>

struct elf_bytes {
    const uint8_t *at; /* NULL when there are none */
    size_t size;
};

struct elf_section {
    const char *name; /* of compressed debug sections ".debug_...", never ".zdebug_..." */
    uint32_t type, link, info;
    uint64_t flags;
    uint64_t address;
    uint64_t size; /* in memory */
    uint64_t entry_size;
    struct elf_bytes stored; /* as in the file; none for SHT_NOBITS */
    enum { ELF_PLAIN, ELF_COMPRESSED, ELF_COMPRESSED_GNU } coding;
    uint8_t *unpacked; /* by elf_section_data, owned */
};

struct elf_segment {
    uint32_t type, flags;
    uint64_t address;
    struct elf_bytes stored;
};

/* A run of executable addresses. */
struct elf_code {
    uint64_t begin, end;
    const uint8_t *bytes; /* end - begin of them */
};

struct elf_image {
    char *path;
    bool is_linked; /* else an object file, or a supplement of debug information */
    struct elf_bytes file;
    VEC(struct elf_section) sections; /* index 0 is the null section; empty without headers */
    VEC(struct elf_segment) segments;
    VEC(struct elf_code) code; /* sorted, disjoint, not empty each */
    struct elf_bytes build_id; /* none: there is no build-id */
    char *damage;              /* a line about what had to be left out, or NULL */
};

/* Opens a file. NULL when it is not an x86-64 ELF file or cannot be read; *cause is then a
 * line that says why and belongs to the caller. */
struct elf_image *elf_open(const char *path, char **cause);

void elf_close(struct elf_image *image);

/* The first section of this name, or NULL. */
struct elf_section *elf_section(const struct elf_image *image, const char *name);

/* The contents of a section, unpacked if need be (kept for the next time). None, and *cause as
 * above, when they cannot be unpacked; none with *cause NULL when the section has none. */
struct elf_bytes elf_section_data(struct elf_section *section, char **cause);

/* The file's bytes that are loaded at an address, up to the end of their section or segment. */
struct elf_bytes elf_loaded(const struct elf_image *image, uint64_t address);

/* The run of code that an address lies in, or NULL. */
const struct elf_code *elf_code_at(const struct elf_image *image, uint64_t address);

/* The string at an offset of a string table; "" when it does not lie in it. */
const char *elf_string(struct elf_bytes table, uint64_t offset);

#endif
