/* Programs that a tool runs. */
#include "tests/unit/cmocka_suite.h"

#include "lib/subprocess.h"

#include <signal.h>
#include <sys/wait.h>

/* A caller may ignore SIGCHLD, and the tool then does: the kernel would forget how its programs ended. */
TEST(the_status_is_known_where_the_caller_ignores_ends_of_children)
{
    char *const arguments[] = {(char[]){"sh"}, (char[]){"-c"}, (char[]){"exit 7"}, NULL};
    assert_true(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
    struct program_output done =
        run_program(&(struct program_start){.path = "/bin/sh", .arguments = arguments, .input = NO_INPUT});
    assert_true(WIFEXITED(done.status));
    assert_int_equal(WEXITSTATUS(done.status), 7);
    assert_string_equal(done.errors, "");
    program_output_free(&done);
}
