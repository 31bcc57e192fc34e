/* The number of ways to place n queens on a board of n x n so that none threatens another. A tree of
 * very uneven branches; the last rows are counted by a serial helper. */
#include "driver.h"

enum { MOST = 18, SERIAL_ROWS = 8 };

/* Occupied columns, and occupied diagonals where they cross the next row; one bit per column. */
struct board {
    uint32_t columns, left, right;
};

static struct board place(struct board board, uint32_t queen)
{
    return (struct board){board.columns | queen, (board.left | queen) << 1,
                          (board.right | queen) >> 1};
}

static uint32_t free_columns(struct board board, int n)
{
    return ~(board.columns | board.left | board.right) & ((UINT32_C(1) << n) - 1);
}

static long count_serially(struct board board, int n, int rows)
{
    if (rows == 0)
        return 1;
    long count = 0;
    for (uint32_t open = free_columns(board, n); open != 0; open &= open - 1)
        count += count_serially(place(board, open & -open), n, rows - 1);
    return count;
}

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
    /* https://oeis.org/A000170 */
    static const long known[MOST + 1] = {
        1,   1,    0,     0,     2,      10,      4,        40,       92,       352,
        724, 2680, 14200, 73712, 365596, 2279184, 14772512, 95815104, 666090624};
    const long n = driver_start(argc, argv, 14, 1, MOST);
    long count = -1;
    CILK_RUN(nqueens, a->n = (int)n; a->rows = (int)n; a->board = (struct board){0, 0, 0};
             a->count = &count);
    return driver_end("nqueens", n, count == known[n]);
}
