/* DB/instructions.json: what single instructions cost, and their code, for the procedures that cost
 * most (doc/FORMAT-database.md, section 3). The v4 format has no room for it: its contexts would
 * multiply. */
#ifndef HPCPROF_INSTRUCTIONS_JSON_H
#define HPCPROF_INSTRUCTIONS_JSON_H

#include "hpcprof/attribution/projection.h"

/* A procedure is written if it has at least this part of a metric. */
#define INSTRUCTIONS_LEAST_SHARE 0.001

/* Writes the file; `amounts` are sorted. With `for_others` (the database is shared), code of
 * binaries that not everybody may read is left out. Ends the process when the file can't be
 * written. */
void instructions_json_write(const char *path, const struct instruction_amounts *amounts,
                             const struct inputs *inputs, const struct program *program,
                             bool for_others);

#endif
