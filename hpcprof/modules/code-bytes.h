/* The bytes of machine code at addresses of a binary, read through libelf. */
#ifndef HPCPROF_CODE_BYTES_H
#define HPCPROF_CODE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_bytes {
    int fd;          /* -1: the binary can't be read */
    struct Elf *elf; /* NULL likewise */
};

/* Opens a binary. With `for_others`, one that not everybody may read counts as unreadable: its code
 * is to go to a file for others. code_bytes_close releases it in each case. */
struct code_bytes code_bytes_open(const char *path, bool for_others);

/* `size` bytes of the file that are loaded at an ELF address; they belong to the binary. NULL when
 * the file does not have all of them. */
const uint8_t *code_bytes_at(const struct code_bytes *code, uint64_t address, size_t size);

void code_bytes_close(struct code_bytes *code);

#endif
