#include "viewer-tui/tree/pattern.h"

#include "lib/binary-search.h"
#include "viewer-tui/base/text.h"
#include "viewer-tui/db/node-costs.h"
#include "viewer-tui/tree/labels.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const fields[] = {
    [PATTERN_NAME] = "name:", [PATTERN_FILE] = "file:", [PATTERN_MODULE] = "module:"};

static void take_field(struct pattern *pattern)
{
    pattern->wanted = pattern->text;
    for (int field = PATTERN_NAME; field <= PATTERN_MODULE; field++) {
        size_t length = strlen(fields[field]);
        if (strncmp(pattern->text, fields[field], length) == 0) {
            pattern->field = (enum pattern_field)field;
            pattern->wanted = pattern->text + length;
        }
    }
}

struct pattern *pattern_new(const char *text)
{
    struct pattern *pattern = mem_alloc(sizeof *pattern);
    pattern->text = mem_strdup(text);
    take_field(pattern);
    pattern->ignores_case = true;
    for (const char *at = pattern->wanted; *at; at++)
        pattern->ignores_case &= !isupper((unsigned char)*at);
    pattern->is_literal = !strpbrk(pattern->wanted, "\\^$.[]|()*+?{}");
    if (!pattern->is_literal) {
        int flags = REG_EXTENDED | (pattern->ignores_case ? REG_ICASE : 0);
        pattern->is_broken = regcomp(&pattern->regex, pattern->wanted, flags) != 0;
        pattern->is_literal = pattern->is_broken;
    }
    return pattern;
}

void pattern_free(struct pattern *pattern)
{
    if (!pattern)
        return;
    if (!pattern->is_literal)
        regfree(&pattern->regex);
    row_cache_free(&pattern->cache);
    vec_free(&pattern->matching);
    free(pattern->text);
    free(pattern);
}

bool pattern_find(const struct pattern *pattern, const char *text, size_t *start, size_t *end)
{
    if (pattern->is_literal) {
        const char *at = pattern->ignores_case ? strcasestr(text, pattern->wanted)
                                               : strstr(text, pattern->wanted);
        *start = at ? (size_t)(at - text) : 0;
        *end = *start + strlen(pattern->wanted);
        return at && *end > *start;
    }
    regmatch_t match;
    if (regexec(&pattern->regex, text, 1, &match, 0) != 0)
        return false;
    *start = (size_t)match.rm_so;
    *end = (size_t)match.rm_eo;
    return *end > *start;
}

static bool is_in(const struct pattern *pattern, const char *text)
{
    if (!pattern->is_literal)
        return regexec(&pattern->regex, text, 0, NULL, 0) == 0;
    return pattern->ignores_case ? strcasestr(text, pattern->wanted)
                                 : strstr(text, pattern->wanted);
}

static bool matches_name(const struct pattern *pattern, const struct view *view, uint32_t row)
{
    autofree struct text name = {0};
    autofree char *label = label_copy(view, row);
    text_add_clean(&name, label, false);
    bool matches = is_in(pattern, text_string(&name));
    return matches;
}

static bool matches_path(const struct pattern *pattern, const char *path)
{
    return path && is_in(pattern, path);
}

static bool match(const struct pattern *pattern, const struct view *view, uint32_t row)
{
    switch (pattern->field) {
    case PATTERN_NAME: return matches_name(pattern, view, row);
    case PATTERN_FILE: return matches_path(pattern, label_path(view, row, NULL));
    case PATTERN_MODULE: return matches_path(pattern, label_module_path(view, row));
    default: break;
    }
    if (matches_name(pattern, view, row))
        return true;
    autofree struct text location = {0};
    describe_location(view, row, false, &location);
    bool matches = location.n && is_in(pattern, text_string(&location));
    return matches;
}

/* The keys on which a match of a row depends; false if it depends on more. */
static bool key_of(const struct pattern *pattern, const struct view *view, uint32_t number,
                   uint64_t *a, uint64_t *b)
{
    const struct row *row = view_row(view, number);
    uint32_t file, line;
    *a = (uint64_t)row->kind << 32 | row->place;
    *b = row->line;
    if (pattern->field == PATTERN_FILE) {
        label_place(view, number, &file, &line);
        *a = file;
    } else if (pattern->field == PATTERN_MODULE)
        *a = label_module(view, number);
    else if (view->class->shows_callers && row->depth > 1)
        *b = (uint64_t)row->call_file << 32 | row->call_line;
    else if (row->kind == KIND_INLINED)
        return database_procedure(view->db, row->place).module != NOTHING;
    return true;
}

bool pattern_matches(struct pattern *pattern, const struct view *view, uint32_t row)
{
    uint64_t a, b;
    view = view_origin(view, &row);
    if (!key_of(pattern, view, row, &a, &b))
        return match(pattern, view, row);
    uint32_t matches = row_cache_get(&pattern->cache, view, a, b);
    if (matches == IDMAP_NONE) {
        matches = match(pattern, view, row);
        row_cache_put(&pattern->cache, view, a, b, matches);
    }
    return matches != 0;
}

/* Asks for each node with a row that is removed again. */
static void find_matching(struct pattern *pattern, struct view *view, const struct nodes *nodes)
{
    uint32_t row = view_add(view, 0, (struct row){0});
    pattern->matching.n = 0;
    pattern->nodes_number = nodes->number;
    for (uint32_t node = 1; node < nodes->n; node++) {
        struct row *of = &view->rows.at[row];
        of->kind = nodes->kind[node];
        of->place = nodes->place[node];
        of->line = nodes->line[node];
        uint64_t a, b;
        bool depends_on_parents = of->kind == KIND_ROOT || !key_of(pattern, view, row, &a, &b);
        if (of->kind != KIND_INSTRUCTION && (depends_on_parents || pattern_matches(pattern, view, row)))
            vec_push(&pattern->matching, node);
    }
    view->rows.n = view->order.n = row;
}

bool pattern_may_match_below(struct pattern *pattern, struct view *view, uint32_t number)
{
    if (view->class != &topdown_class || pattern->field == PATTERN_MODULE || number == 0)
        return true;
    const struct nodes *nodes = database_nodes(view->db);
    if (pattern->nodes_number != nodes->number)
        find_matching(pattern, view, nodes);
    const struct row *row = view_row(view, number);
    for (uint32_t i = row->first_node; i < row->first_node + row->n_nodes; i++) {
        uint32_t node = view->nodes.at[i].node;
        size_t next = partition_point(m, pattern->matching.n, pattern->matching.at[m] <= node);
        if (next < pattern->matching.n && pattern->matching.at[next] < nodes->end[node])
            return true;
    }
    return false;
}
