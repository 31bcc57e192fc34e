#include "viewer-tui/base/viewer-config.h"

#include "lib/diag.h"
#include "lib/safe-input.h"
#include "lib/safe-output.h"
#include "viewer-tui/base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define NAME  "hpctoolkit/hpcviewer.conf"
#define SPACE " \t\r\n"

static char *usual_path(void)
{
    const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    if (folder && folder[0] == '/')
        return mem_printf("%s/%s", folder, NAME);
    if (home && home[0] == '/')
        return mem_printf("%s/.config/%s", home, NAME);
    return NULL;
}

static void take_line(struct config *config, const char *text, unsigned line)
{
    size_t name_length = strcspn(text, "=");
    const char *equals = text[name_length] ? text + name_length : NULL;
    char first = text[strspn(text, SPACE)];
    if (first == '\0' || first == '#')
        return;
    struct setting setting = {.name = text_trimmed(text, name_length), .line = line};
    if (equals)
        setting.value = text_trimmed(equals + 1, strlen(equals + 1));
    vec_push(&config->settings, setting);
    if (!*setting.name)
        config_refuse(config, &setting, "no name before the '='");
}

static void refuse_file(const char *path, const char *cause)
{
    diag_error(path, "%s; --no-config ignores it", cause);
    exit(2);
}

void config_read(struct config *config)
{
    char *text = NULL;
    size_t room = 0;
    unsigned line = 0;
    config->path = usual_path();
    char *cause = NULL;
    FILE *file = config->path ? input_stream(config->path, &cause) : NULL;
    if (!file) {
        if (config->path && errno != ENOENT && errno != ENOTDIR)
            refuse_file(config->path, cause);
        free(cause);
        return;
    }
    while (getline(&text, &room, file) >= 0)
        take_line(config, text, ++line);
    if (ferror(file))
        refuse_file(config->path, strerror(errno));
    free(text);
    fclose(file);
}

void config_refuse(const struct config *config, const struct setting *setting, const char *why)
{
    autofree char *where = mem_printf("%s:%u", config->path, setting->line);
    diag_error(where, "%s%s%s; --no-config ignores this file", setting->name,
               *setting->name ? ": " : "", why);
    exit(2);
}

void config_free(struct config *config)
{
    for (size_t i = 0; i < config->settings.n; i++) {
        free(config->settings.at[i].name);
        free(config->settings.at[i].value);
    }
    vec_free(&config->settings);
    free(config->path);
    config->path = NULL;
}

/* Index of the change of a line's setting; n: none. */
static size_t change_of_line(const char *line, const struct config_change *changes, size_t n)
{
    autofree char *name = text_trimmed(line, strcspn(line, "="));
    size_t i = 0;
    while (i < n && strcmp(name, changes[i].name) != 0)
        i++;
    return i;
}

static void write_change(FILE *out, const struct config_change *change)
{
    if (change->value)
        fprintf(out, "%s = %s\n", change->name, change->value);
    else
        fprintf(out, "%s\n", change->name);
}

/* Copies the lines of `old` (NULL: none), with each change in place of the first line of its setting, and
 * appends the other changes. False if `old` cannot be read. */
static bool write_changed(FILE *old, FILE *out, const struct config_change *changes, size_t n)
{
    bool *is_done = mem_alloc(n + 1), ends_line = true;
    autofree char *line = NULL;
    size_t room = 0, i;
    ssize_t length;
    while (old && (length = getline(&line, &room, old)) >= 0) {
        i = change_of_line(line, changes, n);
        if (i < n && changes[i].is_set && !is_done[i])
            write_change(out, &changes[i]);
        else if (i == n)
            fwrite(line, 1, (size_t)length, out);
        ends_line = i < n || (length && line[length - 1] == '\n');
        is_done[i] = true;
    }
    if (!ends_line)
        fputc('\n', out);
    for (i = 0; i < n; i++)
        if (changes[i].is_set && !is_done[i])
            write_change(out, &changes[i]);
    free(is_done);
    return !old || !ferror(old);
}

bool config_save(const struct config_change *changes, size_t n, char **path, char **cause)
{
    struct atomic_file file;
    *path = usual_path();
    *cause = NULL;
    if (!*path) {
        *cause = mem_strdup("neither XDG_CONFIG_HOME nor HOME is set");
        return false;
    }
    for (char *slash = strchr(*path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(*path, 0777); /* if this fails, so does opening the file */
        *slash = '/';
    }
    FILE *old = input_stream(*path, cause);
    if (!old && errno != ENOENT)
        return false;
    free(*cause);
    *cause = NULL;
    bool is_written = atomic_file_begin(&file, *path, cause);
    if (is_written) {
        free(*path);
        *path = mem_strdup(file.path);
        is_written = write_changed(old, file.out, changes, n);
        if (is_written) {
            is_written = atomic_file_commit(&file, cause);
        } else {
            *cause = mem_strdup("cannot be read");
            atomic_file_abandon(&file);
        }
    }
    if (old)
        fclose(old);
    return is_written;
}
