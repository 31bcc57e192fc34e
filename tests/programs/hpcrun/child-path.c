/* Processes of known critical path: child-path MILLISECONDS, the length of a stage.
 *
 *     parent    before | aside(1/2) |           | after_child |                    | after
 *     child 1          | in_child               |
 *     child 2                                                 | in_program, after it has executed this program again
 *
 * Each process prints its own stages. */
#include "tests/programs/pthread/path-stages.h"

#include <sys/wait.h>
#include <unistd.h>

ON_PATH(before)
ON_PATH(in_child)
ON_PATH(after_child)
ON_PATH(in_program)
ON_PATH(after)
ASIDE(aside, 2)

static void print_own(void)
{
    print_stages();
    n_stages = 0;
    fflush(stdout);
}

int main(int argc, char **argv)
{
    read_length(argc, argv);
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
