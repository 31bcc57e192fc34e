#include "viewer-tui/db/syntax.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* A comment or string: what it begins and ends with; "" is the end of the line. */
struct delimiters {
    const char *begin, *end;
    enum syntax_kind kind;
    bool has_escapes; /* a backslash escapes the next character */
    bool goes_on;     /* in the next line, if it has not ended */
};

#define MOST_DELIMITERS 7

/* Suffixes and keywords are separated by spaces, with one at each end. */
struct syntax {
    const char *suffixes;
    const char *keywords;
    bool ignores_case;
    bool has_directives;                           /* lines that begin with # */
    bool has_lifetimes;                            /* 'a begins no string, 'a' is one */
    struct delimiters delimiters[MOST_DELIMITERS]; /* the first match counts */
};

static const struct syntax syntaxes[] = {
    {.suffixes = " c h cc cpp cxx c++ hh hpp hxx cu cuh inl ipp tcc C H ",
     .keywords = " alignas auto bool break case catch char class concept const constexpr consteval "
                 "continue decltype default delete do double else enum explicit extern false final "
                 "float for friend goto if inline int long mutable namespace new noexcept nullptr "
                 "operator override private protected public register requires restrict return "
                 "short signed sizeof static struct switch template this throw true try typedef "
                 "typename union unsigned using virtual void volatile while ",
     .has_directives = true,
     .delimiters = {{.begin = "//", .end = "", .kind = SYNTAX_COMMENT},
                    {.begin = "/*", .end = "*/", .kind = SYNTAX_COMMENT, .goes_on = true},
                    {.begin = "\"", .end = "\"", .kind = SYNTAX_STRING, .has_escapes = true},
                    {.begin = "'", .end = "'", .kind = SYNTAX_STRING, .has_escapes = true}}},
    {.suffixes = " f for ftn f77 f90 f95 f03 f08 F F90 F95 F03 F08 ",
     .keywords =
         " allocatable allocate associate call case character class common complex contains "
         "continue cycle deallocate dimension do double else elseif elsewhere end enddo "
         "endif exit forall function if implicit in inout integer intent interface kind "
         "logical module none only out parameter pointer precision private procedure "
         "program public pure real recursive result return save select stop subroutine "
         "target then type use where while ",
     .ignores_case = true,
     .delimiters = {{.begin = "!", .end = "", .kind = SYNTAX_COMMENT},
                    {.begin = "\"", .end = "\"", .kind = SYNTAX_STRING},
                    {.begin = "'", .end = "'", .kind = SYNTAX_STRING}}},
    {.suffixes = " go ",
     .keywords = " break case chan const continue default defer else fallthrough false for func go "
                 "goto if import interface map nil package range return select struct switch true "
                 "type var ",
     .delimiters = {{.begin = "//", .end = "", .kind = SYNTAX_COMMENT},
                    {.begin = "/*", .end = "*/", .kind = SYNTAX_COMMENT, .goes_on = true},
                    {.begin = "`", .end = "`", .kind = SYNTAX_STRING, .goes_on = true},
                    {.begin = "\"", .end = "\"", .kind = SYNTAX_STRING, .has_escapes = true},
                    {.begin = "'", .end = "'", .kind = SYNTAX_STRING, .has_escapes = true}}},
    {.suffixes = " py pyx pyi ",
     .keywords =
         " False None True and as assert async await break class continue def del elif else "
         "except finally for from global if import in is lambda match nonlocal not or pass "
         "raise return try while with yield ",
     .delimiters = {{.begin = "#", .end = "", .kind = SYNTAX_COMMENT},
                    {.begin = "\"\"\"", .end = "\"\"\"", .kind = SYNTAX_STRING, .has_escapes = true, .goes_on = true},
                    {.begin = "'''", .end = "'''", .kind = SYNTAX_STRING, .has_escapes = true, .goes_on = true},
                    {.begin = "\"", .end = "\"", .kind = SYNTAX_STRING, .has_escapes = true},
                    {.begin = "'", .end = "'", .kind = SYNTAX_STRING, .has_escapes = true}}},
    {.suffixes = " rs ",
     .keywords = " as async await break const continue crate dyn else enum extern false fn for if "
                 "impl in let loop match mod move mut pub ref return self Self static struct super "
                 "trait true type unsafe use where while ",
     .has_lifetimes = true,
     .delimiters = {{.begin = "//", .end = "", .kind = SYNTAX_COMMENT},
                    {.begin = "/*", .end = "*/", .kind = SYNTAX_COMMENT, .goes_on = true},
                    {.begin = "\"", .end = "\"", .kind = SYNTAX_STRING, .has_escapes = true, .goes_on = true},
                    {.begin = "'", .end = "'", .kind = SYNTAX_STRING, .has_escapes = true}}},
};

