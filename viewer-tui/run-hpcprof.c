#include "viewer-tui/run-hpcprof.h"

#include "lib/alloc.h"
#include "lib/database-format.h"
#include "lib/diag.h"
#include "lib/measurement-format.h"
#include "lib/path.h"
#include "lib/run-set.h"
#include "lib/safe-output.h"
#include "lib/sanitized-text.h"
#include "lib/subprocess.h"
#include "lib/trusted-path.h"
#include "viewer-tui/base/text.h"
#include "viewer-tui/db/run.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_later(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

/* Time of a file's last modification; false if there is no such file. */
static bool modified(const char *folder, const char *name, struct timespec *when)
{
    struct stat status;
    autofree char *path = mem_printf("%s/%s", folder, name);
    bool exists = stat(path, &status) == 0;
    if (exists)
        *when = status.st_mtim;
    return exists;
}

/* Time of the latest measurement file in a directory; false if there is none. */
static bool latest_measurement(const char *folder, struct timespec *latest)
{
    bool found = false;
    DIR *directory = opendir(folder);
    struct dirent *entry;
    while (directory && (entry = readdir(directory))) {
        struct timespec when;
        size_t length = strlen(entry->d_name), suffix = strlen(MEASUREMENT_SUFFIX);
        bool is_named_so = length > suffix && strcmp(entry->d_name + length - suffix, MEASUREMENT_SUFFIX) == 0;
        if (!is_named_so || !modified(folder, entry->d_name, &when))
            continue;
        if (!found || is_later(when, *latest))
            *latest = when;
        found = true;
    }
    if (directory)
        closedir(directory);
    return found;
}

/* The name that hpcprof gives the database, in the current directory:
 *
 *     hpctoolkit-xz-measurements-2    hpctoolkit-xz-database-2
 *     anything else, X                hpctoolkit-X-database */
static char *database_name(const char *measurements)
{
    static const char prefix[] = "hpctoolkit-", word[] = "-measurements";
    autofree char *path = realpath(measurements, NULL);
    const char *base = path_name(path ? path : measurements);
    bool is_named_so = strncmp(base, prefix, strlen(prefix)) == 0;
    const char *found = is_named_so ? strstr(base, word) : NULL;
    char *name;
    if (found)
        name = mem_printf("%.*s-database%s", (int)(found - base), base, found + strlen(word));
    else
        name = mem_printf("%s%s-database", prefix, base);
    char *printable = printable_file_name(name); /* as hpcprof does */
    free(name);
    return printable;
}

/* Runs hpcprof without its output, the name of the database; true if it created the database, even with
 * errors in parts of it. */
static bool make_database(const char *measurements, const char *database)
{
    autofree char *tool = path_of_tool("hpcprof");
    char *const arguments[] = {tool, "-o", (char *)database, (char *)measurements, NULL};
    struct program_output result = run_program(&(struct program_start){
        .path = tool, .arguments = arguments, .input = NO_INPUT, .messages_pass = true});
    struct timespec when;
    bool has_run = result.status != -1, is_made = has_run && modified(database, V4_META_FILE, &when);
    if (!has_run)
        diag_error(tool, "%s", result.errors);
    else if (!is_made)
        diag_error(measurements, "hpcprof created no database");
    program_output_free(&result);
    return is_made;
}

static bool is_numbered_name(const char *path, const char *name)
{
    size_t length = strlen(name);
    if (strncmp(path, name, length) != 0)
        return false;
    const char *number = path + length + 1;
    return !path[length] ||
           (path[length] == '.' && *number && strspn(number, "0123456789") == strlen(number));
}

/* Why what has the name of the database is not shown; NULL: it is shown. In a shared directory it
 * may be of another user, and of other measurements. */
static const char *why_not_shown(const char *database, const char *measurements,
                                 struct timespec latest)
{
    struct stat status, of;
    struct timespec made;
    if (stat(database, &status) != 0 || stat(measurements, &of) != 0)
        return strerror(errno);
    const char *why = why_not_trusted(&status, &of);
    if (why)
        return why;
    if (!modified(database, V4_META_FILE, &made))
        return "it is not a database";
    if (!is_later(made, latest))
        return "it was made before the last measurement";
    return run_is_of(database, measurements) ? NULL : "it was made of other measurements";
}

/* The database with this name, which it takes, or a number behind it if what has that name is not
 * to be shown; runs hpcprof if there is none. */
