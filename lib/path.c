#include "lib/path.h"

#include "lib/diag.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_name(const char *component, size_t length)
{
    return length > 2 || component[0] != '.' || (length == 2 && component[1] != '.');
}

/* The offset of the last component of the first `length` bytes. */
static size_t last_component(const char *text, size_t length)
{
    while (length > 0 && text[length - 1] != '/')
        length--;
    return length;
}

char *path_normalize(const char *path)
{
    const size_t root = path[0] == '/'; /* length of the prefix that ".." cannot remove */
    char *out = mem_alloc(strlen(path) + 2);
    size_t length = root;
    if (root)
        out[0] = '/';
    for (size_t size; *path; path += size) {
        path += strspn(path, "/");
        size = strcspn(path, "/");
        bool is_parent = size == 2 && !is_name(path, size);
        size_t last = last_component(out, length);
        if (size == 0 || (size == 1 && path[0] == '.') || (is_parent && root && length == root))
            continue;
        if (is_parent && length > root && is_name(out + last, length - last)) {
            length = last > root ? last - 1 : root;
            continue;
        }
        if (length > root)
            out[length++] = '/';
        memcpy(out + length, path, size);
        length += size;
    }
    if (length == 0)
        out[length++] = '.';
    out[length] = '\0';
    return out;
}

const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

char *path_of_tool(const char *tool)
{
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    return mem_printf("%.*s%s", (int)(path_base(self) - self), self, tool);
}

/* ---- rules ---- */

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

void path_add_own(struct path_rules *rules, const char *directory)
{
    vec_push(&rules->own, mem_strdup(directory));
}

void path_rules_free(struct path_rules *rules)
{
    for (size_t i = 0; i < rules->replacements.n; i++) {
        free(rules->replacements.at[i].old);
        free(rules->replacements.at[i].new);
    }
    for (size_t i = 0; i < rules->search.n; i++)
        free(rules->search.at[i]);
    for (size_t i = 0; i < rules->own.n; i++)
        free(rules->own.at[i]);
    vec_free(&rules->own);
    vec_free(&rules->replacements);
    vec_free(&rules->search);
}

static const struct path_replacement *find_replacement(const struct path_rules *rules,
                                                       const char *path)
{
    for (size_t i = 0; i < rules->replacements.n; i++) {
        const struct path_replacement *rule = &rules->replacements.at[i];
        size_t length = strlen(rule->old);
        if (strncmp(path, rule->old, length) != 0)
            continue;
        if (path[length] == '\0' || path[length] == '/' || rule->old[length - 1] == '/')
            return rule;
    }
    return NULL;
}

static char *replaced(const struct path_replacement *rule, const char *path)
{
    return mem_printf("%s%s", rule->new, path + strlen(rule->old));
}

char *path_replace(const struct path_rules *rules, const char *path)
{
    const struct path_replacement *rule = find_replacement(rules, path);
    return rule ? replaced(rule, path) : NULL;
}

static bool is_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static bool visit(char *file, const char *tree, path_visitor visitor, void *context)
{
    bool found = is_file(file) && visitor(context, file, tree);
    free(file);
    return found;
}

/* Visits `suffix` below each search directory. */
static bool visit_below(const struct path_rules *rules, const char *suffix, path_visitor visitor,
                        void *context)
{
    for (size_t i = 0; i < rules->search.n; i++) {
        const char *directory = rules->search.at[i];
        if (visit(mem_printf("%s/%s", directory, suffix), directory, visitor, context))
            return true;
    }
    return false;
}

bool path_visit_sources(const struct path_rules *rules, const char *path, path_visitor visitor,
                        void *context)
{
    /* The directory that a relative path starts from is unknown. */
    if (path[0] == '/' && visit(mem_strdup(path), NULL, visitor, context))
        return true;
    const struct path_replacement *rule = find_replacement(rules, path);
    if (rule && visit(replaced(rule, path), rule->new[0] ? rule->new : "/", visitor, context))
        return true;
    for (const char *suffix = path; suffix; suffix = strchr(suffix, '/')) {
        suffix += strspn(suffix, "/");
        if (visit_below(rules, suffix, visitor, context))
            return true;
    }
    return false;
}