/* Whether a list of words contains a word. */
static bool is_listed(const char *list, const char *word, size_t length, bool ignores_case)
{
    for (const char *at = list + 1; *at; at += strcspn(at, " ") + 1)
        if (strcspn(at, " ") == length &&
            (ignores_case ? strncasecmp(at, word, length) : strncmp(at, word, length)) == 0)
            return true;
    return false;
}

const struct syntax *syntax_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof syntaxes / sizeof *syntaxes; i++)
        if (is_listed(syntaxes[i].suffixes, dot + 1, strlen(dot + 1), false))
            return &syntaxes[i];
    return NULL;
}

/* A line that is being read, up to `at`. */
struct scanner {
    const char *line, *at;
    uint8_t *kinds;
};

static void take(struct scanner *scanner, size_t length, enum syntax_kind kind)
{
    if (scanner->kinds)
        memset(scanner->kinds + (scanner->at - scanner->line), kind, length);
    scanner->at += length;
}

/* Takes the rest of a comment or string; whether it ends in this line. */
static bool take_rest(struct scanner *scanner, const struct delimiters *ends)
{
    const char *end = scanner->at;
    size_t length = strlen(ends->end);
    while (*end && (length == 0 || strncmp(end, ends->end, length) != 0))
        end += ends->has_escapes && *end == '\\' && end[1] ? 2 : 1;
    bool is_there = *end != '\0';
    take(scanner, (size_t)(end - scanner->at) + (is_there ? length : 0), ends->kind);
    return is_there;
}

/* The index of the delimiters that begin here, MOST_DELIMITERS if none do. */
static uint8_t delimiters_at(const struct syntax *syntax, const char *at)
{
    bool is_lifetime =
        syntax->has_lifetimes && at[0] == '\'' && at[1] != '\\' && at[1] && at[2] != '\'';
    uint8_t i = 0;
    while (i < MOST_DELIMITERS &&
           (!syntax->delimiters[i].begin || is_lifetime ||
            strncmp(at, syntax->delimiters[i].begin, strlen(syntax->delimiters[i].begin)) != 0))
        i++;
    return i;
}

static bool is_in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || (c & 0x80);
}

static void take_word(struct scanner *scanner, const struct syntax *syntax)
{
    const char *at = scanner->at;
    bool is_number = isdigit((unsigned char)*at); /* 0x1f, 1.5e3, 1'000 */
    while (is_in_word(*at) || (is_number && (*at == '.' || (*at == '\'' && isalnum((unsigned char)at[1])))))
        at++;
    size_t length = (size_t)(at - scanner->at);
    bool is_keyword =
        scanner->kinds && is_listed(syntax->keywords, scanner->at, length, syntax->ignores_case);
    take(scanner, length, is_number ? SYNTAX_NUMBER : is_keyword ? SYNTAX_KEYWORD : SYNTAX_CODE);
}

uint8_t syntax_line(const struct syntax *syntax, uint8_t state, const char *line, uint8_t *kinds)
{
    struct scanner scanner = {line, line, kinds};
    uint8_t open = state ? (uint8_t)(state - 1) : MOST_DELIMITERS;
    if (open == MOST_DELIMITERS && syntax->has_directives && line[strspn(line, " \t")] == '#') {
        size_t length = strspn(line, " \t#");
        take(&scanner, length + strcspn(line + length, " \t\"</"), SYNTAX_DIRECTIVE);
    }
    while (*scanner.at || open != MOST_DELIMITERS) {
        if (open != MOST_DELIMITERS) {
            if (!take_rest(&scanner, &syntax->delimiters[open]))
                return syntax->delimiters[open].goes_on ? (uint8_t)(open + 1) : 0;
            open = MOST_DELIMITERS;
        } else if ((open = delimiters_at(syntax, scanner.at)) != MOST_DELIMITERS) {
            take(&scanner, strlen(syntax->delimiters[open].begin), syntax->delimiters[open].kind);
        } else if (is_in_word(*scanner.at)) {
            take_word(&scanner, syntax);
        } else {
            take(&scanner, 1, SYNTAX_CODE);
        }
    }
    return 0;
}
