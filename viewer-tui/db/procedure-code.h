/* The machine code of a procedure and what its instructions cost, from DB/instructions.json.gz
 * (doc/FORMAT-database.md, section 3). hpcprof writes this file for the most expensive procedures;
 * databases of other tools do not have it.
 *
 * Addresses are ELF addresses in the procedure's module. Costs are exclusive, summed over all
 * threads and contexts, in the unit of their metric. */
#ifndef VIEWER_PROCEDURE_CODE_H
#define VIEWER_PROCEDURE_CODE_H

#include "viewer-tui/db/database.h"

/* A run of instructions without gaps. */
struct code_part {
    uint64_t begin;
    uint8_t *bytes; /* owned; NULL where the binary could not be read */
    size_t size;
};

/* A range of addresses that the line map gives to one line. */
struct code_statement {
    uint64_t begin, end;
    const char *file; /* NULL: unknown */
    uint32_t line;    /* 0: unknown */
};

/* What one instruction cost in one metric. */
struct instruction_cost {
    uint64_t address;
    const char *metric;
    double value;
};

/* Parts, statements and costs are sorted by address. */
struct procedure_code {
    VEC(struct code_part) parts;
    VEC(struct code_statement) statements;
    VEC(struct instruction_cost) costs;
    json_t *document; /* owns the strings */
};

/* Reads the code of the procedure that begins at `entry` of the module at path `module`. False when
 * there is none; *why then says why, in static memory. */
bool procedure_code_read(struct procedure_code *code, const char *folder, const char *module,
                         uint64_t entry, const char **why);

/* The statement that an address belongs to, or NULL. */
const struct code_statement *procedure_code_statement(const struct procedure_code *code,
                                                      uint64_t address);

/* What the instructions at [begin, end) cost in a metric. */
double procedure_code_cost(const struct procedure_code *code, const char *metric, uint64_t begin,
                           uint64_t end);

void procedure_code_free(struct procedure_code *code);

#endif
