/* borrowed-stacks MS: a thread executes the rest of functions of other threads, as a worker of
 * OpenCilk does that has stolen it: the innermost frames are on its own stack, their callers on the
 * other thread's. It works for MS of CPU time in each of
 *
 *     main > first > lender > lend > work
 *     main > second > lender > lend > work    a thread that gets the stack of the first one
 *     main > third > lender > lend > work     a thread whose stack is an array of third */
#include "burn.h"

#include <alloca.h>
#include <semaphore.h>

#define NOT_INLINED __attribute__((noinline)) static

enum { FRAME, LABEL, STACK, WORDS = 5 }; /* of what __builtin_setjmp saves */

static void *rest_of_lend[WORDS], *rest_of_borrow[WORDS];
static sem_t lent, returned;
static uint64_t work_ns;
static volatile size_t nothing;

/* A function of its own: none may both save a place and jump. */
NOT_INLINED _Noreturn void resume(void **place)
{
    __builtin_longjmp(place, 1);
}

NOT_INLINED void work(void)
{
    burn(work_ns);
    burn_sink++;
}

/* alloca: the function finds its variables by its frame pointer only. */
NOT_INLINED void lend(void)
{
    burn_sink += (uintptr_t)alloca(nothing);
    if (__builtin_setjmp(rest_of_lend) == 0) {
        sem_post(&lent);
        sem_wait(&returned);
        return;
    }
    work();
    resume(rest_of_borrow);
}

NOT_INLINED void *lender(void *unused)
{
    lend();
    burn_sink++;
    return unused;
}

/* Executes the rest of lend on the stack of this thread, below this function's frame. */
NOT_INLINED void borrow(void)
{
    enum { BELOW = 4096 };
    if (__builtin_setjmp(rest_of_borrow) == 0) {
        uintptr_t frame = (uintptr_t)__builtin_frame_address(0) & ~(uintptr_t)15;
        rest_of_lend[STACK] = (void *)(frame - BELOW);
        resume(rest_of_lend);
    }
}

static void *borrower(void *unused)
{
    for (int loan = 0; loan < 3; loan++) {
        sem_wait(&lent);
        borrow();
        sem_post(&returned);
    }
    return unused;
}

static pthread_t create(void *(*function)(void *), const pthread_attr_t *attributes)
{
    pthread_t thread;
    if (pthread_create(&thread, attributes, function, NULL) != 0)
        exit(1);
    return thread;
}

NOT_INLINED void first(void)
{
    pthread_join(create(lender, NULL), NULL);
    burn_sink++;
}

NOT_INLINED void second(void)
{
    pthread_join(create(lender, NULL), NULL);
    burn_sink += 2;
}

NOT_INLINED void third(void)
{
    _Alignas(4096) char stack[1 << 18];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, sizeof stack);
    pthread_join(create(lender, &attributes), NULL);
    pthread_attr_destroy(&attributes);
}

int main(int count, char **arguments)
{
    work_ns = (uint64_t)(count > 1 ? atoi(arguments[1]) : 100) * 1000000u;
    sem_init(&lent, 0, 0);
    sem_init(&returned, 0, 0);
    pthread_t other = create(borrower, NULL);
    first();
    second();
    third();
    pthread_join(other, NULL);
    return 0;
}
