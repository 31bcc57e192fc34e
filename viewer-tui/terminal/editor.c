#include "viewer-tui/terminal/editor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* Exit status of a shell that does not find the command. */
#define NOT_FOUND 127

void editor_run(const char *path, uint32_t line, struct text *problem)
{
    const char *editor = "vi", *const variables[] = {getenv("EDITOR"), getenv("VISUAL")}; /* the last one counts most */
    autofree struct text command = {0};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        editor = variables[i] && *variables[i] ? variables[i] : editor;
    text_add(&command, editor); /* may have arguments */
    if (line)
        text_printf(&command, " +%u", line);
    /* Quoted for the shell, so that the editor takes the path for neither option nor command. */
    text_add(&command, *path == '-' || *path == '+' ? " './" : " '");
    for (const char *at = path; *at; at++)
        text_add_bytes(&command, *at == '\'' ? "'\\''" : at, *at == '\'' ? 4 : 1);
    text_add(&command, "'");
    int status = system(text_string(&command));
    if (status == -1)
        text_printf(problem, "%s: %s", editor, strerror(errno));
    else if (WIFSIGNALED(status))
        text_printf(problem, "%s ended by signal %d", editor, WTERMSIG(status));
    else if (WEXITSTATUS(status) == NOT_FOUND)
        text_printf(problem, "no editor '%s'; set VISUAL or EDITOR", editor);
    else if (WEXITSTATUS(status) != 0)
        text_printf(problem, "%s ended with status %d", editor, WEXITSTATUS(status));
}
