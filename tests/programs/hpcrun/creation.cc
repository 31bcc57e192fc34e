// Threads that are created in different places and ways: by pthread_create, thrd_create, std::thread,
// std::async, by a thread, and by a chain of threads. Each uses some CPU time in a function of its
// own. Prints "NAME LINE NS...": the function, the lines of the calls that lead to it, the last of
// which creates the thread (for C++ the last call in this file), and the CPU time of the thread.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <future>
#include <pthread.h>
#include <thread>
#include <threads.h>
#include <time.h>

static uint64_t clock_ns()
{
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static std::atomic<uint64_t> sink;

__attribute__((noinline)) static void burn(uint64_t ns)
{
    uint64_t end = clock_ns() + ns;
    while (clock_ns() < end)
        for (int i = 0; i < 1000; i++)
            sink += (uint64_t)i;
}

#define MS 1000000u

struct used {
    uint64_t ns;
};

static used by_pthread, by_nested, by_c11, by_thread, by_async, by_chain[24];

__attribute__((noinline)) static void *nested_worker(void *its)
{
    burn(120 * MS);
    ((used *)its)->ns = clock_ns();
    return nullptr;
}

static int nested_line;

__attribute__((noinline)) static void *pthread_worker(void *its)
{
    pthread_t inner;
    burn(120 * MS);
    nested_line = __LINE__ + 1;
    pthread_create(&inner, nullptr, nested_worker, &by_nested);
    pthread_join(inner, nullptr);
    ((used *)its)->ns = clock_ns();
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
    burn(120 * MS);
    ((used *)its)->ns = clock_ns();
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
    burn(120 * MS);
    its->ns = clock_ns();
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
    burn(120 * MS);
    its->ns = clock_ns();
}

static int async_line;

__attribute__((noinline)) static std::future<void> make_async()
{
    async_line = __LINE__ + 1;
    auto made = std::async(std::launch::async, async_worker, &by_async);
    asm volatile("");
    return made;
}

// Each link creates the next one and ends.
static std::atomic<int> links;

__attribute__((noinline)) static void *chain_link(void *)
{
    int link = links++;
    burn(10 * MS);
    if (link + 1 < 24) {
        pthread_t next;
        pthread_create(&next, nullptr, chain_link, nullptr);
        pthread_detach(next);
    }
    by_chain[link].ns = clock_ns();
    if (link + 1 == 24)
        links++;
    return nullptr;
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
    pthread_t first;
    pthread_create(&first, nullptr, chain_link, nullptr);
    pthread_detach(first);
    while (links.load() < 25)
        std::this_thread::yield();
    uint64_t chain = 0;
    for (const used &link : by_chain)
        chain += link.ns;
    printf("pthread_worker %d %lu\n", pthread_line, (unsigned long)by_pthread.ns);
    printf("nested_worker %d %lu\n", nested_line, (unsigned long)by_nested.ns);
    printf("c11_worker %d %lu\n", c11_line, (unsigned long)by_c11.ns);
    printf("thread_worker %d %lu\n", thread_line, (unsigned long)by_thread.ns);
    printf("async_worker %d %lu\n", async_line, (unsigned long)by_async.ns);
    printf("chain_link 0 %lu\n", (unsigned long)chain);
    return 0;
}
