/* short_turns: two threads wait for one another all the time, until a line comes. Ends with status 7. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int to_echo[2], from_echo[2];

static void *ask(void *unused)
{
    char byte = 0;
    while (write(to_echo[1], &byte, 1) == 1 && read(from_echo[0], &byte, 1) == 1)
        continue;
    return unused;
}

static void *echo(void *unused)
{
    char byte;
    while (read(to_echo[0], &byte, 1) == 1 && write(from_echo[1], &byte, 1) == 1)
        continue;
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    if (pipe(to_echo) != 0 || pipe(from_echo) != 0 || pthread_create(&threads[0], NULL, ask, NULL) != 0 ||
        pthread_create(&threads[1], NULL, echo, NULL) != 0)
        return 1;
    puts("ready");
    fflush(stdout);
    getchar();
    return 7;
}
