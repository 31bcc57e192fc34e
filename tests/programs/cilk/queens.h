/* The serial parts of nqueens, for Cilk and for OpenMP. */
#ifndef TESTS_PROGRAMS_CILK_QUEENS_H
#define TESTS_PROGRAMS_CILK_QUEENS_H

#include <stdint.h>

enum { MOST = 18, SERIAL_ROWS = 8 };

/* Occupied columns, and occupied diagonals where they cross the next row; one bit per column. */
struct board {
    uint32_t columns, left, right;
};

static inline struct board place(struct board board, uint32_t queen)
{
    return (struct board){board.columns | queen, (board.left | queen) << 1,
                          (board.right | queen) >> 1};
}

static inline uint32_t free_columns(struct board board, int n)
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

/* https://oeis.org/A000170 */
static const long known[MOST + 1] = {
    1,   1,    0,     0,     2,      10,      4,        40,       92,       352,
    724, 2680, 14200, 73712, 365596, 2279184, 14772512, 95815104, 666090624};

#endif
