#include "hpcprof/runtime/rules.h"

#include "lib/diag.h"
#include "lib/path.h"
#include "lib/safe-input.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "../lib/agents"
#define ENDING ".rules"
#define SPACE  " \t\r\n"

/* ---- lines ---- */

/* A line that is being read. */
struct rules_line {
    const char *path;
    unsigned number;
    char *rest; /* words not read yet */
};

static void reject(const struct rules_line *line, const char *key, const char *why)
{
    autofree char *place = mem_printf("%s:%u", line->path, line->number);
    diag_error(place, "%s: %s; the line is skipped", key, why);
}

static char *next_word(struct rules_line *line)
{
    return strtok_r(NULL, SPACE, &line->rest);
}

/* Whether a pattern is PREFIX*SUFFIX or PREFIX*MIDDLE* (hpcprof/names/clones.h). */
static bool is_clone_pattern(const char *pattern)
{
    const char *star = strchr(pattern, '*'), *second = star ? strchr(star + 1, '*') : NULL;
    return star && (!second || (second > star + 1 && second[1] == '\0'));
}

/* The rest of the line, without space at its ends; NULL if there is none. */
static const char *rest_of_line(struct rules_line *line)
{
    char *rest = line->rest + strspn(line->rest, SPACE), *end = rest + strlen(rest);
    while (end > rest && strchr(SPACE, end[-1]))
        *--end = '\0';
    line->rest = end;
    return *rest ? rest : NULL;
}

static void take_rule(struct rules_file *file, struct rules_line *line, enum rule_key key,
                      const char *name, bool is_fence)
{
    const char *pattern = next_word(line);
    bool has_kind = key == RULE_OVERHEAD || key == RULE_OVERHEAD_FILE;
    const char *kind = pattern && has_kind ? next_word(line) : NULL;
    if (pattern && (key == RULE_CONSTRUCT || key == RULE_OUTLINED))
        kind = rest_of_line(line);
    if (!pattern)
        reject(line, name, "the pattern is missing");
    else if (next_word(line))
        reject(line, name, "there are too many words");
    else if (key == RULE_OVERHEAD_COMPLETE && strcmp(pattern, "yes") != 0 &&
             strcmp(pattern, "debug") != 0)
        reject(line, name, "it is neither yes nor debug");
    else if (key == RULE_CLONE && !is_clone_pattern(pattern))
        reject(line, name,
               "the pattern needs a star, which stands for the procedure's name, and may "
               "end with another one");
    else
        vec_push(&file->rules, (struct rule){.key = key,
                                             .is_fence = is_fence,
                                             .pattern = mem_strdup(pattern),
                                             .kind = mem_strdup(kind ? kind : "")});
}

static void take_line(struct rules_file *file, struct rules_line *line, char *text)
{
    static const struct {
        const char *name;
        enum rule_key key;
        bool is_fence;
    } keys[] = {{"runtime-module", RULE_RUNTIME_MODULE, false},
                {"runtime-export", RULE_RUNTIME_EXPORT, false},
                {"glue", RULE_GLUE, false},
                {"clone", RULE_CLONE, false},
                {"construct", RULE_CONSTRUCT, false},
                {"outlined", RULE_OUTLINED, false},
                {"header", RULE_HEADER, false},
                {"overhead", RULE_OVERHEAD, false},
                {"fence", RULE_OVERHEAD, true},
                {"overhead-file", RULE_OVERHEAD_FILE, false},
                {"compiled-in", RULE_COMPILED_IN, false},
                {"helper", RULE_HELPER, false},
                {"overhead-complete", RULE_OVERHEAD_COMPLETE, false},
                {"waiting", RULE_WAITING, false},
                {"waiting-code", RULE_WAITING_CODE, false},
                {"waiting-call", RULE_WAITING_CALL, false},
                {"working", RULE_WORKING, false}};
    const char *word = strtok_r(text, SPACE, &line->rest);
    if (!word || *word == '#')
        return;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(word, keys[i].name) == 0) {
            take_rule(file, line, keys[i].key, word, keys[i].is_fence);
            return;
        }
    if (strncmp(word, "runtime-", strlen("runtime-")) != 0)
        reject(line, word, "no such rule");
}

/* ---- files ---- */

/* Whether the first word of a line is `word`. */
static bool begins_with(const char *line, const char *word)
{
    size_t length = strlen(word);
    return strncmp(line, word, length) == 0 && strchr(SPACE, line[length]) && line[length];
}

/* False, with *cause, if the file cannot be read. */
static bool read_lines(struct rules_file *file, const char *path, char **cause)
{
    struct rules_line line = {.path = path};
    FILE *in = input_stream(path, cause);
    if (!in)
        return false;
    autofree char *text = NULL;
    size_t room = 0;
    while (getline(&text, &room, in) >= 0) {
        line.number++;
        if (line.number > 1)
            take_line(file, &line, text);
        else if (!begins_with(text, file->is_of_agent ? "agent" : "runtime"))
            reject(&line, "first line", "it is not 'agent NAME VERSION'");
    }
    fclose(in);
    return true;
}

static char *path_of(const char *base)
{
    char *name = mem_printf(FOLDER "/%s", base), *path = path_of_tool(name);
    free(name);
    return path;
}

