/* Cholesky factorization of a sparse symmetric matrix, A = L L', kept as a quad-tree of blocks: the
 * case study of Tallent & Mellor-Crummey (PPoPP 2009), section 5.4, written after its description.
 *
 * Factoring, multiplying and checking are parallel. Setting the matrix up, copying it and freeing
 * it are serial helpers, called from the root procedure: while they run all other workers are idle.
 * Random matrices fill in almost completely, so the parallel work grows with the third power of
 * SIZE, and the helpers' work with the second. */
#include <string.h>

#include "driver.h"

enum { BLOCK = 4, NONZEROS_PER_ROW = 10 };

enum { UPPER_LEFT, UPPER_RIGHT, LOWER_LEFT, LOWER_RIGHT };

/* At depth 0 a dense block, row by row; above, four quarters, NULL for a quarter of zeros. The whole
 * matrix holds its lower triangle only. */
union matrix {
    union matrix *quarter[4];
    double block[BLOCK][BLOCK];
};

static union matrix *new_matrix(int depth)
{
    union matrix *matrix =
        driver_memory(depth == 0 ? sizeof matrix->block : sizeof matrix->quarter);
    if (depth == 0)
        memset(matrix->block, 0, sizeof matrix->block);
    else
        memset(matrix->quarter, 0, sizeof matrix->quarter);
    return matrix;
}

/* ---- Serial kernels on blocks ---- */

/* block := its Cholesky factor. */
static void block_cholesky(double l[BLOCK][BLOCK])
{
    for (int j = 0; j < BLOCK; j++) {
        l[j][j] = sqrt(l[j][j]);
        for (int i = j + 1; i < BLOCK; i++)
            l[i][j] /= l[j][j];
        for (int k = j + 1; k < BLOCK; k++) {
            for (int i = k; i < BLOCK; i++)
                l[i][k] -= l[i][j] * l[k][j];
        }
    }
}

/* Solves Y l' = x; x := Y. */
static void block_backsub(double x[BLOCK][BLOCK], double l[BLOCK][BLOCK])
{
    for (int i = 0; i < BLOCK; i++) {
        for (int j = 0; j < BLOCK; j++) {
            for (int k = 0; k < j; k++)
                x[i][j] -= x[i][k] * l[j][k];
            x[i][j] /= l[j][j];
        }
    }
}

/* r -= x y' */
static void block_schur_full(double x[BLOCK][BLOCK], double y[BLOCK][BLOCK], double r[BLOCK][BLOCK])
{
    for (int i = 0; i < BLOCK; i++) {
        for (int j = 0; j < BLOCK; j++) {
            for (int k = 0; k < BLOCK; k++)
                r[i][j] -= x[i][k] * y[j][k];
        }
    }
}

/* The lower triangle of r -= x y' */
static void block_schur_half(double x[BLOCK][BLOCK], double y[BLOCK][BLOCK], double r[BLOCK][BLOCK])
{
    for (int i = 0; i < BLOCK; i++) {
        for (int j = 0; j <= i; j++) {
            for (int k = 0; k < BLOCK; k++)
                r[i][j] -= x[i][k] * y[j][k];
        }
    }
}

/* ---- Parallel procedures on quad-trees ---- */

/* *r -= x y', or its lower triangle; allocates r if it was zero. */
CILK_PROC(mul_and_subT, int depth; bool lower; union matrix *x; union matrix *y;
          union matrix **r; int half; int quarter;);

