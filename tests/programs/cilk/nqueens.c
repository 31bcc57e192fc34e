/* The number of ways to place n queens on a board of n x n so that none threatens another. A tree of
 * very uneven branches; the last rows are counted by a serial helper. */
#include "driver.h"
#include "queens.h"

CILK_PROC(nqueens, int n; int rows; struct board board; long *count; uint32_t open; int children;
          long counts[MOST];);

CILK_BODY(nqueens)
{
    CILK_BEGIN(nqueens);
    if (f->rows <= SERIAL_ROWS) {
        *f->count = count_serially(f->board, f->n, f->rows);
        CILK_RETURN;
    }
    f->children = 0;
    for (f->open = free_columns(f->board, f->n); f->open != 0; f->open &= f->open - 1) {
        CILK_SPAWN(nqueens, a->n = f->n; a->rows = f->rows - 1;
                   a->board = place(f->board, f->open & -f->open);
                   a->count = &f->counts[f->children++]);
    }
    CILK_SYNC();
    *f->count = 0;
    for (int i = 0; i < f->children; i++)
        *f->count += f->counts[i];
    CILK_END;
}

int main(int argc, char **argv)
{
    const long n = driver_start(argc, argv, 14, 1, MOST);
    long count = -1;
    CILK_RUN(nqueens, a->n = (int)n; a->rows = (int)n; a->board = (struct board){0, 0, 0};
             a->count = &count);
    return driver_end("nqueens", n, count == known[n]);
}
