/* Two libraries (-DLIBRARY, -DWAIT_ONLY) whose functions have names of OpenBLAS's and other parameters, and a program that
 * prints what they return. */
#include <stdarg.h>
#include <stdio.h>

struct numbers {
    double of[9];
};

double exec_blas(double a, double b, double c, double d, double e, double f, double g, double h, double i);
struct numbers exec_blas_async(long a, long b, long c, long d, long e, long f, double g, float h, long double i);
double exec_blas_async_wait(int count, ...);
double call_in_library(void);

#ifdef LIBRARY
double exec_blas(double a, double b, double c, double d, double e, double f, double g, double h, double i)
{
    return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}

struct numbers exec_blas_async(long a, long b, long c, long d, long e, long f, double g, float h, long double i)
{
    return (struct numbers){{a, b, c, d, e, f, g, h, (double)i}};
}

double call_in_library(void)
{
    return exec_blas(1, 2, 3, 4, 5, 6, 7, 8, 9);
}
#elif defined WAIT_ONLY
double exec_blas_async_wait(int count, ...)
{
    double sum = 0;
    va_list list;
    va_start(list, count);
    for (int i = 0; i < count; i++)
        sum += va_arg(list, double);
    va_end(list);
    return sum;
}
#else
int main(void)
{
    for (int i = 0; i < 2; i++) { /* a call is looked up once */
        struct numbers numbers = exec_blas_async(1, 2, 3, 4, 5, 6, 7.25, 8.5f, 9.75L);
        for (int k = 0; k < 9; k++)
            printf("%g ", numbers.of[k]);
        printf("%g %g", exec_blas(.5, .25, 3, 4, 5, 6, 7, 8, 9), call_in_library());
        printf(" %g\n", exec_blas_async_wait(3, .5, 2.5, 10.));
    }
    return 0;
}
#endif
