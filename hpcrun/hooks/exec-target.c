#include "hpcrun/hooks/exec-target.h"

#include "hpcrun/base/program-file.h"
#include "hpcrun/base/sys.h"
#include "hpcrun/base/text-buffer.h"
#include "hpcrun/process/output-directory.h"
#include "hpcrun/process/process.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define PRELOAD "LD_PRELOAD="
#define LIBRARY "libhpcrun.so"
#define AGENTS  "agents/"

/* A process that restricts its system calls may have forbidden those that check rights. */
enum unmeasured exec_target_check(int fd)
{
    return program_file_check(fd, !process.restricted);
}

enum unmeasured exec_target_check_at(int directory, const char *path)
{
    return program_file_check_at(directory, path, !process.restricted);
}

enum unmeasured exec_user_check(void)
{
    return output_directory_is_lost() ? UNMEASURED_OTHER_USER : UNMEASURED_NONE;
}

enum unmeasured exec_command_check(const char *command)
{
    char path[PATH_MAX];
    const char *at = getenv("PATH");
    if (strchr(command, '/') || !at || process.restricted)
        return exec_target_check_at(AT_FDCWD, command);
    for (size_t length; *at; at += length + (at[length] == ':')) {
        length = strcspn(at, ":");
        if (length + 1 + strlen(command) >= sizeof path)
            continue;
        memcpy(path, at, length);
        path[length] = '/';
        strcpy(path + length + (length > 0), command);
        if (sys3(SYS_faccessat, AT_FDCWD, path, X_OK) == 0)
            return exec_target_check_at(AT_FDCWD, path);
    }
    return UNMEASURED_NONE;
}

struct environment_size environment_size(char *const *environment)
{
    struct environment_size size = {.entries = 1};
    for (; environment && *environment; environment++) {
        size.entries++;
        if (strncmp(*environment, PRELOAD, strlen(PRELOAD)) == 0)
            size.bytes = strlen(*environment) + 1;
    }
    return size;
}

static bool is_our_library(const char *path, size_t length)
{
    size_t name = strlen(LIBRARY);
    return length >= name && memcmp(path + length - name, LIBRARY, name) == 0;
}

/* Whether a path is that of an agent beside our library: in the folder `agents` of its folder. */
static bool is_our_agent(const char *path, size_t length, const char *library, size_t folder)
{
    size_t agents = strlen(AGENTS);
    return library && length > folder + agents && memcmp(path, library, folder) == 0 &&
           memcmp(path + folder, AGENTS, agents) == 0;
}

static bool can_be_opened(const char *start, size_t length)
{
    char path[PATH_MAX];
    if (length >= sizeof path)
        return false;
    *(char *)mempcpy(path, start, length) = '\0';
    int fd = (int)sys4(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    if (fd >= 0)
        sys1(SYS_close, fd);
    return fd >= 0 || fd == -EMFILE || fd == -ENFILE;
}

static enum unmeasured check_run(char *const *environment)
{
    const char *directory = config_variable(environment, CONFIG_DIR);
    if (!directory)
        return UNMEASURED_ENVIRONMENT;
    return strcmp(directory, process.config.directory) == 0 ? UNMEASURED_NONE
                                                            : UNMEASURED_OTHER_RUN;
}

enum unmeasured environment_check(char *const *environment)
{
    bool names_us = false;
    for (char *const *entry = environment; entry && *entry; entry++) {
        const char *at = text_after(*entry, PRELOAD);
        for (size_t length; at && *at; at += length + (at[length] != '\0')) {
            length = strcspn(at, ": ");
            if (!is_our_library(at, length))
                continue;
            if (!can_be_opened(at, length))
                return UNMEASURED_OUT_OF_REACH;
            names_us = true;
        }
    }
    return names_us ? check_run(environment) : UNMEASURED_ENVIRONMENT;
}

/* Copies LD_PRELOAD, a list separated by colons or spaces, without our library and the agents
 * behind it. False if nothing is left. */
static bool without_our_library(const char *entry, char *text)
{
    char *to = stpcpy(text, PRELOAD);
    bool any = false;
    const char *library = NULL;
    size_t folder = 0; /* bytes of the library's folder, with the last slash */
    for (const char *at = entry + strlen(PRELOAD); *at;) {
        size_t length = strcspn(at, ": ");
        if (is_our_library(at, length)) {
            library = at;
            folder = length - strlen(LIBRARY);
        } else if (length > 0 && !is_our_agent(at, length, library, folder)) {
            if (any)
                *to++ = ':';
            to = mempcpy(to, at, length);
            any = true;
        }
        at += length + (at[length] != '\0');
    }
    *to = '\0';
    return any;
}

void environment_without_us(char *const *environment, char **copy, char *text)
{
    for (; environment && *environment; environment++) {
        bool preloads = strncmp(*environment, PRELOAD, strlen(PRELOAD)) == 0;
        if (!preloads)
            *copy++ = *environment;
        else if (without_our_library(*environment, text))
            *copy++ = text;
    }
    *copy = NULL;
}
