/* A database in HPCToolkit's format, version 4, opened for reading.
 *
 * database_open maps meta.db and profile.db and reads headers, descriptions of metrics and the list
 * of contexts with values. The tree, names and values are read on demand. The files are not
 * trusted: damaged parts are noted as problems (task.h) and read as empty. cct.db, which has the values of
 * profile.db by context, is not read.
 *
 * Procedures have dense ids: first the functions of meta.db, in their order; then one id for code
 * without function; then one for each *point*, code of which only module and offset are known. */
#ifndef VIEWER_DATABASE_H
#define VIEWER_DATABASE_H

#include "lib/alloc.h"
#include "lib/hash-tables.h"
#include "lib/path.h"
#include "viewer-tui/base/scope.h"
#include "viewer-tui/db/profile-values.h"
#include "viewer-tui/db/v4-map.h"
#include "viewer-tui/metrics/metric.h"

#include <jansson.h>

/* An array of structures in meta.db. */
struct table {
    uint64_t at, n, stride;
};

struct point {
    uint32_t module;
    uint64_t offset;
};

typedef VEC(uint32_t) context_ids;

struct nodes;
struct node_costs;
struct time_slice;
struct fold;

/* The programs (executables) of the entry points: "main thread of make", "main thread of cc1". If
 * the entry points name none, the title is the only program. */
struct database_programs {
    struct strtab names;
    uint32_t *of_entry; /* index of the program, by index of the entry point */
    bool are_compared;  /* with a database that has several */
};

struct database {
    char *folder;
    struct v4_map meta, profile;
    struct table modules, files, functions, entries;
    struct database_programs programs;
    struct metrics metrics;
    struct values values;     /* of the summary profile */
    struct nodes *nodes;      /* the contexts of meta.db; NULL until they are needed (database_nodes) */
    struct node_costs *costs; /* of them, or of those where some threads ran (node-costs.h) */
    struct time_slice *slice; /* the piece of time that they are sums over; NULL: all (time-slice.h) */
    bool *has_profile;  /* by number of the profile: whether it is in the sums; NULL: all are (thread-sums.h) */
    bool has_some_threads; /* a set of threads was chosen, so that facts about processes do not apply */
    VEC(struct point) points; /* code without function or line */
    struct idmap point_ids;
    context_ids no_call_site; /* ascending: contexts called from unknown sites */
    struct fold *fold;        /* of the nodes (fold.h); NULL if they are as in the file */
    const struct path_rules *rules; /* where sources are, and whose code; NULL: none */
    struct idmap owners;            /* (index, is a module, else a file) -> owner (code-owner.h) */
};

/* A procedure; unknown parts are NULL, NOTHING and 0. */
struct procedure {
    const char *name;
    uint32_t file, line;
    uint32_t module;
    uint64_t offset; /* of its entry in the module */
};

/* NULL, with the problem noted, if the folder has no readable database. */
struct database *database_open(const char *folder);
/* NULL allowed. Its trees must have been freed (fold_undo, database_forget_nodes). */
void database_close(struct database *db);

const char *database_title(const struct database *db);

/* The index of the structure that a pointer of meta.db refers to. NOTHING for pointer 0 and, with the problem noted,
 * for a pointer to anything else. */
uint32_t database_index(const struct database *db, const struct table *table, uint64_t pointer);
/* The id of the function at `pointer`; for 0 that of code without function. */
uint32_t database_procedure_id(const struct database *db, uint64_t pointer);
/* For a point: its procedure id, and an index that takes the place of a file's (beyond those of the
 * table). */
uint32_t database_point_procedure(struct database *db, uint32_t module, uint64_t offset);
uint32_t database_point_file(struct database *db, uint32_t module, uint64_t offset);

/* Number of procedure ids so far. */
uint32_t database_n_procedures(const struct database *db);
struct procedure database_procedure(const struct database *db, uint32_t id);

#define NAME_SIZE 128
/* The procedure's name. If it has none, one is made of its module and offset in `buffer`. */
const char *database_procedure_name(const struct database *db, uint32_t id, char buffer[NAME_SIZE]);

/* Whether the binary has a name for it: not "<hugo+0x1b919c0>", which hpcstruct gives. */
bool database_procedure_has_name(const struct database *db, uint32_t id);

/* The path of the binary, NULL for NOTHING. */
const char *database_module_path(const struct database *db, uint32_t index);

/* Whether a module is the kernel, and whether there is such a module. */
bool database_is_kernel(const struct database *db, uint32_t module);
bool database_has_kernel(const struct database *db);

/* The path of the source file on the machine where the code was measured or compiled; NULL for
 * NOTHING and for a point. */
const char *database_file_path(const struct database *db, uint32_t index);

/* The path of the copy of a source file, relative to the database's folder; NULL if there is none.
 */
const char *database_file_copy(const struct database *db, uint32_t index);

/* The point with this index; NULL if the index is a file or NOTHING. */
const struct point *database_file_point(const struct database *db, uint32_t index);

/* The entry point at `index` < entries.n, and its name unless `name` is NULL. False, with the
 * problem noted, if it is damaged. */
bool database_entry(const struct database *db, uint32_t index, struct v4_entry *entry,
                    const char **name);

/* Whether top-down views have a row for each program: there are several, or the database is
 * compared with one that has several. */
static inline bool database_shows_programs(const struct database *db)
{
    return db->programs.names.count > 1 || db->programs.are_compared;
}

/* Index of an entry point's program. */
static inline uint32_t database_program_of_entry(const struct database *db, uint32_t entry)
{
    return db->programs.of_entry[entry];
}

static inline const char *database_program_name(const struct database *db, uint32_t program)
{
    return strtab_string(&db->programs.names, program);
}

/* Bytes of an entry point's name that do not name its program: 11 of "main thread of make". They
 * are shown below a row of that program. */
size_t database_entry_name_length(const char *entry_name);

/* Number of profiles in profile.db; 0, with the problem noted, if their list is damaged. Number 0
 * is the summary, the others are threads. */
uint32_t database_n_profiles(const struct database *db);
struct v4_profile database_profile(const struct database *db, uint32_t number);

/* Whether a profile is a sum over others. */
static inline bool profile_is_summary(const struct v4_profile *profile)
{
    return profile->flags & V4_IS_SUMMARY;
}

/* Sets the contexts that were called from unknown sites: `ids` is an array of integers in run.json;
 * anything else is ignored. */
void database_set_no_call_site(struct database *db, const json_t *ids);
bool database_lacks_call_site(const struct database *db, uint32_t context_id);

#endif
