/* Matrix product C += A B, cache-oblivious: halves the longest side until a block fits the serial
 * kernel. Halves of the result's rows or columns are independent; halves of the sum are not. */
#include "driver.h"

enum { BLOCK = 32 };

/* A part of a matrix whose rows are `stride` numbers apart. */
struct matrix {
    double *at;
    long stride;
};

static struct matrix block(struct matrix m, long row, long column)
{
    return (struct matrix){m.at + row * m.stride + column, m.stride};
}

static void multiply_block(struct matrix a, struct matrix b, struct matrix c, long rows, long inner,
                           long columns)
{
    for (long i = 0; i < rows; i++) {
        for (long k = 0; k < inner; k++) {
            const double factor = a.at[i * a.stride + k];
            for (long j = 0; j < columns; j++)
                c.at[i * c.stride + j] += factor * b.at[k * b.stride + j];
        }
    }
}

/* c += x y, of rows x inner and inner x columns. */
CILK_PROC(matmul, struct matrix x; struct matrix y; struct matrix c; long rows; long inner;
          long columns; long half;);

CILK_BODY(matmul)
{
    CILK_BEGIN(matmul);
    if (f->rows <= BLOCK && f->inner <= BLOCK && f->columns <= BLOCK) {
        multiply_block(f->x, f->y, f->c, f->rows, f->inner, f->columns);
    } else if (f->rows >= f->inner && f->rows >= f->columns) {
        f->half = f->rows / 2;
        CILK_SPAWN(matmul, a->x = f->x; a->y = f->y; a->c = f->c; a->rows = f->half;
                   a->inner = f->inner; a->columns = f->columns);
        CILK_SPAWN(matmul, a->x = block(f->x, f->half, 0); a->y = f->y;
                   a->c = block(f->c, f->half, 0); a->rows = f->rows - f->half; a->inner = f->inner;
                   a->columns = f->columns);
    } else if (f->columns >= f->inner) {
        f->half = f->columns / 2;
        CILK_SPAWN(matmul, a->x = f->x; a->y = f->y; a->c = f->c; a->rows = f->rows;
                   a->inner = f->inner; a->columns = f->half);
        CILK_SPAWN(matmul, a->x = f->x; a->y = block(f->y, 0, f->half);
                   a->c = block(f->c, 0, f->half); a->rows = f->rows; a->inner = f->inner;
                   a->columns = f->columns - f->half);
    } else {
        f->half = f->inner / 2;
        CILK_SPAWN(matmul, a->x = f->x; a->y = f->y; a->c = f->c; a->rows = f->rows;
                   a->inner = f->half; a->columns = f->columns);
        CILK_SYNC();
        CILK_SPAWN(matmul, a->x = block(f->x, 0, f->half); a->y = block(f->y, f->half, 0);
                   a->c = f->c; a->rows = f->rows; a->inner = f->inner - f->half;
                   a->columns = f->columns);
    }
    CILK_END;
}

static struct matrix new_matrix(long size, double (*value)(long row, long column))
{
    struct matrix m = {driver_memory((size_t)(size * size) * sizeof(double)), size};
    for (long i = 0; i < size; i++) {
        for (long j = 0; j < size; j++)
            m.at[i * size + j] = value(i, j);
    }
    return m;
}

static double sum_of_indices(long row, long column)
{
    return (double)(row + column);
}

static double difference_of_indices(long row, long column)
{
    return (double)(row - column);
}

static double zero(long row, long column)
{
    (void)row;
    (void)column;
    return 0;
}

/* Sum over k of (i + k)(k - j), in closed form; exact in doubles. */
static double expected(long n, long i, long j)
{
    const double k1 = (double)n * (n - 1) / 2, k2 = (double)(n - 1) * n * (2 * n - 1) / 6;
    return k2 + (double)(i - j) * k1 - (double)i * j * n;
}

static bool is_right(struct matrix c, long size)
{
    for (long i = 0; i < size; i++) {
        for (long j = 0; j < size; j++) {
            if (c.at[i * size + j] != expected(size, i, j))
                return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    const long size = driver_start(argc, argv, 1000, 1, 20000);
    struct matrix x = new_matrix(size, sum_of_indices);
    struct matrix y = new_matrix(size, difference_of_indices);
    struct matrix c = new_matrix(size, zero);
    CILK_RUN(matmul, a->x = x; a->y = y; a->c = c; a->rows = size; a->inner = size;
             a->columns = size);
    const bool right = is_right(c, size);
    free(x.at);
    free(y.at);
    free(c.at);
    return driver_end("matmul", size, right);
}
