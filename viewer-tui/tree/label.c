#include "viewer-tui/tree/label.h"

#include "viewer-tui/db/database.h"

#include <inttypes.h>
#include <string.h>

static const char *entry_name(const struct view *view, const struct row *row)
{
    struct v4_entry entry;
    const char *name;
    if (row->place == NOTHING)
        return "<whole program>";
    return database_entry(view->db, row->place, &entry, &name) ? name : "";
}

static const char *or_unknown(const char *name, const char *unknown)
{
    return name ? name : unknown;
}

/* What rows are compared by first: the name; of loops and statements their file. */
static const char *stem(const struct view *view, const struct row *row, char buffer[NAME_SIZE])
{
    switch (row->kind) {
    case KIND_ROOT: return entry_name(view, row);
    case KIND_PROGRAM: return database_program_name(view->db, row->place);
    case KIND_MODULE:
        return or_unknown(database_module_path(view->db, row->place), "<unknown module>");
    case KIND_PROCEDURE:
    case KIND_INLINED: return database_procedure_name(view->db, row->place, buffer);
    default: return or_unknown(database_file_path(view->db, row->place), "<unknown file>");
    }
}

void label_file_line(const struct database *db, uint32_t file, uint32_t line, struct text *out)
{
    const char *path = database_file_path(db, file);
    const struct point *point = database_file_point(db, file);
    const char *module = point ? database_module_path(db, point->module) : NULL;
    if (module)
        text_printf(out, "%s+0x%" PRIx64, path_name(module), point->offset);
    else
        text_add(out, or_unknown(path ? path_name(path) : NULL, "<unknown file>"));
    if (line)
        text_printf(out, ":%u", line);
}

void label_name(const struct view *view, uint32_t number, struct text *out)
{
    view = view_origin(view, &number);
    const struct row *row = view_row(view, number);
    char buffer[NAME_SIZE];
    if (row->kind == KIND_LOOP)
        text_add(out, "loop at ");
    if (row->kind == KIND_LOOP || row->kind == KIND_STATEMENT)
        label_file_line(view->db, row->place, row->line, out);
    else if (row->kind == KIND_ROOT && row->depth > 1) /* the row above names the program */
        text_add_bytes(out, stem(view, row, buffer),
                       database_entry_name_length(stem(view, row, buffer)));
    else
        text_add(out, stem(view, row, buffer));
}

void label_place(const struct view *view, uint32_t number, uint32_t *file, uint32_t *line)
{
    view = view_origin(view, &number);
    const struct row *row = view_row(view, number);
    *file = NOTHING;
    *line = 0;
    switch (row->kind) {
    case KIND_PROCEDURE:
    case KIND_INLINED: {
        struct procedure procedure = database_procedure(view->db, row->place);
        *file = procedure.file;
        *line = procedure.line;
        break;
    }
    case KIND_LOOP:
    case KIND_STATEMENT:
        *file = row->place;
        *line = row->line;
        break;
    case KIND_FILE: *file = row->place; break;
    default: break;
    }
}

/* Rows above that are callees may be elsewhere. */
static bool is_around(const struct view *view)
{
    return !view->class->shows_callers;
}

uint32_t label_module(const struct view *view, uint32_t number)
{
    view = view_origin(view, &number);
    for (;; number = view_row(view, number)->parent) {
        const struct row *row = view_row(view, number);
        if (row->kind == KIND_MODULE)
            return row->place;
        uint32_t module = NOTHING;
        if (row->kind == KIND_PROCEDURE || row->kind == KIND_INLINED)
            module = database_procedure(view->db, row->place).module;
        if (module != NOTHING || row->kind == KIND_PROCEDURE || number == 0 || !is_around(view))
            return module;
    }
}

const char *label_kind(enum scope_kind kind)
{
    static const char *const names[] = {
        [KIND_ROOT] = "root", [KIND_PROGRAM] = "program",     [KIND_MODULE] = "module",
        [KIND_FILE] = "file", [KIND_PROCEDURE] = "procedure", [KIND_INLINED] = "inlined",
        [KIND_LOOP] = "loop", [KIND_STATEMENT] = "statement", [KIND_INSTRUCTION] = "instruction"};
    return names[kind];
}

static int compare_numbers(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

/* Places and call sites, of rows of one database: indices mean something only there. */
static int compare_places(const struct row *a, const struct row *b)
{
    int result = compare_numbers(a->place, b->place);
    if (result == 0)
        result = compare_numbers(a->line, b->line);
    if (result == 0)
        result = compare_numbers(a->call_file, b->call_file);
    if (result == 0)
        result = compare_numbers(a->call_line, b->call_line);
    return result;
}

int label_compare(const struct view *view, uint32_t left, uint32_t right)
{
    const struct view *of_left = view_origin(view, &left), *of_right = view_origin(view, &right);
    const struct row *a = view_row(of_left, left), *b = view_row(of_right, right);
    char buffer_a[NAME_SIZE], buffer_b[NAME_SIZE];
    int result = strcmp(stem(of_left, a, buffer_a), stem(of_right, b, buffer_b));
    if (result == 0 && of_left != of_right)
        result = of_left->side - of_right->side;
    if (result == 0)
        result = compare_places(a, b);
    if (result == 0)
        result = compare_numbers(a->kind, b->kind);
    return result;
}
