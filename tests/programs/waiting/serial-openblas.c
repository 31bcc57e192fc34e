/* serial-openblas ROUNDS SIZE MS: in each round a product of matrices, then MS of CPU time in the
 * initial thread while the library's threads wait. */
#include "wait-ledger.h"

#include <cblas.h>

int main(int count, char **arguments)
{
    if (count != 4)
        return 2;
    int rounds = atoi(arguments[1]), n = atoi(arguments[2]);
    uint64_t ns = strtoull(arguments[3], NULL, 10) * 1000000;
    size_t cells = (size_t)n * (size_t)n;
    double *a = calloc(cells, sizeof *a), *b = calloc(cells, sizeof *b);
    double *c = calloc(cells, sizeof *c);
    for (int i = 0; i < rounds; i++) {
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, a, n, b, n, 0, c, n);
        body(account_of(0), ns);
    }
    print_ledger();
    return 0;
}
