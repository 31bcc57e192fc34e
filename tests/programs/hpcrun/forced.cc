// forced MS: threads end in deep C++ frames, each with an object to destroy, by pthread_exit, by
// cancellation and by an exception that their first frame catches, until MS of CPU time are used.
// Prints "fine" when every object was destroyed, and a line with the number of threads of each
// kind.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <pthread.h>

static std::atomic<long> alive, made;
static thread_local volatile unsigned sink;

struct Object {
    Object()
    {
        alive++, made++;
    }
    ~Object()
    {
        for (unsigned i = 0; i < 200; i++)
            sink = sink + i;
        alive--;
    }
};

enum Way { EXIT, CANCEL, THROW, WAYS };

__attribute__((noinline)) static void leave(Way way)
{
    if (way == EXIT)
        pthread_exit(nullptr);
    if (way == THROW)
        throw 1;
    for (;;)
        pthread_testcancel();
}

__attribute__((noinline)) static unsigned descend(Way way, int depth)
{
    Object object;
    if (depth == 0)
        leave(way);
    else if (depth > 0)
        descend(way, depth - 1);
    return sink;
}

static void *run(void *argument)
{
    Way way = static_cast<Way>(reinterpret_cast<long>(argument));
    try {
        descend(way, 50);
    } catch (int) {
    }
    return nullptr;
}

static double cpu_seconds()
{
    return static_cast<double>(clock()) / CLOCKS_PER_SEC;
}

int main(int count, char **arguments)
{
    double end = cpu_seconds() + (count > 1 ? atof(arguments[1]) : 100) * 1e-3;
    long threads = 0;
    for (; cpu_seconds() < end; threads++) {
        pthread_t thread;
        long way = threads % WAYS;
        if (pthread_create(&thread, nullptr, run, reinterpret_cast<void *>(way)) != 0)
            return 1;
        if (way == CANCEL)
            pthread_cancel(thread);
        pthread_join(thread, nullptr);
    }
    bool all = alive == 0 && made == threads * 51;
    printf(all ? "fine\n" : "%ld of %ld objects are alive\n", alive.load(), made.load());
    printf("%ld\n", threads);
}
