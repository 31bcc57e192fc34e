/* constructs: executes every construct of OpenMP that calls its runtime, and checks its own results.
 * Prints a line for each construct with a wrong result; the exit status is their number. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int wrong;

static void check(const char *construct, long found, long expected)
{
    if (found == expected)
        return;
    printf("%s: %ld, not %ld\n", construct, found, expected);
    wrong++;
}

enum { N = 1000 };
#define SUM ((long)N * (N - 1) / 2)

/* -------- regions and loops -------- */

static void regions(void)
{
    long sum = 0, threads = 0;
#pragma omp parallel reduction(+ : threads)
    threads++;
#pragma omp parallel
#pragma omp single
    sum = omp_get_num_threads();
    check("parallel", threads, sum);
#define LOOP(name, clauses)                                                                        \
    sum = 0;                                                                                       \
    _Pragma(clauses) for (int i = 0; i < N; i++) sum += i;                                         \
    check(name, sum, SUM)
    LOOP("static", "omp parallel for schedule(static) reduction(+ : sum)");
    LOOP("static,3", "omp parallel for schedule(static, 3) reduction(+ : sum)");
    LOOP("dynamic", "omp parallel for schedule(dynamic) reduction(+ : sum)");
    LOOP("monotonic", "omp parallel for schedule(monotonic: dynamic) reduction(+ : sum)");
    LOOP("guided", "omp parallel for schedule(guided) reduction(+ : sum)");
    LOOP("monotonic guided", "omp parallel for schedule(monotonic: guided) reduction(+ : sum)");
    LOOP("auto", "omp parallel for schedule(auto) reduction(+ : sum)");
    LOOP("runtime", "omp parallel for schedule(runtime) reduction(+ : sum)");
    LOOP("monotonic runtime", "omp parallel for schedule(monotonic: runtime) reduction(+ : sum)");
    LOOP("nonmonotonic runtime",
         "omp parallel for schedule(nonmonotonic: runtime) reduction(+ : sum)");
    sum = 0;
#pragma omp parallel for schedule(dynamic, 7) reduction(+ : sum)
    for (unsigned long long i = 0; i < N; i++)
        sum += (long)i;
    check("unsigned loop", sum, SUM);
}

static void worksharing(void)
{
    long sum = 0, copied = 0, masters = 0, sections = 0, team = 0;
#pragma omp parallel reduction(+ : sum, copied, sections) shared(masters, team)
    {
        long value = 0;
#pragma omp single copyprivate(value)
        value = 42;
        copied += value == 42;
#pragma omp for schedule(dynamic, 3)
        for (int i = 0; i < N; i++)
            sum += i;
#pragma omp for schedule(guided) nowait
        for (int i = 0; i < N; i++)
            sum += i;
#pragma omp sections
        {
#pragma omp section
            sections += 1;
#pragma omp section
            sections += 10;
#pragma omp section
            sections += 100;
        }
#pragma omp master
        masters++;
#pragma omp barrier
#pragma omp single
        team = omp_get_num_threads();
    }
    check("for", sum, 2 * SUM);
    check("copyprivate", copied, team);
    check("sections", sections, 111);
    check("master", masters, 1);
    sections = 0;
#pragma omp parallel sections reduction(+ : sections)
    {
#pragma omp section
        sections += 1;
#pragma omp section
        sections += 10;
    }
    check("parallel sections", sections, 11);
}

