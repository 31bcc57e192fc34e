/* Four processes wait in read for a fifth, which sleeps. Usage: waiting_children [SECONDS / 10] */
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    long tenths = argc > 1 ? atol(argv[1]) : 5;
    struct timespec time = {tenths / 10, tenths % 10 * 100000000};
    int ends[2];
    if (pipe(ends) != 0)
        return 1;
    for (int i = 0; i < 4; i++)
        if (fork() == 0) {
            char byte;
            close(ends[1]);
            _exit(read(ends[0], &byte, 1) != 0); /* MARK read */
        }
    close(ends[0]);
    nanosleep(&time, NULL);
    close(ends[1]);
    while (wait(NULL) > 0)
        ;
    return 0;
}
