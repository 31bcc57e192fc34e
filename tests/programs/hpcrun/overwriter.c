/* Overwrites its arguments and its environment, as programs do to change their line in ps, and leaves
 * invalid pointers to the arguments; then it works, and so does a child. */
#include "burn.h"

#include <sys/wait.h>

extern char **environ;

int main(int count, char **arguments)
{
    char *end = arguments[0];
    for (char **entry = environ; *entry; entry++)
        end = *entry + strlen(*entry);
    memset(arguments[0], 'x', (size_t)(end - arguments[0]));
    for (int i = 0; i < count; i++)
        arguments[i] = (char *)16;
    burn(50000000);
    pid_t child = fork();
    burn(50000000);
    if (child == 0)
        return 0;
    if (waitpid(child, NULL, 0) != child)
        return 1;
    puts("fine");
    return 0;
}
