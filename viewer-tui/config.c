#include "viewer-tui/config.h"

#include "lib/diag.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* A copy of the text without the spaces around it. */
static char *trimmed(const char *text, size_t length)
{
    while (length && strchr(SPACE, text[length - 1]))
        length--;
    size_t spaces = strspn(text, SPACE);
    return spaces < length ? mem_strndup(text + spaces, length - spaces) : mem_strdup("");
}

static void take_line(struct config *config, const char *text, unsigned line)
{
    const char *equals = strchr(text, '=');
    size_t length = strlen(text);
    size_t name_length = equals ? (size_t)(equals - text) : length;
    char first = text[strspn(text, SPACE)];
    if (first == '\0' || first == '#')
        return;
    struct setting setting = {.name = trimmed(text, name_length), .line = line};
    if (equals)
        setting.value = trimmed(equals + 1, length - name_length - 1);
    vec_push(&config->settings, setting);
    if (!*setting.name)
        config_refuse(config, &setting, "no name before the '='");
}

static void refuse_file(const char *path, int error)
{
    diag_error(path, "%s; --no-config goes without it", strerror(error));
    exit(2);
}

void config_read(struct config *config)
{
    char *text = NULL;
    size_t room = 0;
    unsigned line = 0;
    config->path = usual_path();
    FILE *file = config->path ? fopen(config->path, "re") : NULL;
    if (!file) {
        if (config->path && errno != ENOENT && errno != ENOTDIR)
            refuse_file(config->path, errno);
        return;
    }
    while (getline(&text, &room, file) >= 0)
        take_line(config, text, ++line);
    if (ferror(file))
        refuse_file(config->path, errno);
    free(text);
    fclose(file);
}

void config_refuse(const struct config *config, const struct setting *setting, const char *why)
{
    char *where = mem_printf("%s:%u", config->path, setting->line);
    diag_error(where, "%s%s%s; --no-config goes without this file", setting->name,
               *setting->name ? ": " : "", why);
    free(where);
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
