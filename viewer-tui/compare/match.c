#include "viewer-tui/compare/match.h"

#include "lib/binary-search.h"
#include "viewer-tui/base/text.h"
#include "viewer-tui/compare/edits.h"
#include "viewer-tui/compare/join-calls.h"
#include "viewer-tui/tree/labels.h"

#include <stdlib.h>
#include <string.h>

struct match {
    const struct merged_runs *merged;
    struct view *const *views;
    struct edits **edits; /* by run: between it and the first run of the other group; NULL if there are no versions */
};

/* What identifies a row of a run, or a scope that has rows of runs before. */
struct row_key {
    uint32_t number; /* of the row, or of the scope in the result */
    uint32_t match;  /* number of the other one; NOTHING: none yet */
    uint32_t joined; /* number of the joined call (join-calls.h) that it is; NOTHING: none */
    uint8_t kind;
    char *name;                            /* owned; "" if file or module identify the row */
    const char *file, *module, *call_file; /* paths, "" if unknown */
    struct edited_line
        line; /* on the right side, or relative to the declaration of the procedure around it */
};

struct row_keys {
    VEC(struct row_key) all;
    VEC(struct row_key *) left; /* not matched yet, in order */
};

enum strictness { BY_PATH, BY_FILE_NAME, BY_NAME };

/* How lines must agree, of rows that are the same otherwise. */
enum line_rule { SAME_LINE, NEAREST_LINE };

static const struct pass {
    enum strictness strictness;
    enum line_rule rule;
} passes[] = {
    {BY_PATH, SAME_LINE},
    {BY_FILE_NAME, SAME_LINE},
    {BY_FILE_NAME, NEAREST_LINE},
    {BY_NAME, NEAREST_LINE},
};

/* The procedure around a row's line; of a caller, the caller itself. */
static struct procedure procedure_of_line(const struct view *view, uint32_t number)
{
    if (!view->class->shows_callers)
        number = view_row(view, number)->parent;
    number = view_procedure_at(view, number);
    if (number == 0)
        return (struct procedure){.file = NOTHING};
    return database_procedure(view->db, view_row(view, number)->place);
}

static struct edited_line line_of(const struct match *match, size_t run, uint32_t number)
{
    const struct view *view = match->views[run];
    const struct row *row = view_row(view, number);
    uint32_t file = row->call_file, line = row->call_line;
    if (!line)
        label_place(view, number, &file, &line);
    struct edited_line edited = {EDIT_UNKNOWN, line};
    if (match->edits)
        edited = edits_line(match->edits[run], (int)match->merged->runs.at[run].group, file, line);
    bool is_declaration = row_is_procedure(row) && !row->call_line;
    if (!line || edited.edit != EDIT_UNKNOWN || is_declaration)
        return edited;
    struct procedure around = procedure_of_line(view, number);
    if (around.file == file)
        edited.line -= around.line;
    return edited;
}

/* What identifies a row of a run. */
static struct row_key key_of(const struct match *match, size_t run, uint32_t number)
{
    const struct view *view = match->views[run];
    const struct row *row = view_row(view, number);
    struct row_key key = {.number = number, .match = NOTHING, .joined = NOTHING, .kind = row->kind};
    key.file = text_or_empty(label_path(view, number, NULL));
    key.call_file = row->call_line ? text_or_empty(database_file_path(view->db, row->call_file)) : "";
    key.line = line_of(match, run, number);
    bool is_named = row_is_procedure(row) || row->kind <= KIND_PROGRAM;
    key.module = row_is_procedure(row) || row->kind == KIND_MODULE
                     ? text_or_empty(label_module_path(view, number))
                     : "";
    key.name = is_named || (!*key.file && !*key.module) ? label_copy(view, number) : mem_strdup("");
    return key;
}

static void free_keys(struct row_keys *keys)
{
    for (size_t i = 0; i < keys->all.n; i++)
        free(keys->all.at[i].name);
    vec_free(&keys->all);
    vec_free(&keys->left);
}

static int compare_numbers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int compare_paths(const char *a, const char *b, enum strictness strictness)
{
    return strictness == BY_PATH ? strcmp(a, b) : strcmp(path_name(a), path_name(b));
}

static bool is_shared_library(const char *path)
{
    return strstr(path_name(path), ".so") != NULL;
}

static uint8_t kind_by_name(const struct row_key *key)
{
    return key->kind == KIND_INLINED ? KIND_PROCEDURE : key->kind;
}

/* All programs are the same, but a library has its own name. */
static int compare_binaries(const char *a, const char *b)
{
    bool is_library = is_shared_library(a);
    int result = is_library - is_shared_library(b);
    return result || !is_library ? result : compare_paths(a, b, BY_FILE_NAME);
}

