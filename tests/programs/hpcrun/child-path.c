/* Processes of known critical path: child-path MILLISECONDS, the length of a stage.
 *
 *     parent    before | aside(1/2) |           | after_child |                    | after
 *     child 1          | in_child               |
 *     child 2                                                 | in_program, after it has executed this program again
 *
 * Each process prints its own stages. */
#include "tests/programs/pthread/path-stages.h"

#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t length;

STAGE(before, 1, length)
STAGE(in_child, 1, length)
STAGE(after_child, 1, length)
STAGE(in_program, 1, length)
STAGE(after, 1, length)
STAGE(aside, 0, length / 2)

static void print_own(void)
{
    print_stages();
    n_stages = 0;
    fflush(stdout);
}

int main(int argc, char **argv)
{
    length = (argc > 1 ? strtoull(argv[1], NULL, 10) : 200) * 1000000;
    if (argc > 2) {
        in_program();
        print_own();
        return 0;
    }
    before();
    print_own();
    pid_t child = fork();
    if (child == 0) {
        in_child();
        print_own();
        return 0;
    }
    aside();
    waitpid(child, NULL, 0);
    after_child();
    print_own();
    child = fork();
    if (child == 0) {
        execl(argv[0], argv[0], argv[1], "again", NULL);
        return 1;
    }
    wait(NULL);
    after();
    print_own();
    return 0;
}
