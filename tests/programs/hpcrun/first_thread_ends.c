/* first_thread_ends: its first thread ends. Another one says "ready" then, and after a line of input burns CPU time for
 * 0.3 s, DEPTH frames deep: 400 KB of stack. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define DEPTH 200

static pthread_t first;
static volatile double x = 1;

static double cpu_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void burn(void)
{
    for (double end = cpu_time() + 0.3; cpu_time() < end;)
        for (int i = 0; i < 100000; i++)
            x = x * 1.0000001;
}

__attribute__((noinline)) static int deep(int depth)
{
    char frame[2000];
    memset(frame, depth, sizeof frame);
    if (depth > 0)
        return deep(depth - 1) + ((volatile char *)frame)[depth];
    burn();
    return frame[0];
}

static void *run(void *unused)
{
    pthread_join(first, NULL);
    puts("ready");
    fflush(stdout);
    getchar();
    return deep(DEPTH) ? NULL : unused;
}

int main(void)
{
    pthread_t thread;
    first = pthread_self();
    pthread_create(&thread, NULL, run, NULL);
    pthread_exit(NULL);
}
