// throws SECONDS: exceptions through frames with destructors, virtual calls, std::sort with a callback, and a
// signal handler that runs for long: what makes unwinding hard in C++ programs.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <sys/time.h>
#include <vector>

static volatile double sink;

struct Guard {
    ~Guard() { sink = sink + 1; }
};

struct Shape {
    virtual double area(int n) const = 0;
    virtual ~Shape() = default;
};
struct Square : Shape {
    double area(int n) const override { return n ? area(n - 1) + n : 0; }
};

__attribute__((noinline)) static int thrower(int depth)
{
    Guard guard;
    if (depth == 0)
        throw depth;
    return thrower(depth - 1) + 1;
}

static void on_alarm(int)
{
    double x = 0;
    for (int i = 1; i < 300000; i++)
        x += 1.0 / i;
    sink = x;
}

int main(int count, char **arguments)
{
    double seconds = count > 1 ? atof(arguments[1]) : 1;
    struct sigaction action = {};
    action.sa_handler = on_alarm;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    itimerval timer = {{0, 5000}, {0, 5000}};
    setitimer(ITIMER_REAL, &timer, nullptr);
    Square square;
    std::vector<int> numbers(2000);
    while (double(clock()) / CLOCKS_PER_SEC < seconds) {
        try {
            thrower(20);
        } catch (int) {
        }
        for (size_t i = 0; i < numbers.size(); i++)
            numbers[i] = int(i * 7919 % 2003);
        std::sort(numbers.begin(), numbers.end(), [](int a, int b) { return a % 100 < b % 100; });
        sink = static_cast<Shape &>(square).area(200);
    }
    return 0;
}
