/* Heat diffusion on a square plate whose edges have fixed temperatures: Jacobi steps, each a
 * parallel loop over the rows. Every step is a computation of its own, as in a program that has
 * serial work between its steps. */
#include <string.h>

#include "driver.h"

enum { STEPS = 400, ROWS_PER_PIECE = 32 };

struct plate {
    long size;         /* rows and columns, the edges included */
    const double *now; /* temperatures, row by row */
    double *next;
};

static void update_rows(long begin, long end, void *data)
{
    const struct plate *plate = data;
    const long size = plate->size;
    for (long i = begin; i < end; i++) {
        const double *now = plate->now + i * size;
        double *next = plate->next + i * size;
        for (long j = 1; j < size - 1; j++)
            next[j] = (now[j - size] + now[j + size] + now[j - 1] + now[j + 1]) / 4;
    }
}

CILK_PROC(step, struct plate *plate;);

CILK_BODY(step)
{
    CILK_BEGIN(step);
    CILK_FOR(1, f->plate->size - 1, ROWS_PER_PIECE, update_rows, f->plate);
    CILK_END;
}

/* x^2 - y^2 is harmonic, and its discrete Laplacian is exactly 0: it is a steady state. */
static double steady(long size, long i, long j)
{
    const double x = (double)j / (double)size, y = (double)i / (double)size;
    return x * x - y * y;
}

/* The steady state, disturbed inside the edges. */
static void fill(double *plate, long size)
{
    for (long i = 0; i < size; i++) {
        for (long j = 0; j < size; j++) {
            const bool edge = i == 0 || j == 0 || i == size - 1 || j == size - 1;
            const double wave = sin(M_PI * (double)i / (double)(size - 1)) *
                                sin(M_PI * (double)j / (double)(size - 1));
            plate[i * size + j] = steady(size, i, j) + (edge ? 0 : wave);
        }
    }
}

/* The disturbance is an eigenvector of the step: it shrinks by the same factor every time. */
static bool is_right(const double *plate, long size)
{
    const double left = pow(cos(M_PI / (double)(size - 1)), STEPS);
    for (long i = 0; i < size; i++) {
        for (long j = 0; j < size; j++) {
            const double wave = sin(M_PI * (double)i / (double)(size - 1)) *
                                sin(M_PI * (double)j / (double)(size - 1));
            if (fabs(plate[i * size + j] - steady(size, i, j) - left * wave) > 1e-9)
                return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    const long size = driver_start(argc, argv, 1000, 3, 50000);
    const size_t bytes = (size_t)(size * size) * sizeof(double);
    double *now = driver_memory(bytes), *next = driver_memory(bytes);
    fill(now, size);
    memcpy(next, now, bytes);
    for (int i = 0; i < STEPS; i++) {
        struct plate plate = {size, now, next};
        CILK_RUN(step, a->plate = &plate);
        next = now;
        now = plate.next;
    }
    const bool right = is_right(now, size);
    free(now);
    free(next);
    return driver_end("heat", size, right);
}
