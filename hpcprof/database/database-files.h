/* Writes the files of a database (doc/FORMAT-database.md). `path` is that of the file, in the
 * folder that is written to. A file that cannot be written ends the process with a message. */
#ifndef HPCPROF_DATABASE_FILES_H
#define HPCPROF_DATABASE_FILES_H

#include "hpcprof/attribution/projection.h"
#include "hpcprof/database/traced-threads.h"
#include "hpcprof/threads/thread-creations.h"
#include "hpcprof/tree/numbered-contexts.h"

/* profile.db: the values of every thread, context by context, and of all threads together. The
 * projection is renumbered. */
void profile_db_write(const char *path, const struct numbered_contexts *contexts,
                      const struct analysis *analysis, const struct projection *projection,
                      unsigned workers);

/* cct.db: the values of the threads context by context and metric by metric, from a finished
 * profile.db. `contexts` counts context 0; ids of metrics are below `metric_ids`. */
void cct_db_write(const char *path, const char *profile_db, size_t contexts, size_t metric_ids,
                  unsigned workers);

/* Texts and paths of meta.db. */
struct meta_texts {
    const char *title;
    const char *description;   /* Markdown */
    const char *copies_prefix; /* "" or "../": leads from the folder of meta.db to that of the
                                  copies of sources */
    char *const *copies;       /* by file of the symbol table: path of its copy, or "" */
};

/* meta.db: title, metrics, modules, source files, functions and the tree of contexts. */
void meta_db_write(const char *path, const struct meta_texts *texts,
                   const struct numbered_contexts *contexts, const struct analysis *analysis);

/* metrics/default.yaml: the metrics that viewers of HPCToolkit's databases show, inclusive and
 * exclusive: the sum and the statistics of each stored one, and effort, which is a sum of them. */
void metrics_yaml_write(const char *path, const struct metric_table *metrics);

/* run.json: what a run is about and the v4 format has no place for. `traced`: threads of the time line; NULL:
 * there is none. */
void run_json_write(const char *path, const char *title, const struct analysis *analysis,
                    const struct thread_creations *creations,
                    const struct traced_threads *traced,
                    const struct context_ids *unknown_site_calls);

/* A procedure has an entry in instructions.json.gz if it has at least this share of a metric. */
#define INSTRUCTIONS_LEAST_SHARE 0.001

/* instructions.json.gz: costs of single instructions, and their code, of the most expensive procedures
 * (doc/FORMAT-database.md, section 3). `costs` are sorted. `for_others`: the database is shared, so
 * code of binaries that not everybody may read is left out. */
void instructions_json_write(const char *path, const struct instruction_costs *costs,
                             const struct analysis *analysis, bool for_others);

/* FORMATS.md: a guide to the files of the database. */
void formats_write(const char *path);

/* The last image of the launched process: earlier ones (env, a script that starts an interpreter)
 * are not the program that the user means. The first image of all if the launched process is
 * unknown. */
const struct measurement *launched_program(const struct measurements *measurements);

/* The name of the program that was measured, or SYSTEM_TITLE; the caller frees. */
char *run_title(const struct measurements *measurements);

/* A few lines of Markdown about the run; the caller frees. */
char *run_description(const struct measurements *measurements);

#endif
