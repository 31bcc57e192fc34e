/* The bytes of a load module of the measured process, mapped here at the addresses that they have there.
 *
 * So everything that reads a module through pointers (unwind/cfi.h, code/module-instances.h) works on a
 * module of another process as on one of its own, and costs a preloaded sampler nothing. The addresses
 * are free: this program is linked at one that no other program has, and its libraries lie where the
 * kernel puts none by default (main.c). Where one is taken all the same, the module is not placed.
 *
 * The bytes come from the module's file, read-only. A file is used only if it is the mapped one: the same
 * inode of the same device, or one with the same ELF header. It is opened through the process's own root
 * directory, without following links out of it, or through /proc/PID/map_files. Others may truncate it at
 * any time: reads of an image need a guard (unwind/memory.h). */
#ifndef HPCRUN_OUTSIDE_MODULE_IMAGE_H
#define HPCRUN_OUTSIDE_MODULE_IMAGE_H

#include "hpcrun/outside/mapping.h"

#include <stdbool.h>
#include <stddef.h>

#define IMAGE_SEGMENTS 16

struct module_image {
    uint64_t start, end; /* addresses of the module */
    uint64_t bias;       /* run-time address - ELF virtual address */
    struct {
        uint64_t at;
        size_t size;
    } segments[IMAGE_SEGMENTS + 2]; /* mapped here; two may be an index of .eh_frame, and one of Go's code */
    unsigned segment_count;
    const uint8_t *eh_frame_hdr; /* NULL: none */
    char path[PATH_MAX];         /* of the file, as this process sees it */
};

/* Whether a module's image could be placed. */
enum image_result {
    IMAGE_PLACED,
    IMAGE_NO_FILE, /* its file can't be opened, or is another one by now */
    IMAGE_NO_ELF,  /* it is no module: for example a JIT compiler's file */
    IMAGE_NO_ROOM, /* something else is at its addresses here */
};

enum image_result module_image_place(struct module_image *image, const struct mapping *mapping);
void module_image_remove(struct module_image *image);

#endif
