/* The programs (executables) of a database that has entry points of several: "main thread of make",
 * "main thread of cc1" (doc/FORMAT-database.md). Where there is one, its name is the title. */
#ifndef VIEWER_PROGRAMS_H
#define VIEWER_PROGRAMS_H

#include "viewer-tui/db/database.h"
#include "viewer-tui/db/run.h"

/* Finds the programs of the entry points; once the database is open. */
void programs_find(struct database *db);
void programs_free(struct database *db);

/* Whether top-down views have a row for each program: there are several, or the database is
 * compared with one that has several. */
bool programs_are_shown(const struct database *db);

/* The index of an entry point's program; the name of a program. */
uint32_t programs_of_entry(const struct database *db, uint32_t entry);
const char *programs_name(const struct database *db, uint32_t program);

/* How many bytes of an entry point's name do not name its program: what is shown below a row of
 * that program. */
size_t programs_entry_length(const char *entry_name);

/* The name of the program that a process of run.json ran. */
const char *programs_of_process(const json_t *process);

/* The names of all programs that run.json tells of, each once, for the caller to free. */
typedef VEC(const char *) program_names;
program_names programs_of_run(const json_t *run);

#endif
