/* An ELF file of x86-64 Linux, mapped into memory: its sections, its code, its loaded bytes.
 *
 * The file is not trusted: elf_open checks offsets and sizes and omits what lies beyond the end of
 * the file, so that all pointers and sizes are valid. Addresses are ELF virtual addresses. Files
 * without section headers (their code is that of the executable segments) and separate debug files
 * (which have no code) are accepted.
 *
 * Everything returned belongs to the image, which does not change after elf_open, except that
 * elf_section_data keeps decompressed sections. */
#ifndef HPCSTRUCT_ELF_IMAGE_H
#define HPCSTRUCT_ELF_IMAGE_H

#include "lib/alloc.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct elf_bytes {
    const uint8_t *at; /* NULL: none */
    size_t size;
};

struct elf_section {
    const char *name;
    uint32_t type, link, info;
    uint64_t flags;
    uint64_t address;
    uint64_t size; /* in memory */
    uint64_t entry_size;
    struct elf_bytes stored; /* as in the file; empty for SHT_NOBITS */
    enum { ELF_PLAIN, ELF_COMPRESSED, ELF_COMPRESSED_GNU } coding;
    uint8_t *decompressed; /* by elf_section_data; owned, or NULL */
};

struct elf_segment {
    uint32_t type, flags;
    uint64_t address;
    struct elf_bytes stored;
};

/* A range of executable addresses. */
struct elf_code {
    uint64_t begin, end;
    const uint8_t *bytes; /* end - begin bytes */
};

struct elf_image {
    char *path;
    struct stat status; /* of the file when it was opened */
    bool is_linked; /* else an object file, or a supplement of debug information */
    struct elf_bytes file;
    VEC(struct elf_section) sections; /* index 0 is the null section; empty without headers */
    VEC(struct elf_segment) segments;
    VEC(struct elf_code) code; /* sorted, disjoint, none empty */
    struct elf_bytes build_id; /* empty: none */
    char *damage;              /* the first thing that was omitted, one line; or NULL */
};

/* Opens a file. If it cannot be read or is not an x86-64 ELF file, returns NULL and sets *cause to
 * a line that says why; the caller frees it. */
struct elf_image *elf_open(const char *path, char **cause);

void elf_close(struct elf_image *image);

/* The first section of this name, or NULL. ".debug_info" also finds ".zdebug_info". */
struct elf_section *elf_section(const struct elf_image *image, const char *name);

/* The contents of a section, decompressed if necessary. If they cannot be decompressed, or the
 * sections of the file would then have more bytes than its size justifies (lib/safe-input.h),
 * returns none and sets *cause as above; else sets *cause to NULL. */
struct elf_bytes elf_section_data(const struct elf_image *image, struct elf_section *section,
                                  char **cause);

/* Gives back the memory that the contents of debug sections take; what elf_section_data returned for
 * them is no longer valid, if they are compressed. */
void elf_release_debug_sections(const struct elf_image *image);

/* Gives back the memory of bytes in the file. They are read again if need be. Does nothing if they
 * are not in the file. */
void elf_release_bytes(const struct elf_image *image, const uint8_t *begin, const uint8_t *end);

/* The bytes of the file that are loaded at an address, up to the end of their section or segment.
 */
struct elf_bytes elf_loaded(const struct elf_image *image, uint64_t address);

/* The range of code that contains an address, or NULL. */
const struct elf_code *elf_code_at(const struct elf_image *image, uint64_t address);

/* Whether two build-ids are the same, and not empty. */
bool elf_same_build_id(struct elf_bytes a, struct elf_bytes b);

/* A build-id in hexadecimal digits; the caller frees. */
char *elf_build_id_text(struct elf_bytes id);

/* The string at an offset of a string table; "" if it does not end within the table. */
const char *elf_string(struct elf_bytes table, uint64_t offset);

#endif