CILK_BODY(mul_and_subT)
{
    CILK_BEGIN(mul_and_subT);
    if (!*f->r)
        *f->r = new_matrix(f->depth);
    if (f->depth == 0) {
        if (f->lower)
            block_schur_half(f->x->block, f->y->block, (*f->r)->block);
        else
            block_schur_full(f->x->block, f->y->block, (*f->r)->block);
        CILK_RETURN;
    }
    /* Two products go into each quarter of r, one after the other. */
    for (f->half = 0; f->half < 2; f->half++) {
        for (f->quarter = UPPER_LEFT; f->quarter <= LOWER_RIGHT; f->quarter++) {
            union matrix *x = f->x->quarter[f->quarter / 2 * 2 + f->half];
            union matrix *y = f->y->quarter[f->quarter % 2 * 2 + f->half];
            if (!x || !y || (f->lower && f->quarter == UPPER_RIGHT))
                continue;
            CILK_SPAWN(mul_and_subT, a->depth = f->depth - 1;
                       a->lower = f->lower && f->quarter != LOWER_LEFT; a->x = x; a->y = y;
                       a->r = &(*f->r)->quarter[f->quarter]);
        }
        CILK_SYNC();
    }
    CILK_END;
}

/* Solves Y l' = x; x := Y. */
CILK_PROC(backsub, int depth; union matrix *x; union matrix *l; int row;);

CILK_BODY(backsub)
{
    CILK_BEGIN(backsub);
    if (!f->x)
        CILK_RETURN;
    if (f->depth == 0) {
        block_backsub(f->x->block, f->l->block);
        CILK_RETURN;
    }
    for (f->row = UPPER_LEFT; f->row <= LOWER_LEFT; f->row += 2)
        CILK_SPAWN(backsub, a->depth = f->depth - 1; a->x = f->x->quarter[f->row];
                   a->l = f->l->quarter[UPPER_LEFT]);
    CILK_SYNC();
    for (f->row = UPPER_LEFT; f->row <= LOWER_LEFT; f->row += 2) {
        if (f->x->quarter[f->row] && f->l->quarter[LOWER_LEFT])
            CILK_SPAWN(mul_and_subT, a->depth = f->depth - 1; a->lower = false;
                       a->x = f->x->quarter[f->row]; a->y = f->l->quarter[LOWER_LEFT];
                       a->r = &f->x->quarter[f->row + 1]);
    }
    CILK_SYNC();
    for (f->row = UPPER_LEFT; f->row <= LOWER_LEFT; f->row += 2)
        CILK_SPAWN(backsub, a->depth = f->depth - 1; a->x = f->x->quarter[f->row + 1];
                   a->l = f->l->quarter[LOWER_RIGHT]);
    CILK_END;
}

/* matrix := its Cholesky factor. */
CILK_PROC(cholesky, int depth; union matrix *matrix;);

CILK_BODY(cholesky)
{
    CILK_BEGIN(cholesky);
    if (!f->matrix)
        CILK_RETURN;
    if (f->depth == 0) {
        block_cholesky(f->matrix->block);
        CILK_RETURN;
    }
    CILK_SPAWN(cholesky, a->depth = f->depth - 1; a->matrix = f->matrix->quarter[UPPER_LEFT]);
    CILK_SYNC();
    if (f->matrix->quarter[LOWER_LEFT]) {
        CILK_SPAWN(backsub, a->depth = f->depth - 1; a->x = f->matrix->quarter[LOWER_LEFT];
                   a->l = f->matrix->quarter[UPPER_LEFT]);
        CILK_SYNC();
        CILK_SPAWN(mul_and_subT, a->depth = f->depth - 1; a->lower = true;
                   a->x = f->matrix->quarter[LOWER_LEFT]; a->y = f->matrix->quarter[LOWER_LEFT];
                   a->r = &f->matrix->quarter[LOWER_RIGHT]);
        CILK_SYNC();
    }
    CILK_SPAWN(cholesky, a->depth = f->depth - 1; a->matrix = f->matrix->quarter[LOWER_RIGHT]);
    CILK_END;
}

static double block_largest(double block[BLOCK][BLOCK])
{
    double largest = 0;
    for (int i = 0; i < BLOCK; i++) {
        for (int j = 0; j < BLOCK; j++)
            largest = fmax(largest, fabs(block[i][j]));
    }
    return largest;
}

/* The largest absolute value. */
CILK_PROC(find_largest, int depth; union matrix *matrix; double *largest; int quarter;
          double found[4];);

