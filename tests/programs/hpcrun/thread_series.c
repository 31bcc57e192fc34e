/* thread_series N: prints "ready" and waits for a line; then creates N threads on one CPU, each when the one before has ended;
 * prints "done" and waits for a line again. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static void *end(void *unused)
{
    return unused;
}

static void wait_for_line(const char *word)
{
    char line[16];
    puts(word);
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin))
        exit(1);
}

int main(int count, char **arguments)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (count != 2 || sched_setaffinity(0, sizeof one, &one) != 0)
        return 2;
    wait_for_line("ready");
    for (long left = atol(arguments[1]); left > 0; left--) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, end, NULL) != 0)
            return 3;
        pthread_join(thread, NULL);
    }
    wait_for_line("done");
    return 0;
}
