/* Makes images of structures by hand (lib/structure-image.h), one at a time. */
#ifndef TESTS_MADE_IMAGE_H
#define TESTS_MADE_IMAGE_H

#include "lib/structure-image.h"

#include <stddef.h>

/* Begins an image, and a procedure; what follows is in it. `file`: NULL: unknown. */
void made_image_begin(void);
void made_procedure(const char *name, const char *file, uint32_t line, uint64_t entry);

/* An address range of the procedure. */
void made_fragment(uint64_t begin, uint64_t end);

/* Scopes in the scope `parent`, 0 being the procedure. Their numbers. */
uint32_t made_loop(uint32_t parent, const char *file, uint32_t line, uint64_t header);
uint32_t made_inlined(uint32_t parent, const char *call_file, uint32_t call_line, const char *name,
                      const char *file, uint32_t line);

/* `kind`: of overhead; NULL: none. */
void made_statement(uint32_t scope, const char *file, uint32_t line, uint64_t begin, uint64_t end,
                    const char *kind);
void made_wait(uint64_t begin, uint64_t end);
void made_call(uint64_t address, uint64_t target);
void made_directory(const char *path);

/* The bytes of the image, valid until made_image_free. */
const uint8_t *made_image(size_t *size);
void made_image_free(void);

#endif
