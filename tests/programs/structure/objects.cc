/* C++: templates, overloads, iterators, exceptions; compiled by
 * test_structure_source.py, which finds lines by their markers. */
#include "tests/programs/structure/mark.h"

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#define NOINLINE __attribute__((noinline))

extern volatile int sink;
volatile int sink;

namespace shapes
{

/* Overloads and template instances have different names. */
NOINLINE int area(int side) /* LINE area-int */
{
    return side * side + sink;
}

NOINLINE double area(double side) /* LINE area-double */
{
    return side * side + sink;
}

template <typename T> NOINLINE T largest(const std::vector<T> &values) /* LINE largest */
{
    T best = values[0];
    for (auto it = values.begin(); it != values.end(); ++it) /* LINE largest-for */
        if (best < *it) {
            MARK("largest-body");
            best = *it;
            sink = 1;
        }
    return best;
}

template <typename T> struct stack {
    std::vector<T> items;
    NOINLINE T pop(int count) /* LINE pop */
    {
        T last = T();
        while (count-- > 0 && !items.empty()) { /* LINE pop-while */
            MARK("pop-body");
            last = items.back();
            items.pop_back();
            sink = count;
        }
        return last;
    }
    T peek(int below) const;
};

template <typename T> NOINLINE T stack<T>::peek(int below) const /* LINE peek */
{
    return items[items.size() - below - sink];
}

} // namespace shapes

NOINLINE int sum_range(const std::vector<int> &values)
{
    int s = 0;
    for (int v : values) { /* LINE range-for */
        s += v * sink;
        MARK("range-body");
    }
    return s;
}

NOINLINE int sum_map(const std::map<int, int> &values)
{
    int s = 0;
    for (const auto &entry : values) { /* LINE map-for */
        sink = entry.first;
        MARK("map-body");
        s += entry.second;
    }
    return s;
}

NOINLINE int risky(int n)
{
    if (n % 3 == sink)
        throw std::runtime_error("three");
    return n + sink;
}

/* The catch block is in the loop, since the loop continues after it. */
NOINLINE int catch_in_loop(int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) { /* LINE catch-for */
        try {
            s += risky(i); /* LINE catch-call */
            MARK("catch-body");
        } catch (const std::runtime_error &) {
            MARK("catch-block");
            s -= sink; /* LINE catch-block */
        }
    }
    return s;
}

NOINLINE int with_lambda(const std::vector<int> &values)
{
    int s = 0;
    auto add = [&s](int v) { /* LINE lambda */
                             MARK("lambda");
                             s += v * 3 + sink;
    };
    for (size_t i = 0; i < values.size(); i++) /* LINE lambda-for */
        add(values[i]);                        /* LINE lambda-call */
    return s;
}

int main(int argc, char **)
{
    std::vector<int> values(100, argc);
    std::vector<double> numbers(100, argc);
    std::map<int, int> map{{1, 2}};
    shapes::stack<int> ints{values};
    shapes::stack<std::string> texts{{"a", "b"}};
    return shapes::area(argc) + (int)shapes::area(1.5 * argc) + shapes::largest(values) +
           (int)shapes::largest(numbers) + ints.peek(1) + ints.pop(3 + sink) + (int)texts.pop(1 + sink).size() +
           sum_range(values) + sum_map(map) + catch_in_loop(argc) + with_lambda(values);
}