static void ordered(void)
{
    long next = 0, wrong_turns = 0;
#define ORDERED(clauses)                                                                           \
    next = 0;                                                                                      \
    _Pragma(clauses) for (int i = 0; i < N; i++)                                                   \
    {                                                                                              \
        if (i % 10 == 9)                                                                           \
            continue;                                                                              \
        _Pragma("omp ordered")                                                                     \
        {                                                                                          \
            wrong_turns += i < next;                                                               \
            next = i;                                                                              \
        }                                                                                          \
    }
    ORDERED("omp parallel for ordered schedule(static, 2)")
    ORDERED("omp parallel for ordered schedule(dynamic)")
    ORDERED("omp parallel for ordered schedule(guided)")
    ORDERED("omp parallel for ordered schedule(runtime)")
    check("ordered", wrong_turns, 0);
    static long grid[64][64];
    memset(grid, 0, sizeof grid);
#pragma omp parallel for ordered(2) collapse(2) schedule(dynamic)
    for (int i = 1; i < 64; i++)
        for (int k = 1; k < 64; k++) {
#pragma omp ordered depend(sink : i - 1, k) depend(sink : i, k - 1)
            grid[i][k] = (i == 1 && k == 1) + grid[i - 1][k] + grid[i][k - 1] > 1000000
                             ? 1
                             : (i == 1 && k == 1) + grid[i - 1][k] + grid[i][k - 1];
#pragma omp ordered depend(source)
        }
    check("doacross", grid[2][3], 3);
}

/* -------- mutual exclusion -------- */

/* The CPU has no atomic operations on long double. Those of clang are in libatomic. */
#ifdef __clang__
#define WIDE long
#else
#define WIDE long double
#endif

static void exclusion(void)
{
    long plain = 0, named = 0, locked = 0, nested = 0, each = 0, tried = 0;
    WIDE wide = 0;
    omp_lock_t lock;
    omp_nest_lock_t nest;
    omp_init_lock(&lock);
    omp_init_nest_lock(&nest);
#pragma omp parallel reduction(+ : each)
    for (int i = 0; i < N; i++) {
        each++;
#pragma omp critical
        plain++;
#pragma omp critical(counter)
        named++;
        omp_set_lock(&lock);
        locked++;
        omp_unset_lock(&lock);
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        nested++;
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
        while (!omp_test_lock(&lock))
            ;
        while (!omp_test_nest_lock(&nest))
            ;
        tried++;
        omp_unset_nest_lock(&nest);
        omp_unset_lock(&lock);
#pragma omp atomic
        wide += 1;
    }
    check("critical", plain, each);
    check("critical(name)", named, each);
    check("omp_set_lock", locked, each);
    check("omp_set_nest_lock", nested, each);
    check("omp_test_lock", tried, each);
    check("atomic", (long)wide, each);
}

/* -------- tasks -------- */

static long fib(int n)
{
    long a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b) if (n > 5)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

struct large {
    char bytes[300000];
};

static void task_data(void)
{
    struct large large;
    _Alignas(64) double aligned[8];
    long right = 0;
    for (int i = 0; i < 8; i++)
        aligned[i] = i;
    memset(&large, 7, sizeof large);
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 20; i++) {
#pragma omp task firstprivate(large)
        {
            long sum = 0;
            for (size_t k = 0; k < sizeof large; k += 1000)
                sum += large.bytes[k];
#pragma omp atomic
            right += sum == 2100;
        }
#pragma omp task firstprivate(aligned)
        {
            long is_right = (unsigned long)aligned % 64 == 0 && aligned[7] == 7;
#pragma omp atomic
            right += is_right;
        }
    }
    check("firstprivate", right, 40);
}

static void tasks(void)
{
    long sum = 0, order = 0, turns = 0;
#pragma omp parallel
#pragma omp single
    sum = fib(18);
    check("task", sum, 2584);
    sum = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskgroup
        for (int i = 0; i < N; i++)
#pragma omp task
        {
#pragma omp atomic
            sum += i;
        }
        check("taskgroup", sum, SUM);
        for (int i = 0; i < N; i++)
#pragma omp task depend(inout : order)
        {
            turns += order == i;
            order++;
        }
#pragma omp taskwait depend(in : order)
        check("depend", turns, N);
#pragma omp task if (0)
        sum++;
#pragma omp task final(1)
        sum++;
#pragma omp taskyield
#pragma omp taskwait
    }
    check("undeferred", sum, SUM + 2);
#pragma omp task shared(sum)
    sum = 1;
    check("serial task", sum, 1);
    task_data();
}

