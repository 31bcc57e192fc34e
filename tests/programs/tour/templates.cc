/* A matrix product and a histogram, in the style of the standard library. The compiler inlines all of it into main. */
#include <cstdio>
#include <numeric>
#include <random>
#include <vector>

template <typename T, int N> struct matrix {
    std::vector<T> at = std::vector<T>(N * N, 1);
    T &operator()(int row, int column) { return at[row * N + column]; }
    matrix operator*(matrix &other)
    {
        matrix product;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                for (int k = 0; k < N; k++)
                    product(i, j) += (*this)(i, k) * other(k, j);
        return product;
    }
};

int main()
{
    std::minstd_rand random(1);
    std::vector<unsigned> counts(100000);
    for (int i = 0; i < 100000000; i++)
        counts[random() % counts.size()]++;
    matrix<double, 1000> a;
    auto b = a * a;
    std::printf("%g %u\n", b(0, 0), std::accumulate(counts.begin(), counts.end(), 0u));
}
