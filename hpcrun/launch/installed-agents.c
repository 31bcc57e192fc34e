#include "hpcrun/launch/installed-agents.h"

#include "lib/alloc.h"
#include "lib/diag.h"
#include "lib/safe-input.h"

#include <assert.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENDING ".rules"

static int has_rules_ending(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name), ending = strlen(ENDING);
    return length > ending && strcmp(entry->d_name + length - ending, ENDING) == 0;
}

/* The text with the separator and `more` appended; frees the old text. */
static char *append(char *text, const char *separator, const char *more)
{
    char *longer = mem_printf("%s%s%s", text, separator, more);
    free(text);
    return longer;
}

/* The agent's entry with the recognition of one line of its rules file; other lines add nothing. */
static char *add_line(char *entry, char *line)
{
    char *rest = NULL, *key = strtok_r(line, " \t\r\n", &rest);
    char *value = key ? strtok_r(NULL, " \t\r\n", &rest) : NULL;
    if (!value || strpbrk(value, "|;"))
        return entry;
    if (strcmp(key, "runtime-note") == 0)
        return append(entry, "|note:", value);
    if (strcmp(key, "runtime-module") == 0)
        return append(entry, "|module:", value);
    if (strcmp(key, "runtime-symbol") == 0)
        return append(entry, "|symbol:", value);
    if (strcmp(key, "runtime-threads") == 0)
        return append(entry, "|threads:", value);
    return entry;
}

static bool is_preload_line(const char *line)
{
    char word[8];
    return sscanf(line, "runtime-preload %7s", word) == 1 && strcmp(word, "yes") == 0;
}

/* The entry of one agent in HPCRUN_AGENTS; NULL, after a message, if its rules can't be used. Adds
 * its library to *preload if its rules say that it must be preloaded. */
static char *read_rules(const char *folder, const char *name, char **preload)
{
    char *path = mem_printf("%s/%s" ENDING, folder, name), line[1024], version[128];
    char *entry = NULL, *cause = NULL;
    FILE *file = input_stream(path, &cause);
    bool is_preloaded = false;
    if (!file)
        diag_error(path, "%s", cause);
    else if (!fgets(line, sizeof line, file) || sscanf(line, "agent %*s %127s", version) != 1)
        diag_error(path, "the first line is not 'agent NAME VERSION': agent not used");
    else
        entry = mem_printf("%s|%s|%s/%s.so", name, version, folder, name);
    while (entry && fgets(line, sizeof line, file)) {
        is_preloaded |= is_preload_line(line);
        entry = add_line(entry, line);
    }
    if (is_preloaded) {
        char *agent = mem_printf("%s/%s.so", folder, name);
        *preload = append(*preload, **preload ? ":" : "", agent);
        free(agent);
    }
    if (file)
        fclose(file);
    free(cause);
    free(path);
    return entry;
}

static bool is_wanted(const char *wanted, const char *name)
{
    size_t length = strlen(name);
    if (strcmp(wanted, "auto") == 0)
        return true;
    for (const char *at = wanted; at; at = strchr(at, ','), at = at ? at + 1 : NULL)
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    return false;
}

/* Ends the process if a wanted name is not installed. */
static void check_names(const char *wanted, struct dirent **installed, int count)
{
    char *names = mem_strdup(wanted), *rest = NULL;
    if (strcmp(wanted, "auto") == 0 || strcmp(wanted, "none") == 0)
        names[0] = '\0';
    for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        char *known = mem_strdup("");
        bool found = false;
        for (int i = 0; i < count; i++) {
            found |= strcmp(installed[i]->d_name, name) == 0;
            known = append(known, i ? ", " : "", installed[i]->d_name);
        }
        if (!found)
            diag_usage("no agent '%s' (installed: %s)", name, count ? known : "none");
        free(known);
    }
    free(names);
}

/* Whether the rules are for a runtime that has no agent: only hpcprof reads these. */
static bool is_without_agent(const char *folder, const char *file)
{
    char *path = mem_printf("%s/%s", folder, file), word[16] = "", *cause = NULL;
    FILE *in = input_stream(path, &cause);
    bool is_it = in && fscanf(in, "%15s", word) == 1 && strcmp(word, "runtime") == 0;
    if (in)
        fclose(in);
    free(cause);
    free(path);
    return is_it;
}

/* Lists the agents with rules files in a folder, sorted; d_name has no ending. The caller frees the
 * entries and the list. */
static int installed_agents(const char *folder, struct dirent ***list)
{
    int count = scandir(folder, list, has_rules_ending, alphasort), kept = 0;
    for (int i = 0; i < count; i++) {
        struct dirent *entry = (*list)[i];
        if (is_without_agent(folder, entry->d_name)) {
            free(entry);
            continue;
        }
        entry->d_name[strlen(entry->d_name) - strlen(ENDING)] = '\0';
        (*list)[kept++] = entry;
    }
    return kept;
}

char *agents_list(const char *library, const char *wanted, const char *unwanted, char **preload)
{
    const char *slash = strrchr(library, '/');
    assert(slash);
    char *folder = mem_printf("%.*s/agents", (int)(slash - library), library);
    struct dirent **installed = NULL;
    int count = installed_agents(folder, &installed);
    char *list = mem_strdup("");
    *preload = mem_strdup("");
    check_names(wanted, installed, count);
    for (int i = 0; i < count; i++) {
        const char *name = installed[i]->d_name;
        bool is_used = is_wanted(wanted, name) && strcmp(name, unwanted) != 0;
        char *entry = is_used ? read_rules(folder, name, preload) : NULL;
        if (entry)
            list = append(list, list[0] ? ";" : "", entry);
        free(entry);
        free(installed[i]);
    }
    free(installed);
    free(folder);
    return list;
}