/* Compares all that identifies scopes except for the line. */
static int compare_identity(const struct row_key *a, const struct row_key *b, enum strictness strictness)
{
    bool by_name = strictness == BY_NAME, is_procedure = by_name && kind_by_name(a) == KIND_PROCEDURE;
    enum strictness of_paths = by_name ? BY_FILE_NAME : strictness;
    int result = by_name ? compare_numbers(kind_by_name(a), kind_by_name(b)) : compare_numbers(a->kind, b->kind);
    result = result ? result : strcmp(a->name, b->name);
    if (by_name && a->kind == KIND_MODULE)
        result = result ? result : compare_binaries(a->module, b->module);
    if (!is_procedure)
        result = result ? result : compare_paths(a->file, b->file, of_paths);
    if (by_name)
        return result;
    result = result ? result : compare_paths(a->module, b->module, strictness);
    return result ? result : compare_paths(a->call_file, b->call_file, BY_FILE_NAME);
}

/* A changed line differs from an unchanged one. */
static int compare_lines(const struct row_key *a, const struct row_key *b)
{
    int result = compare_numbers(a->line.line, b->line.line);
    return result ? result : compare_numbers(a->line.edit, b->line.edit);
}

static int compare_keys(const void *left, const void *right, void *strictness)
{
    const struct row_key *a = *(struct row_key *const *)left, *b = *(struct row_key *const *)right;
    int result = compare_identity(a, b, *(const enum strictness *)strictness);
    result = result ? result : compare_lines(a, b);
    result = result ? result : compare_numbers(a->kind, b->kind);
    result = result ? result : strcmp(a->file, b->file);
    result = result ? result : strcmp(a->module, b->module);
    result = result ? result : strcmp(a->call_file, b->call_file);
    return result ? result : compare_numbers(a->number, b->number);
}

/* Lists the unmatched keys in the order of the strictness. */
static void list_left(struct row_keys *keys, enum strictness strictness)
{
    keys->left.n = 0;
    for (size_t i = 0; i < keys->all.n; i++)
        if (keys->all.at[i].match == NOTHING)
            vec_push(&keys->left, &keys->all.at[i]);
    if (keys->left.n)
        qsort_r(keys->left.at, keys->left.n, sizeof *keys->left.at, compare_keys, &strictness);
}

/* Keys of one side that differ only in their lines, in order of these. */
struct group {
    struct row_key **at;
    size_t n;
};

static void pair(struct row_key *a, struct row_key *b)
{
    a->match = b->number;
    b->match = a->number;
}

static void match_same_lines(struct group a, struct group b)
{
    for (size_t i = 0, j = 0; i < a.n && j < b.n;) {
        int order = compare_lines(a.at[i], b.at[j]);
        if (order == 0)
            pair(a.at[i], b.at[j]);
        i += order <= 0;
        j += order >= 0;
    }
}

/* An unchanged line cannot be another line. */
static bool may_have_moved(const struct row_key *key)
{
    return key->match == NOTHING && key->line.edit != EDIT_NONE;
}

/* The nearest unmatched key; NULL if there is none. */
static struct row_key *nearest(struct group group, int64_t line)
{
    struct row_key *before = NULL, *behind = NULL;
    size_t first = partition_point(i, group.n, group.at[i]->line.line < line);
    for (size_t i = first; i > 0; i--) {
        struct row_key *key = group.at[i - 1];
        if (before && key->line.line != before->line.line)
            break;
        if (may_have_moved(key))
            before = key;
    }
    for (size_t i = first; i < group.n && !behind; i++)
        if (may_have_moved(group.at[i]))
            behind = group.at[i];
    if (!before || !behind)
        return before ? before : behind;
    return line - before->line.line <= behind->line.line - line ? before : behind;
}

static void match_groups(struct group a, struct group b, const struct pass *pass)
{
    uint8_t kind = a.at[0]->kind;
    bool is_container = kind == KIND_MODULE || kind == KIND_FILE;
    if (is_container && pass->strictness != BY_PATH && (a.n > 1 || b.n > 1))
        return;
    if (kind == KIND_STATEMENT && pass->rule == NEAREST_LINE)
        return;
    match_same_lines(a, b);
    for (size_t i = 0; pass->rule == NEAREST_LINE && i < a.n; i++) {
        struct row_key *like = may_have_moved(a.at[i]) ? nearest(b, a.at[i]->line.line) : NULL;
        if (like)
            pair(a.at[i], like);
    }
}

/* The group of unmatched keys that begins at `first`. */
static struct group group_at(const struct row_keys *keys, size_t first, enum strictness strictness)
{
    struct group group = {.at = keys->left.at + first, .n = 1};
    while (first + group.n < keys->left.n &&
           compare_identity(group.at[0], group.at[group.n], strictness) == 0)
        group.n++;
    return group;
}

static void go_through(struct row_keys *before, struct row_keys *keys, const struct pass *pass)
{
    enum strictness strictness = pass->strictness;
    list_left(before, strictness);
    list_left(keys, strictness);
    for (size_t i = 0, j = 0; i < before->left.n && j < keys->left.n;) {
        struct group a = group_at(before, i, strictness), b = group_at(keys, j, strictness);
        int order = compare_identity(a.at[0], b.at[0], strictness);
        if (order == 0)
            match_groups(a, b, pass);
        i += order <= 0 ? a.n : 0;
        j += order >= 0 ? b.n : 0;
    }
}

