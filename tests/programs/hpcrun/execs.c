/* execs HOW PROGRAM: becomes the program, or starts it as a child and waits, by the function HOW. Some
 * of these functions search the program in PATH. */
#include <fcntl.h>
#include <libgen.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int ended(int error, const pid_t *child)
{
    int status = 1;
    return error == 0 && waitpid(*child, &status, 0) == *child ? status : 1;
}

static int piped(const char *command)
{
    char line[256];
    FILE *pipe = popen(command, "r");
    while (fgets(line, sizeof line, pipe))
        fputs(line, stdout);
    return pclose(pipe);
}

int main(int count, char **arguments)
{
    if (count != 3)
        return 2;
    const char *how = arguments[1];
    char *path = arguments[2], *name = basename(strdup(path));
    char *list[] = {name, NULL};
    pid_t child = 0;
    if (strcmp(how, "execv") == 0)
        execv(path, list);
    if (strcmp(how, "execve") == 0)
        execve(path, list, environ);
    if (strcmp(how, "execvp") == 0)
        execvp(name, list);
    if (strcmp(how, "execvpe") == 0)
        execvpe(name, list, environ);
    if (strcmp(how, "execl") == 0)
        execl(path, name, (char *)NULL);
    if (strcmp(how, "execlp") == 0)
        execlp(name, name, (char *)NULL);
    if (strcmp(how, "execle") == 0)
        execle(path, name, (char *)NULL, environ);
    if (strcmp(how, "fexecve") == 0)
        fexecve(open(path, O_RDONLY), list, environ);
    if (strcmp(how, "execveat") == 0)
        execveat(AT_FDCWD, path, list, environ, 0);
    if (strcmp(how, "execveat-descriptor") == 0)
        execveat(open(path, O_RDONLY), "", list, environ, AT_EMPTY_PATH);
    if (strcmp(how, "fexecve-path") == 0)
        fexecve(open(path, O_PATH), list, environ);
    if (strcmp(how, "posix_spawn") == 0)
        return ended(posix_spawn(&child, path, NULL, NULL, list, environ), &child);
    if (strcmp(how, "posix_spawnp") == 0)
        return ended(posix_spawnp(&child, name, NULL, NULL, list, environ), &child);
    if (strcmp(how, "system") == 0)
        return system(path);
    if (strcmp(how, "popen") == 0)
        return piped(path);
    if (strcmp(how, "vfork") == 0) {
        child = vfork();
        if (child == 0) {
            execve(path, list, environ);
            _exit(1);
        }
        return ended(0, &child);
    }
    return 1;
}
