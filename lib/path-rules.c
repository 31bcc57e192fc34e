#include "lib/path-rules.h"

#include "lib/diag.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool path_add_replacement(struct path_rules *rules, const char *text)
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text)
        return false;
    size_t length = (size_t)(equals - text);
    while (length > 1 && text[length - 1] == '/')
        length--;
    const struct path_replacement rule = {
        .old = mem_strndup(text, length),
        .new = mem_strdup(equals + 1),
    };
    vec_push(&rules->replacements, rule);
    return true;
}

void path_add_search(struct path_rules *rules, const char *directory)
{
    struct stat status;
    if (stat(directory, &status) != 0 || !S_ISDIR(status.st_mode))
        diag_error(directory, "not a directory: no source files are searched there");
    vec_push(&rules->search, mem_strdup(directory));
}

void path_rules_free(struct path_rules *rules)
{
    for (size_t i = 0; i < rules->replacements.n; i++) {
        free(rules->replacements.at[i].old);
        free(rules->replacements.at[i].new);
    }
    for (size_t i = 0; i < rules->search.n; i++)
        free(rules->search.at[i]);
    vec_free(&rules->replacements);
    vec_free(&rules->search);
}

char *path_replace(const struct path_rules *rules, const char *path)
{
    for (size_t i = 0; i < rules->replacements.n; i++) {
        const struct path_replacement *rule = &rules->replacements.at[i];
        size_t length = strlen(rule->old);
        if (strncmp(path, rule->old, length) != 0)
            continue;
        if (path[length] == '\0' || path[length] == '/' || rule->old[length - 1] == '/')
            return mem_printf("%s%s", rule->new, path + length);
    }
    return NULL;
}

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* `suffix` below one of the search directories, or NULL. */
static char *find_below(const struct path_rules *rules, const char *suffix)
{
    for (size_t i = 0; i < rules->search.n; i++) {
        char *candidate = mem_printf("%s/%s", rules->search.at[i], suffix);
        if (is_file(candidate))
            return candidate;
        free(candidate);
    }
    return NULL;
}

char *path_find_source(const struct path_rules *rules, const char *path)
{
    if (path[0] == '/' && is_file(path)) /* a relative path's directory is not known */
        return mem_strdup(path);
    char *found = path_replace(rules, path);
    if (found && is_file(found))
        return found;
    free(found);
    for (const char *suffix = path; suffix; suffix = strchr(suffix, '/')) {
        suffix += strspn(suffix, "/");
        found = find_below(rules, suffix);
        if (found)
            return found;
    }
    return NULL;
}
