/* tables FILE: a thread gets its own table of descriptors (unshare) and fills it with FILE before the
 * first sample; then both threads use the CPU. Prints the size of the file. */
#include "burn.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>

static const char *path;
static pthread_barrier_t barrier;

static void *run(void *argument)
{
    if (unshare(CLONE_FILES) != 0)
        exit(3);
    while (open(path, O_RDWR | O_CREAT | O_APPEND, 0600) >= 0)
        continue;
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    burn(50000000);
    return argument;
}

int main(int count, char **arguments)
{
    struct stat status;
    pthread_t thread;
    if (count != 2)
        return 2;
    path = arguments[1];
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, run, NULL);
    pthread_barrier_wait(&barrier);
    burn(100000000);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    if (stat(path, &status) != 0)
        return 1;
    printf("%ld\n", (long)status.st_size);
    return 0;
}
