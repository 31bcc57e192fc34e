/* How the editor is started: a script in its place writes down what it is given. */
#include "tests/unit/cmocka_suite.h"

#include "lib/safe-input.h"
#include "viewer-tui/terminal/editor.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static char *in_folder(const char *name)
{
    return mem_printf("%s/%s", folder, name);
}

/* VISUAL is a script that writes its arguments, one a line, and ends with status 0. */
static int make_editor(void **state)
{
    strcpy(folder, "/tmp/test-editor-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    char *script = in_folder("editor"), *visual = mem_printf("%s first", script);
    FILE *out = fopen(script, "w");
    fprintf(out, "#!/bin/sh\nprintf '%%s\\n' \"$@\" > %s/arguments\n", folder);
    fclose(out);
    int status = chmod(script, 0755);
    setenv("VISUAL", visual, 1);
    setenv("EDITOR", "false", 1);
    free(visual);
    free(script);
    return status;
}

static int remove_editor(void **state)
{
    char *command = mem_printf("rm -rf %s", folder);
    int status = system(command);
    free(command);
    return status;
}

static void assert_given(const char *path, uint32_t line, const char *arguments)
{
    struct text problem = {0};
    char *cause, *file = in_folder("arguments");
    size_t size;
    editor_run(path, line, &problem);
    assert_string_equal(text_string(&problem), "");
    char *given = input_read(file, 1000, &size, &cause);
    assert_string_equal(given, arguments);
    unlink(file);
    free(given);
    free(file);
    vec_free(&problem);
}

TEST_WITH(make_editor, remove_editor, a_path_and_a_line)
{
    assert_given("/src/a.c", 7, "first\n+7\n/src/a.c\n");
    assert_given("/src/a.c", 0, "first\n/src/a.c\n");
    assert_given("a.c", 1, "first\n+1\na.c\n");
}

TEST_WITH(make_editor, remove_editor, paths_that_begin_like_options_and_commands)
{
    assert_given("-c!id", 7, "first\n+7\n./-c!id\n");
    assert_given("+!id", 7, "first\n+7\n./+!id\n");
    assert_given("+!id", 0, "first\n./+!id\n");
    assert_given("a/+b/-c", 0, "first\na/+b/-c\n");
}

TEST_WITH(make_editor, remove_editor, paths_are_quoted)
{
    assert_given("it's $(id) `id`;\"x\" \\ *", 0, "first\nit's $(id) `id`;\"x\" \\ *\n");
    assert_given("'", 2, "first\n+2\n'\n");
    assert_given("'+", 0, "first\n'+\n");
    assert_given("+'", 0, "first\n./+'\n");
}

static void assert_problem(const char *visual, const char *editor, const char *expected)
{
    struct text problem = {0};
    setenv("VISUAL", visual, 1);
    setenv("EDITOR", editor, 1);
    editor_run("a.c", 1, &problem);
    assert_string_equal(text_string(&problem), expected);
    vec_free(&problem);
}

TEST(failures)
{
    assert_problem("false", "true", "false ended with status 1");
    assert_problem("", "false", "false ended with status 1");
    assert_problem("true", "false", "");
    assert_problem("exec 2>/dev/null; no-such-editor", "true",
                   "no editor 'exec 2>/dev/null; no-such-editor'; set VISUAL or EDITOR");
    assert_problem("kill -9 $$;", "true", "kill -9 $$; ended by signal 9");
}
