/* What clang -fopencilk -fcilktool=cilkscale makes of a Cilk program, written by hand: the hooks and a
 * function for each spawned task, without a runtime, so all tasks run in their place. Annotated as
 * with <cilk/cilkscale.h>. Frame pointers, as procedures that spawn have.
 *
 *     hooked fib N       prints fib(N); the main program does not spawn
 *     hooked nested      `outer` spawns a task that calls `inner` twice, and calls `inner`
 *     hooked main N      main itself spawns; ends in exit()
 *     hooked plain       no hooks
 *     hooked orphan      a spawn in a procedure without begin
 *     hooked jump        a procedure is left without its end
 *     hooked thread      a probe in a thread that Cilk does not know
 *     hooked end         exits in a task whose spawner continues elsewhere */
#include "hpcrun/cilktool/csi-hooks.h"
#include "hpcrun/cilktool/probe-output.h"
#include "include/hpctoolkit.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPAWNS_ENTRY = 1 << 8, SPAWNS_EXIT = 1 };

#define BEGIN()    __csi_func_entry(0, SPAWNS_ENTRY)
#define END()      __csi_func_exit(0, 0, SPAWNS_EXIT)
#define DETACH()   __csi_detach(0, 0, 0)
#define CONTINUE() __csi_detach_continue(0, 0, 0, 0)
#define SYNC()     (__csi_before_sync(0, 0), __csi_after_sync(0, 0))

#define NOT_INLINED __attribute__((noinline))

static volatile unsigned long sum;

static void burn(void)
{
    for (unsigned long i = 0; i < 2000; i++)
        sum += i * i;
}

NOT_INLINED long fib(long n);

NOT_INLINED static long fib_task(long n)
{
    __csi_task(0, 0, 0);
    long result = fib(n);
    __csi_task_exit(0, 0, 0, 0, 0);
    return result;
}

NOT_INLINED long fib(long n)
{
    BEGIN();
    long x = n, y = 0;
    burn();
    if (n >= 2) {
        DETACH();
        x = fib_task(n - 1);
        CONTINUE();
        y = fib(n - 2);
        SYNC();
    }
    END();
    return x + y;
}

NOT_INLINED static void nothing_task(void)
{
    __csi_task(0, 0, 0);
    burn();
    __csi_task_exit(0, 0, 0, 0, 0);
}

NOT_INLINED static void inner(void)
{
    BEGIN();
    DETACH();
    nothing_task();
    CONTINUE();
    burn();
    SYNC();
    END();
}

NOT_INLINED static void outer_task(void)
{
    __csi_task(0, 0, 0);
    inner();
    burn();
    inner();
    __csi_task_exit(0, 0, 0, 0, 0);
}

NOT_INLINED static void outer(void)
{
    BEGIN();
    DETACH();
    outer_task();
    CONTINUE();
    inner();
    SYNC();
    END();
}

NOT_INLINED static void orphan(void)
{
    DETACH();
    nothing_task();
    CONTINUE();
    SYNC();
}

NOT_INLINED static void never_ends(void)
{
    BEGIN();
    burn();
}

NOT_INLINED static void jump(void)
{
    BEGIN();
    DETACH();
    nothing_task();
    CONTINUE();
    never_ends();
    SYNC();
    END();
}

static void *probe(void *unused)
{
    wsp_dump(wsp_getworkspan(), "thread");
    return unused;
}

/* The second thread continues with a frame of the first, whose task runs. */
static void *thief(void *frame)
{
    __asm__ volatile("push %%rbp\n"
                     "push %%rbx\n"
                     "mov %%rsp, %%rbx\n"
                     "and $-16, %%rsp\n"
                     "mov %0, %%rbp\n"
                     "xor %%edi, %%edi\n"
                     "xor %%esi, %%esi\n"
                     "xor %%edx, %%edx\n"
                     "xor %%ecx, %%ecx\n"
                     "call __csi_detach_continue@plt\n"
                     "mov %%rbx, %%rsp\n"
                     "pop %%rbx\n"
                     "pop %%rbp\n"
                     :
                     : "a"(frame)
                     : "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "memory", "cc");
    return frame;
}

NOT_INLINED static void end_in_a_task(void)
{
    pthread_t thread;
    BEGIN();
    DETACH();
    __csi_task(0, 0, 0);
    pthread_create(&thread, NULL, thief, __builtin_frame_address(0));
    pthread_join(thread, NULL);
    exit(0);
}

static void run_alone(const char *shape, long n)
{
    pthread_t thread;
    wsp_t begin = wsp_getworkspan();
    HPCTOOLKIT_REGION_START("all");
    if (strcmp(shape, "fib") == 0)
        printf("fib %ld\n", fib(n));
    if (strcmp(shape, "nested") == 0)
        outer();
    if (strcmp(shape, "orphan") == 0)
        orphan();
    if (strcmp(shape, "jump") == 0)
        jump();
    if (strcmp(shape, "end") == 0)
        end_in_a_task();
    if (strcmp(shape, "thread") == 0 && pthread_create(&thread, NULL, probe, NULL) == 0)
        pthread_join(thread, NULL);
    HPCTOOLKIT_REGION_STOP("all");
    HPCTOOLKIT_REGION_DUMP("all");
    wsp_dump(wsp_sub(wsp_getworkspan(), begin), shape);
}

/* As the main program of OpenCilk that spawns itself. */
NOT_INLINED static void main_that_spawns(long n)
{
    BEGIN();
    wsp_t begin = wsp_getworkspan();
    HPCTOOLKIT_REGION_START("half");
    DETACH();
    long x = fib_task(n);
    CONTINUE();
    long y = fib(n);
    SYNC();
    HPCTOOLKIT_REGION_STOP("half");
    HPCTOOLKIT_REGION_DUMP("half");
    wsp_dump(wsp_sub(wsp_getworkspan(), begin), "half");
    printf("fib %ld\n", x + y);
    exit(0);
}

int main(int count, char **arguments)
{
    const char *shape = count > 1 ? arguments[1] : "fib";
    long n = count > 2 ? strtol(arguments[2], NULL, 10) : 10;
    if (strcmp(shape, "plain") != 0)
        __csi_init();
    if (strcmp(shape, "main") == 0)
        main_that_spawns(n);
    run_alone(shape, n);
    return 0;
}