/* The keys of a run's children. */
static struct row_keys keys_of(const struct match *match, size_t run, uint32_t parent,
                               const joined_calls *joined)
{
    struct row_keys keys = {0};
    const struct row *row = view_row(match->views[run], parent);
    size_t n_runs = match->merged->runs.n;
    for (uint32_t i = 0; i < row->n_children; i++)
        vec_push(&keys.all, key_of(match, run, row->first_child + i));
    for (size_t i = run; i < joined->n; i += n_runs)
        if (joined->at[i] != NOTHING)
            keys.all.at[joined->at[i] - row->first_child].joined = (uint32_t)(i / n_runs);
    return keys;
}

/* Puts the rows of a run into the scopes that they match, and makes scopes of the others. Takes the keys. */
static void take_run(const struct match *match, size_t run, struct row_keys *keys, struct row_keys *scopes,
                     matched_rows *matched)
{
    size_t n_runs = match->merged->runs.n;
    for (size_t i = 0; i < keys->all.n; i++) {
        struct row_key *key = &keys->all.at[i];
        if (key->match != NOTHING) {
            matched->at[key->match * n_runs + run] = key->number;
            free(key->name);
            continue;
        }
        for (size_t of = 0; of < n_runs; of++)
            vec_push(matched, of == run ? key->number : NOTHING);
        key->number = (uint32_t)scopes->all.n;
        vec_push(&scopes->all, *key);
    }
    vec_free(&keys->all);
    vec_free(&keys->left);
    for (size_t i = 0; i < scopes->all.n; i++)
        scopes->all.at[i].match = NOTHING;
}

/* Joins children of a row that nothing tells apart, as two procedures of one name in one line. */
static void join_same(const struct match *match, size_t run, uint32_t parent)
{
    struct view *view = match->views[run];
    struct row_keys keys = keys_of(match, run, parent, &(joined_calls){0});
    uint32_t *groups = mem_alloc((keys.all.n + 1) * sizeof *groups), first = view_row(view, parent)->first_child;
    bool has_same = false;
    list_left(&keys, BY_PATH);
    for (size_t i = 0, group = 0; i < keys.left.n; i++) {
        const struct row_key *key = keys.left.at[i];
        bool is_same = i > 0 && compare_identity(key, keys.left.at[i - 1], BY_PATH) == 0 &&
                       compare_lines(key, keys.left.at[i - 1]) == 0;
        group += !is_same;
        has_same |= is_same;
        groups[key->number - first] = (uint32_t)group;
    }
    if (has_same && view_can_join(view))
        view_join(view, parent, groups);
    free(groups);
    free_keys(&keys);
}

matched_rows match_children(struct match *match, const uint32_t *rows)
{
    size_t n_runs = match->merged->runs.n, n_passes = match->merged->comparing ? sizeof passes / sizeof *passes : 1;
    matched_rows matched = {0};
    struct row_keys scopes = {0};
    for (size_t run = 0; run < n_runs && !match->merged->comparing; run++)
        if (rows[run] != NOTHING)
            join_same(match, run, rows[run]);
    autofree joined_calls joined = join_calls(match->views, n_runs, rows);
    for (size_t run = 0; run < n_runs; run++) {
        if (rows[run] == NOTHING)
            continue;
        struct row_keys keys = keys_of(match, run, rows[run], &joined);
        for (size_t i = 0; i < keys.all.n; i++)
            for (size_t j = 0; keys.all.at[i].joined != NOTHING && j < scopes.all.n; j++)
                if (scopes.all.at[j].joined == keys.all.at[i].joined)
                    pair(&scopes.all.at[j], &keys.all.at[i]);
        for (size_t i = 0; i < n_passes; i++)
            go_through(&scopes, &keys, &passes[i]);
        take_run(match, run, &keys, &scopes, &matched);
    }
    free_keys(&scopes);
    return matched;
}

struct match *match_new(const struct merged_runs *merged, struct view *const *views)
{
    struct match *match = mem_alloc(sizeof *match);
    match->merged = merged;
    match->views = views;
    if (!merged->comparing)
        return match;
    const struct database *first[2];
    for (size_t group = 0; group < 2; group++)
        first[group] = views[merged_group_first(merged, group)]->db;
    match->edits = mem_alloc(merged->runs.n * sizeof *match->edits);
    for (size_t run = 0; run < merged->runs.n; run++)
        match->edits[run] = merged->runs.at[run].group == 0 ? edits_new(views[run]->db, first[1])
                                                            : edits_new(first[0], views[run]->db);
    return match;
}

void match_free(struct match *match)
{
    for (size_t run = 0; match->edits && run < match->merged->runs.n; run++)
        edits_free(match->edits[run]);
    free(match->edits);
    free(match);
}
