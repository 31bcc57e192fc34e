// objects: exceptions inside constructs, and objects that tasks copy. Prints what is wrong.
#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>

static std::atomic<long> alive{0}, copies{0};

struct object {
    std::string text;
    explicit object(const char *t) : text(t) { alive++; }
    object(const object &other) : text(other.text)
    {
        alive++;
        copies++;
    }
    object &operator=(const object &) = delete;
    ~object() { alive--; }
};

static long catches(int n)
{
    std::atomic<long> caught{0};
#pragma omp parallel for schedule(dynamic)
    for (int i = 0; i < n; i++)
        try {
            if (i % 3 == 0)
                throw std::runtime_error("three");
        } catch (const std::runtime_error &) {
            caught++;
        }
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < n; i++)
#pragma omp task shared(caught)
        try {
            throw i;
        } catch (int) {
            caught++;
        }
    return caught;
}

static long copied(int n)
{
    std::atomic<long> right{0};
    object it("a text that is too long for the object itself");
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < n; i++)
#pragma omp task firstprivate(it) shared(right)
            right += it.text.size() == 45;
#pragma omp task firstprivate(it) shared(right) if (0)
        right += it.text.size() == 45;
#pragma omp taskloop firstprivate(it) shared(right)
        for (int i = 0; i < n; i++)
            right += it.text.size() == 45;
    }
    return right;
}

int main()
{
    const int n = 300;
    long found = catches(n);
    if (found != n / 3 + n)
        std::printf("caught %ld, not %d\n", found, n / 3 + n);
    found = copied(n);
    if (found != 2 * n + 1)
        std::printf("%ld tasks had their object, not %d\n", found, 2 * n + 1);
    if (alive != 0)
        std::printf("%ld objects are left of %ld copies\n", alive.load(), copies.load());
    return 0;
}
