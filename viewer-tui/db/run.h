/* DB/run.json: what hpcprof knows of the run and the v4 format has no place for.
 * doc/FORMAT-database.md describes it. It is read as it is; what is missing or has another type
 * reads as "" or 0, so that a damaged file costs only what is damaged. */
#ifndef VIEWER_RUN_H
#define VIEWER_RUN_H

#include "viewer-tui/base/text.h"

#include <jansson.h>

/* NULL without a problem when there is no such file; NULL with the problem noted when it is not
 * what it should be. The caller releases with json_decref (NULL allowed). */
json_t *run_read(const char *folder);

/* The workers that the runtimes of all processes had; 0 unknown. */
double run_workers(const json_t *run);

/* What it says of the metric of that name; NULL. */
const json_t *run_metric(const json_t *run, const char *name);

/* What a sample stands for of the event that the metric of that name belongs to; 0 unknown. */
double run_period(const json_t *run, const char *metric);

/* What its samples have on average: the period or more, where they come late; 0 unknown. */
double run_increment(const json_t *run, const char *metric);

/* The most workers that a runtime had in one process, or where no agent told the most threads of a
 * process; at least 1. */
double run_most_workers(const json_t *run);

/* The name of the program that a process ran. */
const char *run_program_of(const json_t *process);

/* The names of all programs, each once, for the caller to free. */
typedef VEC(const char *) program_names;
program_names run_programs(const json_t *run);

/* Whether the processes ran on more than one host. */
bool run_hosts_differ(const json_t *run);

/* The rank of a process in its parallel job; -1 without one. */
int64_t run_rank(const json_t *process);

/* Appends "rank 3 on node2: ", or as much of it as is known. */
void run_add_place(const json_t *process, bool with_host, bool ascii, struct text *out);

/* Members of an object (or of anything else, which has none). */
const char *run_text(const json_t *object, const char *key);
double run_number(const json_t *object, const char *key);

#endif