CILK_BODY(find_largest)
{
    CILK_BEGIN(find_largest);
    if (!f->matrix || f->depth == 0) {
        *f->largest = f->matrix ? block_largest(f->matrix->block) : 0;
        CILK_RETURN;
    }
    for (f->quarter = 0; f->quarter < 4; f->quarter++)
        CILK_SPAWN(find_largest, a->depth = f->depth - 1;
                   a->matrix = f->matrix->quarter[f->quarter]; a->largest = &f->found[f->quarter]);
    CILK_SYNC();
    *f->largest = fmax(fmax(f->found[0], f->found[1]), fmax(f->found[2], f->found[3]));
    CILK_END;
}

/* ---- Serial helpers ---- */

static void set_element(union matrix **matrix, int depth, long row, long column, double value)
{
    if (!*matrix)
        *matrix = new_matrix(depth);
    if (depth == 0) {
        (*matrix)->block[row][column] = value;
        return;
    }
    const long half = (long)BLOCK << (depth - 1);
    const int quarter = (row >= half ? 2 : 0) + (column >= half ? 1 : 0);
    set_element(&(*matrix)->quarter[quarter], depth - 1, row % half, column % half, value);
}

/* Random elements below a diagonal that outweighs them: positive definite. */
static union matrix *set_matrix(int depth, long size)
{
    union matrix *matrix = NULL;
    uint32_t random = 88172645;
    for (long i = 0; i < size * NONZEROS_PER_ROW; i++) {
        const long row = driver_random(&random) % size, column = driver_random(&random) % size;
        if (column < row)
            set_element(&matrix, depth, row, column, driver_random(&random) / 4294967296.0);
    }
    /* The last block's rows behind the matrix are those of the identity. */
    const long rows = (size + BLOCK - 1) / BLOCK * BLOCK;
    for (long i = 0; i < rows; i++)
        set_element(&matrix, depth, i, i, i < size ? 10.0 * NONZEROS_PER_ROW : 1);
    return matrix;
}

static union matrix *copy_matrix(const union matrix *matrix, int depth)
{
    if (!matrix)
        return NULL;
    union matrix *copy = new_matrix(depth);
    if (depth == 0) {
        memcpy(copy->block, matrix->block, sizeof copy->block);
        return copy;
    }
    for (int i = 0; i < 4; i++)
        copy->quarter[i] = copy_matrix(matrix->quarter[i], depth - 1);
    return copy;
}

static void free_matrix(union matrix *matrix, int depth)
{
    if (!matrix)
        return;
    for (int i = 0; i < 4 && depth > 0; i++)
        free_matrix(matrix->quarter[i], depth - 1);
    free(matrix);
}

/* The least depth that holds `size` rows. */
static int depth_for(long size)
{
    int depth = 0;
    while ((long)BLOCK << depth < size)
        depth++;
    return depth;
}

CILK_PROC(cilk_main, long size; double *error; int depth; union matrix *matrix;
          union matrix *original;);

CILK_BODY(cilk_main)
{
    CILK_BEGIN(cilk_main);
    f->depth = depth_for(f->size);
    f->matrix = set_matrix(f->depth, f->size);
    f->original = copy_matrix(f->matrix, f->depth);

    CILK_SPAWN(cholesky, a->depth = f->depth; a->matrix = f->matrix);
    CILK_SYNC();

    /* The original minus the product of the factors must be zero. */
    CILK_SPAWN(mul_and_subT, a->depth = f->depth; a->lower = true; a->x = f->matrix;
               a->y = f->matrix; a->r = &f->original);
    CILK_SYNC();
    CILK_SPAWN(find_largest, a->depth = f->depth; a->matrix = f->original; a->largest = f->error);
    CILK_SYNC();

    free_matrix(f->matrix, f->depth);
    free_matrix(f->original, f->depth);
    CILK_END;
}

int main(int argc, char **argv)
{
    const long size = driver_start(argc, argv, 1200, 1, 100000);
    double error = -1;
    CILK_RUN(cilk_main, a->size = size; a->error = &error);
    return driver_end("cholesky", size, error >= 0 && error < 1e-9);
}
