#include "viewer-tui/compare/comparison-names.h"

#include "lib/alloc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A part of a path. */
struct path_part {
    const char *start, *end;
};

static bool is_slash(char c)
{
    return c == '/';
}

static bool is_between_words(char c)
{
    return !isalnum((unsigned char)c) && (unsigned char)c < 0x80;
}

/* Moves both starts after the last separator up to which the pieces are equal, and both ends before the first one from
 * which they are, unless nothing would remain of one. */
static void cut(struct path_part parts[SIDES], bool (*separates)(char))
{
    const char *a = parts[0].start, *b = parts[1].start;
    for (; a < parts[0].end && b < parts[1].end && *a == *b; a++, b++)
        if (separates(*a) && a + 1 < parts[0].end && b + 1 < parts[1].end) {
            parts[0].start = a + 1;
            parts[1].start = b + 1;
        }
    a = parts[0].end - 1;
    b = parts[1].end - 1;
    for (; a > parts[0].start && b > parts[1].start && *a == *b; a--, b--)
        if (separates(*a)) {
            parts[0].end = a;
            parts[1].end = b;
        }
}

void comparison_names_of_paths(const char *const paths[SIDES], char *names[SIDES])
{
    struct path_part parts[SIDES];
    for (int side = 0; side < SIDES; side++) {
        parts[side] = (struct path_part){paths[side], paths[side] + strlen(paths[side])};
        while (parts[side].end > parts[side].start + 1 && parts[side].end[-1] == '/')
            parts[side].end--;
    }
    cut(parts, is_slash);
    cut(parts, is_between_words);
    for (int side = 0; side < SIDES; side++)
        names[side] = mem_strndup(parts[side].start, (size_t)(parts[side].end - parts[side].start));
    if (strcmp(names[0], names[1]) != 0)
        return;
    for (int side = 0; side < SIDES; side++) {
        free(names[side]);
        names[side] = mem_strdup(side ? "B" : "A");
    }
}

void comparison_names_of_lists(const char *const lists[SIDES], char *names[SIDES])
{
    char *firsts[SIDES];
    for (int side = 0; side < SIDES; side++)
        firsts[side] = mem_strndup(lists[side], strcspn(lists[side], ","));
    comparison_names_of_paths((const char *const *)firsts, names);
    for (int side = 0; side < SIDES; side++) {
        size_t length = strlen(names[side]);
        while (length > 0 && !isalpha((unsigned char)names[side][length - 1]) && (names[side][length - 1] & 0x80) == 0)
            length--;
        names[side][length] = '\0';
        free(firsts[side]);
    }
    if (*names[0] && *names[1] && strcmp(names[0], names[1]) != 0)
        return;
    for (int side = 0; side < SIDES; side++) {
        free(names[side]);
        names[side] = mem_strdup(side ? "new" : "base");
    }
}

bool comparison_names_in(const char *list, char *names[SIDES])
{
    const char *comma = strchr(list, ',');
    if (!comma || comma == list || !comma[1] || strchr(comma + 1, ','))
        return false;
    size_t length = (size_t)(comma - list);
    if (strncmp(list, comma + 1, length) == 0 && !comma[1 + length])
        return false;
    names[0] = mem_strndup(list, length);
    names[1] = mem_strdup(comma + 1);
    return true;
}
