#include "hpcprof/names/header-functions.h"

#include <string.h>

/* ---- files ---- */

static bool is_header(const struct runtime_code *code, const char *path)
{
    for (size_t i = 0; i < code->rules.files.n; i++)
        if (rules_match(&code->rules.files.at[i], RULE_HEADER, path, NULL))
            return true;
    return false;
}

/* Whether some file is one of a runtime's headers. */
static bool find_files(struct symbol_table *symbols, const struct runtime_code *code)
{
    bool found = false;
    symbols->is_header_file = mem_alloc((symbols->files.count + 1) * sizeof(bool));
    for (uint32_t i = 0; i < symbols->files.count; i++) {
        symbols->is_header_file[i] = is_header(code, strtab_string(&symbols->files, i));
        found |= symbols->is_header_file[i];
    }
    return found;
}

/* ---- names ---- */

/* Where the qualified name begins: behind the return type, which the names of templates have. */
static const char *skip_type(const char *name)
{
    size_t depth = 0;
    const char *start = name;
    for (const char *at = name; *at && !(*at == '(' && depth == 0 && at > start); at++) {
        depth += *at == '<' || *at == '(';
        depth -= depth && (*at == '>' || *at == ')');
        if (*at == ' ' && depth == 0 && strncmp(start, "operator", 8) != 0)
            start = at + 1;
    }
    return start;
}

/* Appends a part of a qualified name, unless it is an inner namespace: detail, d0, d1, d2, r1. */
static void append_part(char *to, const char *part, size_t length)
{
    bool is_numbered = length == 2 && strchr("dr", part[0]) && part[1] >= '0' && part[1] <= '9';
    if (is_numbered || (length == 6 && strncmp(part, "detail", 6) == 0))
        return;
    if (*to)
        strcat(to, "::");
    strncat(to, part, length);
}

/* "void tbb::detail::d1::parallel_for<int, f()::<lambda> >(...)": "tbb::parallel_for". The caller
 * frees. */
static char *shown_name(const char *name)
{
    char *shown = mem_alloc(2 * strlen(name) + 1);
    const char *at = skip_type(name);
    *shown = '\0';
    while (*at && *at != '(') {
        size_t length = strncmp(at, "operator", 8) == 0 ? strlen(at) : strcspn(at, "<:(");
        append_part(shown, at, length);
        at += length;
        for (size_t depth = 0; *at && (depth || *at == '<'); at++) {
            depth += *at == '<';
            depth -= *at == '>';
        }
        at += strspn(at, ":");
    }
    return shown;
}

/* ---- functions ---- */

/* The function that stands for those of the same module, name and file. */
static uint32_t shown_function(struct symbol_table *symbols, struct idmap *known,
                               const struct function *function)
{
    autofree char *text = shown_name(function->name);
    uint32_t name = strtab_id(&symbols->names, text);
    uint64_t key = (uint64_t)function->module << 32 | name;
    uint32_t found = idmap_get(known, key, function->file);
    if (found != IDMAP_NONE)
        return found;
    struct function shown = *function;
    shown.name = strtab_string(&symbols->names, name);
    shown.entry = 0;
    vec_push(&symbols->functions, shown);
    found = (uint32_t)symbols->functions.n - 1;
    symbols->functions.at[found].header = found;
    idmap_put(known, key, function->file, found);
    return found;
}

void headers_find(struct symbol_table *symbols, const struct runtime_code *code)
{
    struct idmap known = {0};
    size_t n = find_files(symbols, code) ? symbols->functions.n : 0;
    for (size_t i = 0; i < n; i++) {
        const struct function function = symbols->functions.at[i];
        if (function.file == NO_SYMBOL || !symbols->is_header_file[function.file])
            continue;
        uint32_t shown = shown_function(symbols, &known, &function);
        symbols->functions.at[i].header = shown;
        symbols->has_headers = true;
    }
    idmap_free(&known);
}