static char *database_of_measurements(const char *measurements, struct timespec latest, char *name,
                                      bool is_reported)
{
    unsigned n = 1;
    char *other = NULL, *database = mem_strdup(name);
    const char *why, *why_not = NULL;
    bool found;
    while ((found = output_exists(database)) && (why = why_not_shown(database, measurements, latest))) {
        why_not = why;
        free(other);
        other = database;
        database = mem_printf("%s.%u", name, ++n); /* not NAME-2, which is that of another directory (database_name) */
    }
    if (is_reported && found)
        diag_note(measurements, "is a measurement directory; opening its database %s", database);
    else if (is_reported && other)
        diag_note(measurements, "%s is not shown: %s; running hpcprof to create %s", other, why_not, database);
    else if (is_reported)
        diag_note(measurements, "is a measurement directory; running hpcprof to create %s", database);
    free(other);
    free(name);
    if (found || make_database(measurements, database))
        return database;
    free(database);
    return NULL;
}

char *database_for(const char *path)
{
    struct timespec when;
    struct stat status;
    if (modified(path, V4_META_FILE, &when))
        return mem_strdup(path);
    if (stat(path, &status) != 0)
        diag_error(path, "%s", strerror(errno));
    else if (S_ISDIR(status.st_mode) && access(path, R_OK | X_OK) != 0)
        diag_error(path, "%s", strerror(errno));
    else if (!S_ISDIR(status.st_mode))
        diag_error(path, "not a directory: neither a database nor a measurement directory");
    else if (latest_measurement(path, &when))
        return database_of_measurements(path, when, database_name(path), true);
    else if (run_set_exists(path))
        diag_error(path,
                   "is a set of runs; to see it: hpcviewer %s, or hpcviewer --print scaling %s",
                   path, path);
    else
        diag_error(path, "neither a database (no " V4_META_FILE
                         ") nor a measurement directory (no *" MEASUREMENT_SUFFIX ")");
    return NULL;
}

char *database_of_set_run(const char *set, const struct set_run *run)
{
    char *measurements = mem_printf("%s/%s", set, run->directory), *database = NULL;
    struct timespec when;
    if (latest_measurement(measurements, &when))
        database = database_of_measurements(measurements, when, mem_printf("%s-database", measurements), false);
    else
        diag_error(measurements, "has no measurements (no *" MEASUREMENT_SUFFIX ")");
    free(measurements);
    return database;
}

/* Whether a directory entry is a database, or a measurement directory. */
static int is_path(const struct dirent *entry)
{
    struct timespec when;
    return entry->d_name[0] != '.' && (modified(entry->d_name, V4_META_FILE, &when) ||
                                       latest_measurement(entry->d_name, &when));
}

/* Whether a path is the database that one of the measurement directories among the paths has. */
static bool is_database_of_another(const char *path, struct dirent *const *entries, int n)
{
    struct timespec when;
    bool is = false;
    for (int i = 0; i < n && !is; i++) {
        char *database = latest_measurement(entries[i]->d_name, &when)
                             ? database_name(entries[i]->d_name)
                             : mem_strdup("/");
        is = is_numbered_name(path, database);
        free(database);
    }
    return is;
}

char *only_path_here(void)
{
    struct dirent **entries = NULL;
    autofree struct text names = {0};
    char *only = NULL;
    struct timespec when;
    if (modified(".", V4_META_FILE, &when) || latest_measurement(".", &when))
        return mem_strdup(".");
    int n = scandir(".", &entries, is_path, alphasort), n_found = 0, n_of_others = 0;
    for (int i = 0; i < n; i++) {
        struct stat status, here; /* the user, root or the owner of the current directory must have made it */
        if (stat(entries[i]->d_name, &status) != 0 || stat(".", &here) != 0 || why_not_trusted(&status, &here)) {
            n_of_others++;
            continue;
        }
        if (is_database_of_another(entries[i]->d_name, entries, n))
            continue;
        text_printf(&names, "%s%s", n_found++ ? ", " : "", entries[i]->d_name);
        free(only);
        only = mem_strdup(entries[i]->d_name);
    }
    if (n_found == 0 && n_of_others)
        diag_usage("no database given, and those here are other users'");
    if (n_found == 0)
        diag_usage("no database given, and neither a database nor a measurement directory is here");
    if (n_found > 1)
        diag_usage("no database given, and several are here: %s", text_string(&names));
    for (int i = 0; i < n; i++)
        free(entries[i]);
    free(entries);
    return only;
}
