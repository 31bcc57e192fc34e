#include "hpcrun/launch/target.h"

#include "hpcrun/base/program-file.h"
#include "lib/alloc.h"
#include "lib/diag.h"
#include "lib/measurement-format.h"
#include "lib/safe-input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATUS_NOT_EXECUTABLE 126
#define STATUS_NOT_FOUND      127
#define MAX_SCRIPT_DEPTH      4

static void fail(const char *file, const char *why, int status)
{
    diag_error(file, "%s", why);
    exit(status);
}

static bool is_executable_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

static char *find_in_path(const char *command)
{
    const char *path = getenv("PATH");
    for (const char *at = path ? path : "/bin:/usr/bin"; *at;) {
        size_t length = strcspn(at, ":");
        char *candidate =
            mem_printf("%.*s/%s", length ? (int)length : 1, length ? at : ".", command);
        if (is_executable_file(candidate))
            return candidate;
        free(candidate);
        at += length + (at[length] == ':');
    }
    return NULL;
}

char *target_find(const char *command)
{
    struct stat status;
    if (!strchr(command, '/')) {
        char *found = *command ? find_in_path(command) : NULL;
        if (!found)
            fail(*command ? command : "''", "command not found", STATUS_NOT_FOUND);
        return found;
    }
    if (stat(command, &status) != 0)
        fail(command, strerror(errno), errno == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE);
    if (S_ISDIR(status.st_mode))
        fail(command, "is a directory", STATUS_NOT_EXECUTABLE);
    if (access(command, X_OK) != 0)
        fail(command, strerror(errno), STATUS_NOT_EXECUTABLE);
    return mem_strdup(command);
}

/* The rest of a script's first line after "#!"; NULL if the file is no script. The caller frees. */
static char *script_line(const char *path)
{
    char head[4096] = "", *cause = NULL;
    struct stat status;
    int fd = input_open(path, &status, &cause);
    free(cause); /* a file may be executable but not readable */
    if (fd < 0)
        return NULL;
    ssize_t size = read(fd, head, sizeof head - 1);
    close(fd);
    if (size < 2 || memcmp(head, "#!", 2) != 0)
        return NULL;
    head[size] = '\0';
    head[strcspn(head, "\n")] = '\0';
    return mem_strdup(head + 2);
}

static void check_interpreter(const char *script, const char *interpreter)
{
    struct stat status;
    char *what = mem_printf("interpreter of %s", script);
    if (stat(interpreter, &status) != 0) {
        diag_error(interpreter, "%s: %s", what, strerror(errno));
        exit(errno == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE);
    }
    if (!is_executable_file(interpreter)) {
        diag_error(interpreter, "%s: not an executable file", what);
        exit(STATUS_NOT_EXECUTABLE);
    }
    free(what);
}

/* Why hpcrun can't be loaded into the program, or into a script's interpreter. */
static enum unmeasured check(const char *path, unsigned depth)
{
    char *line = script_line(path), *rest = NULL;
    const char *interpreter = line ? strtok_r(line, " \t", &rest) : NULL;
    enum unmeasured why = UNMEASURED_NONE;
    if (line && !interpreter)
        fail(path, "a script that names no interpreter after '#!'", STATUS_NOT_EXECUTABLE);
    if (interpreter) {
        check_interpreter(path, interpreter);
        if (depth < MAX_SCRIPT_DEPTH)
            why = check(interpreter, depth + 1);
        free(line);
        return why;
    }
    return program_file_check_at(AT_FDCWD, path, true);
}

void target_check(const char *path)
{
    enum unmeasured why = check(path, 0);
    if (why == UNMEASURED_NONE)
        return;
    diag_error(path, "%s: can't be measured%s", unmeasured_reason(why),
               why == UNMEASURED_OTHER_MACHINE ? "" : ", except by root, from outside");
    exit(STATUS_NOT_EXECUTABLE);
}

/* A program that gives rights can only be measured by root. */
static bool is_measured_outside(enum unmeasured why)
{
    return why == UNMEASURED_STATIC || why == UNMEASURED_OTHER_LIBC ||
           (why != UNMEASURED_OTHER_MACHINE && getuid() == 0);
}

void target_check_outside(const char *path)
{
    enum unmeasured why = check(path, 0);
    if (access(path, R_OK) != 0) /* the kernel ends the events of others with its exec */
        fail(path, "can't be measured from outside: you may execute it, but not read it", STATUS_NOT_EXECUTABLE);
    if (why == UNMEASURED_NONE || is_measured_outside(why))
        return;
    diag_error(path, "%s: can't be measured from outside%s", unmeasured_reason(why),
               why == UNMEASURED_OTHER_MACHINE ? "" : ", except by root");
    exit(STATUS_NOT_EXECUTABLE);
}

bool target_is_foreign(const char *path)
{
    enum unmeasured why = check(path, 0);
    if (why == UNMEASURED_NONE || !is_measured_outside(why))
        return false;
    diag_note(path, "%s: measured from outside (see hpcrun(1), FROM OUTSIDE)", unmeasured_reason(why));
    return true;
}
