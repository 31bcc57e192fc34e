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

/* Frees the name and the scopes; they are absent afterwards. */
void procedure_record_free(struct procedure_record *record);

/* Finds the name and the scopes of a procedure. Calls with different workers run at the same time. */
typedef void procedure_build(void *context, unsigned worker, uint32_t procedure);

struct structure {
    const struct module_code *code;
    const struct debug_info *info;
    /* One for each of code->procedures, in that order, with its file and line. */
    struct procedure_record *procedures;
    const bool *is_wanted;  /* per procedure: it is written; NULL: all are */
    procedure_build *build; /* fills the rest of a record */
    void *context;          /* of `build` */
};

/* Writes the structure of a module, named `path`, with up to `workers` threads. Builds procedures
 * shortly before they are written, and frees them then. False, with errno set, if the stream reports
 * an error. */
bool structure_write(FILE *out, const struct structure *structure, const char *path,
                     unsigned workers);

#endif
