/* Becomes a daemon in each of the four ways, in a child of its own. Prints a line for each: where the daemon
 * is and where its streams go to. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *stream(int fd, const struct stat before[3])
{
    struct stat now, null;
    if (fstat(fd, &now) != 0 || stat("/dev/null", &null) != 0)
        return "closed";
    return now.st_rdev == null.st_rdev && S_ISCHR(now.st_mode)                  ? "null"
           : now.st_ino == before[fd].st_ino && now.st_dev == before[fd].st_dev ? "kept"
                                                                                : "other";
}

static int free_descriptor(void)
{
    int fd = dup(2);
    close(fd);
    return fd;
}

/* Reports through the pipe: its own streams may be gone. */
static void become(int stay, int keep, int report)
{
    struct stat before[3];
    char line[200], where[100], there[100];
    for (int fd = 0; fd < 3; fd++)
        fstat(fd, &before[fd]);
    if (!getcwd(where, sizeof where))
        _exit(1);
    pid_t parent = getpid();
    int next = free_descriptor(), result = daemon(stay, keep);
    if (!getcwd(there, sizeof there))
        _exit(1);
    int size =
        snprintf(line, sizeof line, "daemon(%d, %d): %d, %s, %s %s %s%s%s%s\n", stay, keep, result,
                 strcmp(where, there) == 0 ? "stays"
                 : strcmp(there, "/") == 0 ? "root"
                                           : there,
                 stream(0, before), stream(1, before), stream(2, before),
                 getpid() != parent ? ", another process" : "",
                 getsid(0) == getpid() ? ", its own session" : "",
                 free_descriptor() == next ? "" : ", leaves a descriptor open");
    if (write(report, line, (size_t)size) != size)
        _exit(1);
    _exit(0);
}

int main(void)
{
    int pipes[2];
    char text[1000];
    for (int way = 0; way < 4; way++) {
        if (pipe(pipes) != 0)
            return 1;
        fflush(stdout);
        if (fork() == 0)
            become(way & 1, way >> 1, pipes[1]);
        close(pipes[1]);
        wait(NULL);
        ssize_t size = read(pipes[0], text, sizeof text);
        if (size <= 0 || fwrite(text, 1, (size_t)size, stdout) != (size_t)size)
            return 1;
        close(pipes[0]);
    }
    return 0;
}