/* A serial taskloop with a reduction is not here: libgomp 12 then frees the teams of later regions
 * while their threads still use them. */
static void taskloops(void)
{
    long sum = 0, unsigned_sum = 0, reduced = 0, in = 0, workshared = 0, last = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop grainsize(7) lastprivate(last)
        for (int i = 0; i < N; i++) {
            last = i;
#pragma omp atomic
            sum += i;
        }
        check("lastprivate", last, N - 1);
#pragma omp taskloop num_tasks(9)
        for (unsigned long long i = 0; i < N; i++)
#pragma omp atomic
            unsigned_sum += (long)i;
#pragma omp taskloop nogroup
        for (int i = 0; i < N; i++)
#pragma omp atomic
            sum += i;
#pragma omp taskloop reduction(+ : reduced)
        for (int i = 0; i < N; i++)
            reduced += i;
#pragma omp taskgroup task_reduction(+ : in)
        for (int i = 0; i < N; i++)
#pragma omp task in_reduction(+ : in)
            in += i;
    }
#pragma omp parallel reduction(task, + : workshared)
    {
#pragma omp single
        for (int i = 0; i < N; i++)
#pragma omp task in_reduction(+ : workshared)
            workshared += i;
    }
    check("taskloop", sum, 2 * SUM);
    check("unsigned taskloop", unsigned_sum, SUM);
    check("taskloop reduction", reduced, SUM);
    check("in_reduction", in, SUM);
    check("parallel reduction", workshared, SUM);
    sum = 0;
#pragma omp taskloop shared(sum)
    for (int i = 0; i < N; i++)
        sum += i;
    check("serial taskloop", sum, SUM);
}

static void detached(void)
{
    long sum = 0, order = 0;
#ifdef __clang__
    if (omp_get_max_threads() == 1) /* libomp 14 and 16 then fail in the next region, by themselves */
        return;
#endif
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 100; i++) {
        omp_event_handle_t event;
#pragma omp task detach(event) depend(inout : order)
        {
            order++;
#pragma omp atomic
            sum += i;
            omp_fulfill_event(event);
        }
    }
    check("detach", sum, 4950);
    check("order of detached tasks", order, 100);
}

/* -------- nesting, cancellation, fork -------- */

static void nesting(void)
{
    long sum = 0;
    omp_set_max_active_levels(3);
#pragma omp parallel num_threads(2) reduction(+ : sum)
    for (int k = 0; k < 5; k++) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
#pragma omp single
        for (int i = 0; i < 10; i++)
#pragma omp task shared(sum)
        {
#pragma omp atomic
            sum++;
        }
    }
    omp_set_max_active_levels(1);
    check("nested", sum >= 100, 1);
}

static void cancellation(void)
{
    long before = 0;
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < N; i++) {
            if (i == N / 2) {
#pragma omp cancel for
            }
#pragma omp cancellation point for
#pragma omp atomic
            before++;
        }
#pragma omp single
#pragma omp taskgroup
        for (int i = 0; i < N; i++)
#pragma omp task
        {
            if (i == 5) {
#pragma omp cancel taskgroup
            }
#pragma omp atomic
            before++;
        }
#pragma omp cancel parallel
    }
    check("cancel", before > 0, 1);
}

static void forks(void)
{
#pragma omp parallel
#pragma omp single
    {
        int status = 1;
        pid_t child = fork();
        if (child == 0)
            _exit(omp_get_num_threads() > 0 ? 7 : 1);
        waitpid(child, &status, 0);
        check("fork", WEXITSTATUS(status), 7);
    }
}

int main(int count, char **arguments)
{
    int rounds = count > 1 ? atoi(arguments[1]) : 1;
    for (int i = 0; i < rounds; i++) {
        regions();
        worksharing();
        ordered();
        exclusion();
        tasks();
        taskloops();
        detached();
        nesting();
        cancellation();
        forks();
    }
    return wrong;
}
