/* Writes a structure file (doc/FORMAT-structure.md). */
#ifndef HPCSTRUCT_STRUCTURE_XML_H
#define HPCSTRUCT_STRUCTURE_XML_H

#include "hpcstruct/structure/procedure-scopes.h"

#include <stdio.h>

/* A procedure of the structure file. Names and paths are valid UTF-8 without control characters. */
struct procedure_record {
    const struct procedure *procedure;
    char *name;         /* demangled */
    char *linkage_name; /* NULL: none */
    uint32_t file;      /* of its declaration, in debug_info.files; or DEBUG_NONE */
    uint32_t line;      /* of its declaration; 0: unknown */
    struct procedure_scopes scopes;
};

struct structure {
    const struct module_code *code;
    const struct debug_info *info;
    const struct procedure_record *procedures; /* one for each of code->procedures, in that order */
};

/* Writes the structure of a module, named `path`, with up to `workers` threads. False, with errno
 * set, if the stream reports an error. */
bool structure_write(FILE *out, const struct structure *structure, const char *path,
                     unsigned workers);

#endif
