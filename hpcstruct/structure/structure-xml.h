/* Writes a structure file (doc/FORMAT-structure.md). */
#ifndef HPCSTRUCT_STRUCTURE_XML_H
#define HPCSTRUCT_STRUCTURE_XML_H

#include "hpcstruct/structure/procedure-scopes.h"

#include <stdio.h>

/* A procedure as it is written. Names and paths are valid UTF-8 without control characters. */
struct procedure_record {
    const struct procedure *procedure;
    char *name;         /* for people */
    char *linkage_name; /* NULL: none */
    uint32_t file;      /* in debug_info.files, or DEBUG_NONE */
    uint32_t line;      /* 0: unknown */
    struct procedure_scopes scopes;
};

struct structure {
    const struct module_code *code;
    const struct debug_info *info;
    const struct procedure_record *procedures; /* as many as the code has, in its order */
};

/* Writes the structure of a module, named `path`. False, and errno says why, when the stream does
 * not take it. */
bool structure_write(FILE *out, const struct structure *structure, const char *path);

#endif
