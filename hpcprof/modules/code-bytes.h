/* The bytes of machine code at addresses of a binary, read through libelf. */
#ifndef HPCPROF_CODE_BYTES_H
#define HPCPROF_CODE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_bytes {
    int fd;          /* -1: the binary cannot be read */
    struct Elf *elf; /* NULL: likewise */
};

/* Opens a binary. `for_others`: the code goes to a file for other users, so a binary that not
 * everybody may read counts as unreadable. Call code_bytes_close in any case. */
struct code_bytes code_bytes_open(const char *path, bool for_others);

/* The `size` bytes that are loaded at an ELF address, valid until code_bytes_close; NULL if the
 * file does not have all of them. */
const uint8_t *code_bytes_at(const struct code_bytes *code, uint64_t address, size_t size);

void code_bytes_close(struct code_bytes *code);

#endif
