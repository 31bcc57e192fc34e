#include "viewer-tui/compare/match.h"

#include "lib/binary-search.h"
#include "viewer-tui/base/text.h"
#include "viewer-tui/tree/labels.h"

#include <stdlib.h>
#include <string.h>

/* What identifies a row. */
struct row_key {
    uint32_t row, match; /* row of the other side; NOTHING: none yet */
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

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

/* The procedure around a row's line; of a caller, the caller itself. */
static struct procedure procedure_of_line(const struct view *view, uint32_t number)
{
    if (!view->class->shows_callers)
        number = view_row(view, number)->parent;
    while (number && !row_is_procedure(view_row(view, number)))
        number = view_row(view, number)->parent;
    if (number == 0)
        return (struct procedure){.file = NOTHING};
    return database_procedure(view->db, view_row(view, number)->place);
}

static struct edited_line line_of(struct edits *edits, const struct view *view, uint32_t number)
{
    const struct row *row = view_row(view, number);
    uint32_t file = row->call_file, line = row->call_line;
    if (!line)
        label_place(view, number, &file, &line);
    struct edited_line edited = edits_line(edits, view->side, file, line);
    bool is_declaration = row_is_procedure(row) && !row->call_line;
    if (!line || edited.edit != EDIT_UNKNOWN || is_declaration)
        return edited;
    struct procedure around = procedure_of_line(view, number);
    if (around.file == file)
        edited.line -= around.line;
    return edited;
}

static void add_key(struct row_keys *keys, struct edits *edits, const struct view *view,
                    uint32_t number)
{
    const struct row *row = view_row(view, number);
    struct row_key key = {.row = number, .match = NOTHING, .kind = row->kind};
    uint32_t file, line;
    label_place(view, number, &file, &line);
    key.file = or_empty(database_file_path(view->db, file));
    if (row->call_line)
        key.call_file = or_empty(database_file_path(view->db, row->call_file));
    else
        key.call_file = "";
    key.line = line_of(edits, view, number);
    bool is_named = row_is_procedure(row) || row->kind <= KIND_PROGRAM;
    key.module = row_is_procedure(row) || row->kind == KIND_MODULE
                     ? or_empty(database_module_path(view->db, label_module(view, number)))
                     : "";
    struct text name = {0};
    if (is_named || (!*key.file && !*key.module))
        label_name(view, number, &name);
    text_add(&name, "");
    key.name = name.at;
    vec_push(&keys->all, key);
}

static void make_keys(struct row_keys *keys, struct edits *edits, const struct view *view,
                      uint32_t parent)
{
    if (parent == NOTHING)
        return;
    const struct row *row = view_row(view, parent);
    for (uint32_t i = 0; i < row->n_children; i++)
        add_key(keys, edits, view, row->first_child + i);
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

/* By name, all programs are the same, but a library has its own name. */
static int compare_programs(const char *a, const char *b)
{
    bool is_library = is_shared_library(a);
    if (is_library != is_shared_library(b))
        return is_library ? 1 : -1;
    return is_library ? strcmp(path_name(a), path_name(b)) : 0;
}

static uint8_t kind_by_name(const struct row_key *key)
{
    return key->kind == KIND_INLINED ? KIND_PROCEDURE : key->kind;
}

static int compare_by_name(const struct row_key *a, const struct row_key *b)
{
    int result = compare_numbers(kind_by_name(a), kind_by_name(b));
    if (result == 0)
        result = strcmp(a->name, b->name);
    if (result == 0 && a->kind == KIND_MODULE)
        result = compare_programs(a->module, b->module);
    if (result == 0 && kind_by_name(a) != KIND_PROCEDURE)
        result = compare_paths(a->file, b->file, BY_FILE_NAME);
    return result;
}

/* Compares all that identifies scopes except for the line. */
static int compare_identity(const struct row_key *a, const struct row_key *b,
                            enum strictness strictness)
{
    if (strictness == BY_NAME)
        return compare_by_name(a, b);
    int result = compare_numbers(a->kind, b->kind);
    if (result == 0)
        result = strcmp(a->name, b->name);
    if (result == 0)
        result = compare_paths(a->file, b->file, strictness);
    if (result == 0)
        result = compare_paths(a->module, b->module, strictness);
    if (result == 0)
        result = compare_paths(a->call_file, b->call_file, BY_FILE_NAME);
    return result;
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
    if (result == 0)
        result = compare_lines(a, b);
    if (result == 0)
        result = compare_numbers(a->kind, b->kind);
    if (result == 0)
        result = strcmp(a->file, b->file);
    if (result == 0)
        result = strcmp(a->module, b->module);
    if (result == 0)
        result = strcmp(a->call_file, b->call_file);
    if (result == 0)
        result = compare_numbers(a->row, b->row);
    return result;
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

static void match(struct row_key *a, struct row_key *b)
{
    a->match = b->row;
    b->match = a->row;
}

static void match_same_lines(struct group a, struct group b)
{
    for (size_t i = 0, j = 0; i < a.n && j < b.n;) {
        int order = compare_lines(a.at[i], b.at[j]);
        if (order == 0)
            match(a.at[i], b.at[j]);
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

static void match_nearest(struct group a, struct group b)
{
    for (size_t i = 0; i < a.n; i++) {
        struct row_key *like = may_have_moved(a.at[i]) ? nearest(b, a.at[i]->line.line) : NULL;
        if (like)
            match(a.at[i], like);
    }
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
    if (pass->rule == NEAREST_LINE)
        match_nearest(a, b);
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

static void go_through(struct row_keys keys[SIDES], const struct pass *pass)
{
    enum strictness strictness = pass->strictness;
    for (int side = 0; side < SIDES; side++)
        list_left(&keys[side], strictness);
    for (size_t i = 0, j = 0; i < keys[0].left.n && j < keys[1].left.n;) {
        struct group a = group_at(&keys[0], i, strictness);
        struct group b = group_at(&keys[1], j, strictness);
        int order = compare_identity(a.at[0], b.at[0], strictness);
        if (order == 0)
            match_groups(a, b, pass);
        i += order <= 0 ? a.n : 0;
        j += order >= 0 ? b.n : 0;
    }
}

/* Keys are in the order of the children. */
static struct row_key *key_of(struct row_keys keys[SIDES], const struct row_pair *parents,
                              struct view *const sides[SIDES], int side, uint32_t row)
{
    return &keys[side].all.at[row - view_row(sides[side], parents->rows[side])->first_child];
}

static void match_calls(struct row_keys keys[SIDES], struct row_pair parents,
                        struct view *const sides[SIDES], struct row_pair calls)
{
    match(key_of(keys, &parents, sides, 0, calls.rows[0]),
          key_of(keys, &parents, sides, 1, calls.rows[1]));
}

struct row_pairs match_children(struct view *const sides[SIDES], struct row_pair parents,
                                struct edits *edits)
{
    struct row_keys keys[SIDES] = {0};
    struct row_pairs pairs = {0};
    struct row_pairs calls = join_calls(sides, parents);
    for (int side = 0; side < SIDES; side++)
        make_keys(&keys[side], edits, sides[side], parents.rows[side]);
    for (size_t i = 0; i < calls.n; i++)
        match_calls(keys, parents, sides, calls.at[i]);
    vec_free(&calls);
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        go_through(keys, &passes[i]);
    for (size_t i = 0; i < keys[0].all.n; i++)
        vec_push(&pairs, (struct row_pair){{keys[0].all.at[i].row, keys[0].all.at[i].match}});
    for (size_t i = 0; i < keys[1].all.n; i++)
        if (keys[1].all.at[i].match == NOTHING)
            vec_push(&pairs, (struct row_pair){{NOTHING, keys[1].all.at[i].row}});
    for (int side = 0; side < SIDES; side++)
        free_keys(&keys[side]);
    return pairs;
}
