#include "hpcrun/launch/outside-launch.h"

#include "hpcrun/base/small-file.h"
#include "lib/alloc.h"
#include "lib/diag.h"

#include <inttypes.h>
#include <libgen.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#define USUAL_MEMORY ((uint64_t)512 << 20)

/* The path of hpcrun-outside; the caller frees. */
static char *find_program(const char *library)
{
    char *folder = mem_strdup(library);
    char *program = mem_printf("%s/" OUTSIDE_PROGRAM, dirname(folder));
    free(folder);
    return program;
}

/* hpcrun-outside may have a right that hpcrun lacks (setcap), so it looks itself. It prints what is wrong. */
static void check_rights(const char *library, const char *processes)
{
    char *program = find_program(library);
    char *arguments[] = {program, (char[]){"check"}, processes ? (char *)processes : (char[]){""}, NULL};
    pid_t pid;
    int status, error = posix_spawn(&pid, program, NULL, NULL, arguments, environ);
    if (error != 0)
        diag_fatal(program, "%s", strerror(error));
    if (waitpid(pid, &status, 0) != pid || status != 0)
        exit(1);
    free(program);
}

void outside_check(const struct options *options, const struct config *config, const char *processes,
                   const char *library)
{
    if (config->event_count != 1 || !event_is_time(&config->events[0]))
        diag_fatal(NULL, "from outside, only CPUTIME or REALTIME is measured, one of them");
    if (options->pids && strcmp(options->pids, OUTSIDE_ALL) == 0 && config->events[0].kind != EVENT_CPUTIME)
        diag_fatal(NULL, "-a measures CPUTIME only");
    if (options->work_span)
        diag_fatal(NULL,
                   "--work-span: the runtime reports work and span only to a hpcrun that is loaded "
                   "into the program");
    if (options->start_off)
        diag_fatal(NULL, "-ds: a program that hpcrun is not loaded into can't switch sampling on");
    if (options->is_on_llvm_openmp)
        diag_fatal(
            NULL,
            "--openmp: hpcrun gives another runtime only to a program that it is loaded into");
    if (strcmp(options->agents, "auto") != 0 && strcmp(options->agents, "none") != 0)
        diag_note(NULL, "--agent %s has no effect from outside: hpcrun chooses agents itself there", options->agents);
    check_rights(library, processes);
}

const char *outside_name(const char *processes)
{
    static char name[64] = "system";
    if (strcmp(processes, OUTSIDE_ALL) == 0)
        return name;
    size_t size = 0;
    for (const char *at = processes; at && size == 0; at = strpbrk(at, ",;")) {
        char path[48];
        at += strspn(at, ",;");
        snprintf(path, sizeof path, "/proc/%d/comm", atoi(at));
        size = small_file_read(path, name, sizeof name);
    }
    if (size == 0)
        diag_fatal(NULL, "process %d: there is no such process", atoi(processes + strspn(processes, ";")));
    name[strcspn(name, "\n")] = '\0';
    for (char *at = name; *at; at++)
        if (*at == '/')
            *at = '_';
    return name;
}

/* With the classic layout of addresses, the kernel puts libraries at a third of the address space, where
 * other programs have none; and with random addresses. Sandboxes may forbid this: then the two may meet,
 * which is unlikely. Returns the personality that the command has. */
static unsigned long change_layout(void)
{
    int before = personality(0xffffffff);
    personality(((unsigned long)before | ADDR_COMPAT_LAYOUT) & ~(unsigned long)ADDR_NO_RANDOMIZE);
    return before < 0 ? 0 : (unsigned long)before;
}

_Noreturn void outside_become(const struct options *options, const char *processes, const char *file,
                              const char *library)
{
    char *program = find_program(library);
    size_t count = 0, at = 0;
    while (options->command && options->command[count])
        count++;
    char **arguments = mem_alloc((count + 6) * sizeof *arguments);
    memset(arguments, 0, (count + 6) * sizeof *arguments);
    arguments[at++] = program;
    arguments[at++] = mem_printf("%#lx", change_layout());
    arguments[at++] = mem_printf("%.9f:%" PRIu64, options->seconds,
                                 options->memory ? options->memory : USUAL_MEMORY);
    arguments[at++] = mem_strdup(file ? "run" : processes);
    if (file)
        arguments[at++] = mem_strdup(file);
    for (size_t i = 0; i < count; i++)
        arguments[at++] = options->command[i];
    execv(program, arguments);
    diag_fatal(program, "%s", strerror(errno));
}