/* Whether a file exists and has the rules of a runtime that needs no agent. */
static bool is_of_runtime(const char *path)
{
    char line[64] = "", *cause = NULL;
    FILE *in = input_stream(path, &cause);
    bool is_read = in && fgets(line, sizeof line, in);
    if (in)
        fclose(in);
    free(cause);
    return is_read && begins_with(line, "runtime");
}

static void add_file(struct rules *rules, struct rules_file file)
{
    for (size_t i = 0; i < file.rules.n; i++)
        file.rules.at[i].id = rules->n_rules++;
    vec_push(&rules->files, file);
}

void rules_read_agent(struct rules *rules, const char *base)
{
    if (rules_find_file(rules, base))
        return;
    struct rules_file file = {.base = mem_strdup(base), .is_of_agent = true};
    char *path = path_of(base), *cause = NULL;
    if (strchr(base, '/') || !read_lines(&file, path, &cause))
        diag_note(
            path,
            "%s: clones of procedures are shown separately, and the runtime's procedures are not "
            "recognized",
            cause ? cause : "not the name of a rules file");
    add_file(rules, file);
    free(cause);
    free(path);
}

static int has_ending(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name), of_ending = strlen(ENDING);
    return length > of_ending && strcmp(entry->d_name + length - of_ending, ENDING) == 0;
}

void rules_read_runtimes(struct rules *rules)
{
    autofree char *folder = path_of_tool(FOLDER);
    struct dirent **found = NULL;
    int count = scandir(folder, &found, has_ending, alphasort);
    for (int i = 0; i < count; i++) {
        char *path = path_of(found[i]->d_name), *cause = NULL;
        if (!rules_find_file(rules, found[i]->d_name) && is_of_runtime(path)) {
            struct rules_file file = {.base = mem_strdup(found[i]->d_name)};
            read_lines(&file, path, &cause);
            add_file(rules, file);
        }
        free(cause);
        free(path);
        free(found[i]);
    }
    free(found);
}

void rules_free(struct rules *rules)
{
    for (size_t i = 0; i < rules->files.n; i++) {
        struct rules_file *file = &rules->files.at[i];
        for (size_t k = 0; k < file->rules.n; k++) {
            free(file->rules.at[k].pattern);
            free(file->rules.at[k].kind);
        }
        vec_free(&file->rules);
        free(file->base);
    }
    vec_free(&rules->files);
}

/* ---- matching ---- */

const struct rules_file *rules_find_file(const struct rules *rules, const char *base)
{
    for (size_t i = 0; i < rules->files.n; i++)
        if (strcmp(rules->files.at[i].base, base) == 0)
            return &rules->files.at[i];
    return NULL;
}

/* Matches from left to right; on a mismatch, lets the latest star match one more character. */
static bool matches(const char *pattern, const char *name)
{
    const char *star = NULL, *retry = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = pattern++;
            retry = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star + 1;
            name = ++retry;
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

const struct rule *rules_match(const struct rules_file *file, enum rule_key key, const char *name,
                               const struct rule *after)
{
    for (size_t i = after ? (size_t)(after - file->rules.at) + 1 : 0; i < file->rules.n; i++)
        if (file->rules.at[i].key == key && matches(file->rules.at[i].pattern, name))
            return &file->rules.at[i];
    return NULL;
}

/* Whether a user's procedure cannot match the pattern. */
static bool is_exclusive(const char *pattern)
{
    const char *star = strchr(pattern, '*'), *scope = strstr(pattern, "::");
    return !star || strncmp(pattern, "__", 2) == 0 || (scope && scope < star);
}

const struct rule *rules_match_code(const struct rules_file *file, const char *name,
                                    bool is_in_own_module)
{
    for (size_t i = 0; i < file->rules.n; i++) {
        const struct rule *rule = &file->rules.at[i];
        bool is_of_code = rule->key == RULE_OVERHEAD || rule->key == RULE_WAITING ||
                          rule->key == RULE_WORKING || (rule->key == RULE_GLUE && is_in_own_module);
        if (is_of_code && (is_in_own_module || is_exclusive(rule->pattern)) &&
            matches(rule->pattern, name))
            return rule;
    }
    return NULL;
}

bool rule_is_overhead(const struct rule *rule)
{
    return rule->key == RULE_OVERHEAD || rule->key == RULE_OVERHEAD_FILE;
}

bool rules_have(const struct rules_file *file, enum rule_key key)
{
    for (size_t i = 0; i < file->rules.n; i++)
        if (file->rules.at[i].key == key)
            return true;
    return false;
}

/* The pattern "libfoo.so" matches libfoo.so and libfoo.so.5. */
static bool is_module(const char *pattern, const char *base)
{
    autofree char *with_version = mem_printf("%s.*", pattern);
    return matches(pattern, base) || matches(with_version, base);
}

/* Whether a module is the agent itself: gomp.so, of gomp.rules. */
static bool is_agent_itself(const struct rules_file *file, const char *base)
{
    size_t length = strlen(file->base) - strlen(ENDING);
    return file->is_of_agent && strncmp(file->base, base, length) == 0 &&
           strcmp(base + length, ".so") == 0;
}

bool rules_have_module(const struct rules_file *file, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    if (is_agent_itself(file, base))
        return true;
    for (size_t i = 0; i < file->rules.n; i++)
        if (file->rules.at[i].key == RULE_RUNTIME_MODULE &&
            is_module(file->rules.at[i].pattern, base))
            return true;
    return false;
}
