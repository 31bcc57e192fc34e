/* The structure of a module, as it is written: to an XML document (structure-xml.h), an image
 * (image-writer.h) or a list of gaps (gaps.h). */
#ifndef HPCSTRUCT_MODULE_STRUCTURE_H
#define HPCSTRUCT_MODULE_STRUCTURE_H

#include "hpcstruct/structure/procedure-scopes.h"

#include <stdio.h>

/* A procedure. Names and paths are valid UTF-8 without control characters. */
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

typedef void procedure_write(void *context, const struct procedure_record *record);

/* Calls `write` for each wanted procedure, one at a time: by the name of its file (unknown ones last), then by
 * address. Up to `workers` threads build procedures shortly before; they are freed afterwards, so that
 * about a hundred for each thread are in memory. */
void structure_write_procedures(const struct structure *structure, unsigned workers,
                                procedure_write *write, void *context);

/* The number of a procedure's address range, in code->map.fragments. */
static inline uint32_t structure_fragment(const struct structure *structure,
                                          const struct procedure *procedure, uint32_t i)
{
    return structure->code->procedures.fragments.at[procedure->first_fragment + i];
}

/* The addresses at which samples of a waiting system call can lie. The caller frees. */
struct wait_ranges {
    struct {
        uint64_t begin, end;
    } * at;
    size_t n, cap;
};
struct wait_ranges structure_waits(const struct structure *structure, const struct procedure *procedure);

#endif
