// Threads that are created in different places and ways: by pthread_create, thrd_create,
// std::thread, std::async, by a thread, by a coroutine, and by a chain of threads. Procedures named
// "make..." leave the join to main, the coroutine to another one; the others join the threads that
// they create. Each thread uses CPU time in a function of its own. Prints "NAME LINE BURNED COUNTED":
// the function, the line of the call that creates the thread (for C++ the last call in this file), the
// time that the thread used on purpose, and its CPU clock, in ns.
#include "burn.h"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <future>
#include <pthread.h>
#include <thread>
#include <threads.h>
#include <ucontext.h>

#define MS 1000000u

struct used {
    uint64_t burned, counted;
};

static void note(used *its, uint64_t burned)
{
    *its = {burned, clock_ns(CLOCK_THREAD_CPUTIME_ID)};
}

static used by_pthread, by_nested, by_c11, by_thread, by_async, by_own_thread, by_own_async,
    by_coroutine, by_chain[24];

__attribute__((noinline)) static void *nested_worker(void *its)
{
    note((used *)its, burn(120 * MS));
    return nullptr;
}

static int nested_line;

__attribute__((noinline)) static void *pthread_worker(void *its)
{
    pthread_t inner;
    uint64_t burned = burn(120 * MS);
    nested_line = __LINE__ + 1;
    pthread_create(&inner, nullptr, nested_worker, &by_nested);
    pthread_join(inner, nullptr);
    note((used *)its, burned);
    return nullptr;
}

static int pthread_line;

__attribute__((noinline)) static pthread_t make_pthread()
{
    pthread_t id;
    pthread_line = __LINE__ + 1;
    pthread_create(&id, nullptr, pthread_worker, &by_pthread);
    asm volatile("");
    return id;
}

__attribute__((noinline)) static int c11_worker(void *its)
{
    note((used *)its, burn(120 * MS));
    return 0;
}

static int c11_line;

__attribute__((noinline)) static thrd_t make_c11()
{
    thrd_t id;
    c11_line = __LINE__ + 1;
    thrd_create(&id, c11_worker, &by_c11);
    asm volatile("");
    return id;
}

__attribute__((noinline)) static void thread_worker(used *its)
{
    note(its, burn(120 * MS));
}

static int thread_line;

__attribute__((noinline)) static std::thread make_thread()
{
    thread_line = __LINE__ + 1;
    std::thread made(thread_worker, &by_thread);
    asm volatile("");
    return made;
}

__attribute__((noinline)) static void async_worker(used *its)
{
    note(its, burn(120 * MS));
}

static int async_line;

__attribute__((noinline)) static std::future<void> make_async()
{
    async_line = __LINE__ + 1;
    auto made = std::async(std::launch::async, async_worker, &by_async);
    asm volatile("");
    return made;
}

__attribute__((noinline)) static void own_thread_worker(used *its)
{
    note(its, burn(120 * MS));
}

static int own_thread_line;

__attribute__((noinline)) static void use_thread()
{
    own_thread_line = __LINE__ + 1;
    std::thread made(own_thread_worker, &by_own_thread);
    made.join();
    asm volatile("");
}

__attribute__((noinline)) static void own_async_worker(used *its)
{
    note(its, burn(120 * MS));
}

static int own_async_line;

__attribute__((noinline)) static void use_async()
{
    own_async_line = __LINE__ + 1;
    auto made = std::async(std::launch::async, own_async_worker, &by_own_async);
    made.get();
    asm volatile("");
}

// Each link creates the next one and joins it.
static std::atomic<int> links;

__attribute__((noinline)) static void *chain_link(void *)
{
    int link = links++;
    uint64_t burned = burn(10 * MS);
    if (link + 1 < 24) {
        pthread_t next;
        pthread_create(&next, nullptr, chain_link, nullptr);
        pthread_join(next, nullptr);
    }
    note(&by_chain[link], burned);
    return nullptr;
}

__attribute__((noinline)) static void *coroutine_worker(void *its)
{
    note((used *)its, burn(30 * MS));
    return nullptr;
}

static int coroutine_line;
static pthread_t made_by_coroutine;

__attribute__((noinline)) static void coroutine(int creates)
{
    coroutine_line = __LINE__ + 2;
    if (creates)
        pthread_create(&made_by_coroutine, nullptr, coroutine_worker, &by_coroutine);
    else
        pthread_join(made_by_coroutine, nullptr);
    asm volatile("");
}

/* Both have this frame, of the same call, on their stacks. */
static void begin_coroutine(int creates)
{
    coroutine(creates);
    asm volatile("");
}

static void run_coroutines()
{
    static char stacks[2][1 << 16];
    for (int creates = 2; creates-- > 0;) {
        ucontext_t its, here;
        getcontext(&its);
        its.uc_stack.ss_sp = stacks[creates];
        its.uc_stack.ss_size = sizeof stacks[creates];
        its.uc_link = &here;
        makecontext(&its, (void (*)())begin_coroutine, 1, creates);
        swapcontext(&here, &its);
    }
}

static void say(const char *function, int line, used by)
{
    printf("%s %d %lu %lu\n", function, line, (unsigned long)by.burned, (unsigned long)by.counted);
}

int main()
{
    pthread_t a = make_pthread();
    thrd_t b = make_c11();
    std::thread c = make_thread();
    std::future<void> d = make_async();
    pthread_join(a, nullptr);
    thrd_join(b, nullptr);
    c.join();
    d.get();
    use_thread();
    use_async();
    pthread_t first;
    pthread_create(&first, nullptr, chain_link, nullptr);
    pthread_join(first, nullptr);
    run_coroutines();
    used chain = {0, 0};
    for (const used &link : by_chain)
        chain = {chain.burned + link.burned, chain.counted + link.counted};
    say("pthread_worker", pthread_line, by_pthread);
    say("nested_worker", nested_line, by_nested);
    say("c11_worker", c11_line, by_c11);
    say("thread_worker", thread_line, by_thread);
    say("async_worker", async_line, by_async);
    say("own_thread_worker", own_thread_line, by_own_thread);
    say("own_async_worker", own_async_line, by_own_async);
    say("coroutine_worker", coroutine_line, by_coroutine);
    say("chain_link", 0, chain);
    return 0;
}
