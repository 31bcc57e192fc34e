/* A v4 database of HPCToolkit, ours or not, opened for looking at.
 *
 * Opening maps meta.db and profile.db and reads headers, metric descriptions and the list of
 * contexts that have values; contexts, names and values are read when somebody asks for them.
 * Nothing in the files is trusted: what is damaged is noted (task.h) and reads as nothing. All
 * of the database's files are looked at, cct.db too: that it is damaged is noted, but profile.db
 * says the same, so that nothing is lost.
 *
 * Procedures have dense ids: the functions of meta.db in their order, then one for what has no
 * function, then code that is known by module and offset only, a *point*. */
#ifndef VIEWER_DATABASE_H
#define VIEWER_DATABASE_H

#include "lib/alloc.h"
#include "lib/hash-tables.h"
#include "viewer-tui/base/scope.h"
#include "viewer-tui/db/summary-values.h"
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

/* Ids of contexts. */
typedef VEC(uint32_t) context_ids;

struct fold;

/* The programs (executables) of the entry points: "main thread of make", "main thread of cc1". If
 * the entry points name none, the title is the only program. */
struct database_programs {
    const char **names; /* in the mapped file */
    size_t n;
    uint32_t *of_entry; /* index of the program, by index of the entry point */
    bool are_compared;  /* with a database that has several */
};

struct database {
    char *folder;
    struct v4_map meta, profile;
    struct table modules, files, functions, entries;
    struct database_programs programs;
    struct metrics metrics;
    struct values values;
    bool *has_profile;        /* by number: the threads that they are sums over; NULL: all */
    bool is_restricted;       /* they are sums over some of the threads (restrict.h) */
    VEC(struct point) points; /* code without function or line */
    struct idmap point_ids;
    context_ids no_call_site; /* ascending: calls from sites that are not known */
    struct fold *fold;        /* its inlined code is folded (fold.h); NULL */
};

/* A procedure; unknown parts are NULL, NOTHING and 0. */
struct procedure {
    const char *name;
    uint32_t file, line;
    uint32_t module;
    uint64_t offset; /* of its entry in the module */
};

/* NULL, with the problem noted, when the folder holds no database that can be read. */
struct database *database_open(const char *folder);
/* NULL allowed; inlined code must not be folded (fold_undo). */
void database_close(struct database *db);

const char *database_title(const struct database *db);

/* Indices of the structures that pointers of meta.db refer to; NOTHING for pointer 0, and, with
 * the problem noted, for one that points to no structure of that kind. */
uint32_t database_module_index(const struct database *db, uint64_t pointer);
uint32_t database_file_index(const struct database *db, uint64_t pointer);
/* The id of the procedure that is the function at `pointer`, the unknown one for 0. */
uint32_t database_procedure_id(const struct database *db, uint64_t pointer);
/* For code of which only module and offset are known: the id of the procedure that begins there,
 * and an index for it where those of files stand (beyond those of the table). */
uint32_t database_point_procedure(struct database *db, uint32_t module, uint64_t offset);
uint32_t database_point_file(struct database *db, uint32_t module, uint64_t offset);

/* Number of procedure ids so far. */
uint32_t database_n_procedures(const struct database *db);
struct procedure database_procedure(const struct database *db, uint32_t id);

#define NAME_SIZE 128
/* The procedure's name; where it has none one is made from its place, in `buffer`. */
const char *database_procedure_name(const struct database *db, uint32_t id, char buffer[NAME_SIZE]);

/* The path of the binary, NULL for NOTHING. */
const char *database_module_path(const struct database *db, uint32_t index);

/* The path of the source file on the machine where it was measured or compiled; NULL for NOTHING
 * and where there is only a point. */
const char *database_file_path(const struct database *db, uint32_t index);

/* Where a copy of the source file is, relative to the database's folder; NULL when it was not
 * copied. */
const char *database_file_copy(const struct database *db, uint32_t index);

/* The point that stands for a file; NULL for those that are files, and for NOTHING. */
const struct point *database_file_point(const struct database *db, uint32_t index);

/* The entry point at `index` < entries.n; false, with the problem noted, when it is damaged. */
bool database_entry(const struct database *db, uint32_t index, struct v4_entry *entry,
                    const char **name);

/* Whether top-down views have a row for each program: there are several, or the database is
 * compared with one that has several. */
static inline bool database_shows_programs(const struct database *db)
{
    return db->programs.n > 1 || db->programs.are_compared;
}

/* Index of an entry point's program. */
static inline uint32_t database_program_of_entry(const struct database *db, uint32_t entry)
{
    return db->programs.of_entry[entry];
}

static inline const char *database_program_name(const struct database *db, uint32_t program)
{
    return db->programs.names[program];
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

/* Notes the calls from sites that are not known; `ids` is an array of integers of run.json, or
 * anything else, which says nothing. */
void database_set_no_call_site(struct database *db, const json_t *ids);
bool database_lacks_call_site(const struct database *db, uint32_t context_id);

/* Whether views leave out a context without values, and what is below it: where the values are
 * those of some threads, these never came there. */
static inline bool database_leaves_out(const struct database *db, bool has_values)
{
    return db->is_restricted && !has_values;
}

/* The costs of the whole program, of stored metrics; their exclusive part is what belongs to no
 * entry point. */
void database_totals(const struct database *db, struct cost *totals);

#endif
