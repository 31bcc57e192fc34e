#include "viewer-tui/base/shorten.h"

#include <ctype.h>
#include <string.h>

/* Brackets nested deeper than this count as this deep. */
#define MOST_NESTED 64

static const char *dots(bool ascii)
{
    return ascii ? "..." : "…";
}

void shorten_path(const char *path, size_t columns, bool ascii, struct text *out)
{
    size_t dotted = text_columns(dots(ascii)), room = columns > dotted ? columns - dotted : 0;
    if (text_columns(path) > columns) {
        const char *rest = NULL;
        for (const char *at = strchr(path + 1, '/'); at && at[1]; at = strchr(at + 1, '/'))
            if (!rest || text_columns(rest) > room)
                rest = at;
        text_add(out, rest ? dots(ascii) : "");
        path = rest ? rest : path;
    }
    text_add(out, path);
}

/* Length of "operator" and its sign if they are at this place of a name; else 0. */
static size_t operator_length(const char *name, const char *at)
{
    static const char word[] = "operator";
    static const char *const signs[] = {"<=>", "<<=", ">>=", "->*", "()", "<<",
                                        ">>",  "<=",  ">=",  "->",  "<",  ">"};
    bool begins_word = at == name || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
    if (!begins_word || strncmp(at, word, strlen(word)) != 0)
        return 0;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (strncmp(at + strlen(word), signs[i], strlen(signs[i])) == 0)
            return strlen(word) + strlen(signs[i]);
    return 0;
}

/* Length of the text at some place of a name that looks like brackets but is none; else 0. */
static size_t plain_length(const char *name, const char *at)
{
    static const char *const plain[] = {"(anonymous namespace)", "->"};
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (strncmp(at, plain[i], strlen(plain[i])) == 0)
            return strlen(plain[i]);
    /* "<whole program>", "<Vec<T> as Clone>::clone": these brackets hold no arguments. */
    if (at == name && *at == '<')
        return 1;
    if (at > name && at[-1] == '.' && *at == '(') /* Go's "zstd.(*Encoder).Write" */
        return strcspn(at, ")") + (strchr(at, ')') != NULL);
    return operator_length(name, at);
}

/* The open brackets at some place of a name, the innermost last. */
struct brackets {
    char open[MOST_NESTED];
    size_t n;
};

/* Updates the open brackets for a character. */
static void update(struct brackets *brackets, char character)
{
    size_t n = brackets->n;
    if ((character == '<' || character == '(') && n < MOST_NESTED)
        brackets->open[brackets->n++] = character;
    else if (character == '>' && n && brackets->open[n - 1] == '<')
        brackets->n--;
    else if (character == ')') { /* closes all that "(" has opened: the "<" of "(a < b)" is no bracket */
        while (n > 0 && brackets->open[n - 1] != '(')
            n--;
        brackets->n = n > 0 ? n - 1 : brackets->n;
    }
}

/* Adds the name; replaces text within more than `kept` brackets by dots. Returns how deep its brackets are nested. */
static size_t add_without_arguments(const char *name, size_t kept, bool ascii, struct text *out)
{
    struct brackets brackets = {.n = 0};
    const char *hidden = NULL; /* where it begins */
    size_t most = 0;
    for (const char *at = name; *at;) {
        size_t plain = plain_length(name, at), length = plain ? plain : 1;
        if (!plain)
            update(&brackets, *at);
        most = brackets.n > most ? brackets.n : most;
        if (hidden && brackets.n <= kept) {
            size_t n = (size_t)(at - hidden);
            bool is_short = n <= text_columns(dots(ascii));
            text_add_bytes(out, is_short ? hidden : dots(ascii),
                           is_short ? n : strlen(dots(ascii)));
            hidden = NULL;
        }
        if (!hidden)
            text_add_bytes(out, at, length);
        if (!hidden && brackets.n > kept)
            hidden = at + length;
        at += length;
    }
    text_add(out, hidden ? hidden : ""); /* a bracket that is never closed hides nothing */
    return most;
}

void shorten_name(const char *name, size_t columns, bool ascii, struct text *out)
{
    autofree struct text shorter = {0};
    size_t kept = add_without_arguments(name, MOST_NESTED, ascii, &shorter);
    while (kept-- && text_columns(text_string(&shorter)) > columns) {
        text_clear(&shorter);
        add_without_arguments(name, kept, ascii, &shorter);
    }
    text_add(out, text_string(&shorter));
}

void shorten_middle(struct text *text, size_t columns, bool ascii)
{
    const char *dots = ascii ? "..." : "…";
    size_t whole = text_columns(text_string(text)), kept = columns - text_columns(dots);
    if (whole <= columns)
        return;
    autofree struct text end = {0};
    text_add(&end, text_skip(text_string(text), whole - kept / 2));
    text_cut(text, columns - text_columns(dots) - text_columns(text_string(&end)));
    text_add(text, dots);
    text_add(text, text_string(&end));
}
