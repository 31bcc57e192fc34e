/* cilk-tasks fib|nqueens|cilksort SIZE: the programs of the same names in tests/programs/cilk, as
 * OpenMP tasks with the same grains. Prints whether the result is right. */
#include "../cilk/queens.h"
#include "../cilk/serial-sort.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- fib ---- */

static long fib(int n)
{
    long x, y;
    if (n < 2)
        return n;
#pragma omp task shared(x)
    x = fib(n - 1);
#pragma omp task shared(y)
    y = fib(n - 2);
#pragma omp taskwait
    return x + y;
}

static bool run_fib(long n)
{
    long result = 0, previous = 1, current = 0;
#pragma omp parallel
#pragma omp single
    result = fib((int)n);
    for (long i = 0; i < n; i++) {
        const long next = previous + current;
        previous = current;
        current = next;
    }
    return result == current;
}

/* ---- nqueens ---- */

static long nqueens(struct board board, int n, int rows)
{
    long counts[MOST], count = 0;
    int children = 0;
    if (rows <= SERIAL_ROWS)
        return count_serially(board, n, rows);
    for (uint32_t open = free_columns(board, n); open != 0; open &= open - 1) {
        const struct board next = place(board, open & -open);
        long *to = &counts[children++];
#pragma omp task firstprivate(next, to)
        *to = nqueens(next, n, rows - 1);
    }
#pragma omp taskwait
    for (int i = 0; i < children; i++)
        count += counts[i];
    return count;
}

static bool run_nqueens(long n)
{
    long count = 0;
#pragma omp parallel
#pragma omp single
    count = nqueens((struct board){0, 0, 0}, (int)n, (int)n);
    return count == known[n];
}

/* ---- cilksort ---- */

static void merge(struct run x, struct run y, key *target)
{
    if (x.count < y.count) {
        const struct run shorter = x;
        x = y;
        y = shorter;
    }
    if (x.count + y.count <= MERGE_SERIALLY) {
        merge_serially(x, y, target);
        return;
    }
    const long i = x.count / 2, j = count_less(y, x.keys[i]);
#pragma omp task
    merge(part(x, 0, i), part(y, 0, j), target);
#pragma omp task
    merge(part(x, i, x.count), part(y, j, y.count), target + i + j);
#pragma omp taskwait
}

static void sort(struct run run, key *scratch)
{
    long quarter[5];
    if (run.count <= SORT_SERIALLY) {
        qsort(run.keys, (size_t)run.count, sizeof(key), compare);
        return;
    }
    for (int i = 0; i <= 4; i++)
        quarter[i] = run.count * i / 4;
    for (int i = 0; i < 4; i++)
#pragma omp task
        sort(part(run, quarter[i], quarter[i + 1]), scratch + quarter[i]);
#pragma omp taskwait
#pragma omp task
    merge(part(run, 0, quarter[1]), part(run, quarter[1], quarter[2]), scratch);
#pragma omp task
    merge(part(run, quarter[2], quarter[3]), part(run, quarter[3], quarter[4]),
          scratch + quarter[2]);
#pragma omp taskwait
#pragma omp task
    merge((struct run){scratch, quarter[2]},
          (struct run){scratch + quarter[2], run.count - quarter[2]}, run.keys);
#pragma omp taskwait
}

static uint32_t random_number(void)
{
    static uint32_t state = 2463534242;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static bool run_cilksort(long count)
{
    struct run run = {malloc((size_t)count * sizeof(key)), count};
    key *scratch = malloc((size_t)count * sizeof(key));
    bool right = run.keys && scratch;
    for (long i = 0; right && i < count; i++) {
        const long j = random_number() % (i + 1);
        run.keys[i] = run.keys[j];
        run.keys[j] = (key)i;
    }
    if (right) {
#pragma omp parallel
#pragma omp single
        sort(run, scratch);
    }
    for (long i = 0; right && i < count; i++)
        right = run.keys[i] == (key)i;
    free(scratch);
    free(run.keys);
    return right;
}

int main(int argc, char **argv)
{
    const char *which = argc == 3 ? argv[1] : "";
    const long size = argc == 3 ? atol(argv[2]) : 0;
    bool right = false;
    if (strcmp(which, "fib") == 0)
        right = run_fib(size);
    else if (strcmp(which, "nqueens") == 0 && size >= 1 && size <= MOST)
        right = run_nqueens(size);
    else if (strcmp(which, "cilksort") == 0)
        right = run_cilksort(size);
    printf("%s %ld: %s\n", which, size, right ? "ok" : "wrong");
    return right ? 0 : 1;
}
