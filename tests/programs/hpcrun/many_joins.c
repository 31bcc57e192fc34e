/* many_joins ROUNDS: four threads create ROUNDS threads each, one after the other, and join them,
 * detach them, or leave the join to main, so that thread ids are reused all the time. Then a thread is
 * canceled in a join, and the join is repeated; then children of forks create and join threads. Prints
 * the KiB by which the process has grown over the second half of ROUNDS,
 * and "fine". */
#include "tests/programs/hpcrun/burn.h"

#include <semaphore.h>
#include <sys/wait.h>

static int rounds;
static pthread_t left;
static sem_t is_left, is_taken, may_end;

static long resident_kib(void)
{
    char line[256];
    long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (strncmp(line, "VmRSS:", 6) == 0)
            kib = atol(line + 6);
    if (status)
        fclose(status);
    return kib;
}

static void *nothing(void *argument)
{
    return argument;
}

static void *detaches_itself(void *argument)
{
    pthread_detach(pthread_self());
    return argument;
}

static void one_round(int round)
{
    pthread_t id;
    switch (round % 4) {
    case 0:
    case 1:
        pthread_create(&id, NULL, nothing, NULL);
        pthread_join(id, NULL);
        break;
    case 2:
        pthread_create(&id, NULL, nothing, NULL);
        pthread_detach(id);
        break;
    default: pthread_create(&id, NULL, detaches_itself, NULL);
    }
}

static void *creator(void *argument)
{
    for (int i = 0; i < rounds; i++)
        one_round(i);
    return argument;
}

static void *leaver(void *argument)
{
    for (int i = 0; i < rounds / 4; i++) {
        pthread_create(&left, NULL, nothing, NULL);
        sem_post(&is_left);
        sem_wait(&is_taken);
    }
    return argument;
}

static void run_rounds(void)
{
    pthread_t creators[3], leaves;
    for (int i = 0; i < 3; i++)
        pthread_create(&creators[i], NULL, creator, NULL);
    pthread_create(&leaves, NULL, leaver, NULL);
    for (int i = 0; i < rounds / 4; i++) {
        sem_wait(&is_left);
        pthread_join(left, NULL);
        sem_post(&is_taken);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(creators[i], NULL);
    pthread_join(leaves, NULL);
}

__attribute__((noinline)) static void *waited_for(void *argument)
{
    sem_wait(&may_end);
    burn(50000000);
    return argument;
}

static pthread_t waited;

static void *waits(void *argument)
{
    sem_post(&is_left);
    pthread_join(waited, NULL);
    return argument;
}

__attribute__((noinline)) static void canceled_join(void)
{
    pthread_t canceled;
    pthread_create(&waited, NULL, waited_for, NULL);
    pthread_create(&canceled, NULL, waits, NULL);
    sem_wait(&is_left);
    pthread_cancel(canceled);
    pthread_join(canceled, NULL);
    sem_post(&may_end);
    pthread_join(waited, NULL);
    __asm__ volatile("");
}

static int in_children(void)
{
    int wrong = 0;
    for (int i = 0; i < 5; i++) {
        int status = 1;
        pid_t child = fork();
        if (child == 0) {
            for (int k = 0; k < 20; k++)
                one_round(k);
            exit(0);
        }
        wrong += waitpid(child, &status, 0) != child || status != 0;
    }
    return wrong;
}

int main(int count, char **arguments)
{
    if (count != 2)
        return 1;
    sem_init(&is_left, 0, 0);
    sem_init(&is_taken, 0, 0);
    sem_init(&may_end, 0, 0);
    rounds = atoi(arguments[1]) / 2;
    run_rounds();
    long before = resident_kib();
    run_rounds();
    long after = resident_kib();
    canceled_join();
    if (in_children() != 0)
        return 2;
    printf("%ld\nfine\n", after - before);
    return 0;
}
