#include "viewer-tui/tree/labels.h"

#include "viewer-tui/base/shorten.h"
#include "viewer-tui/db/database.h"

#include <inttypes.h>
#include <langinfo.h>
#include <string.h>

/* ---- as in the database ---- */

static const char *or_unknown(const char *name, const char *unknown)
{
    return name ? name : unknown;
}

/* The first sort key of rows: the name; for loops and statements the file. */
static const char *stem(const struct view *view, const struct row *row, char buffer[NAME_SIZE])
{
    struct v4_entry entry;
    const char *name;
    switch (row->kind) {
    case KIND_ROOT:
        if (row->place == NOTHING)
            return "<whole program>";
        return database_entry(view->db, row->place, &entry, &name) ? name : "";
    case KIND_PROGRAM: return database_program_name(view->db, row->place);
    case KIND_MODULE:
        return or_unknown(database_module_path(view->db, row->place), "<unknown module>");
    case KIND_PROCEDURE:
    case KIND_INLINED: return database_procedure_name(view->db, row->place, buffer);
    default: return or_unknown(database_file_path(view->db, row->place), "<unknown file>");
    }
}

/* Screen columns of a name that a sentence has whole. */
#define SENTENCE_NAME 40

void label_name_in_sentence(const char *name, struct text *out)
{
    shorten_name(name, SENTENCE_NAME, true, out);
}

void label_in_sentence(const struct database *db, uint32_t procedure, struct text *out)
{
    char buffer[NAME_SIZE];
    label_name_in_sentence(database_procedure_name(db, procedure, buffer), out);
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
    else if (row->kind == KIND_ROOT && row->depth > 1) /* its parent row names the program */
        text_add_bytes(out, stem(view, row, buffer),
                       database_entry_name_length(stem(view, row, buffer)));
    else
        text_add(out, stem(view, row, buffer));
}

char *label_copy(const struct view *view, uint32_t number)
{
    struct text name = {0};
    label_name(view, number, &name);
    text_add(&name, "");
    return name.at;
}

const char *label_path(const struct view *view, uint32_t number, uint32_t *line)
{
    uint32_t file, no_line;
    label_place(view, number, &file, line ? line : &no_line);
    return database_file_path(view_origin(view, &number)->db, file);
}

const char *label_module_path(const struct view *view, uint32_t number)
{
    uint32_t module = label_module(view, number);
    return database_module_path(view_origin(view, &number)->db, module);
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
        if (module != NOTHING || row->kind == KIND_PROCEDURE || number == 0 || view->class->shows_callers)
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

int label_compare(const struct view *view, uint32_t left, uint32_t right)
{
    const struct view *of_left = view_origin(view, &left), *of_right = view_origin(view, &right);
    const struct row *a = view_row(of_left, left), *b = view_row(of_right, right);
    char buffer_a[NAME_SIZE], buffer_b[NAME_SIZE];
    int result = strcmp(stem(of_left, a, buffer_a), stem(of_right, b, buffer_b));
    if (result == 0 && of_left != of_right)
        result = of_left->side - of_right->side;
    result = result ? result : compare_numbers(a->place, b->place);
    result = result ? result : compare_numbers(a->line, b->line);
    result = result ? result : compare_numbers(a->call_file, b->call_file);
    result = result ? result : compare_numbers(a->call_line, b->call_line);
    return result ? result : compare_numbers(a->kind, b->kind);
}

/* ---- for people ---- */

/* The file of the code around a row's call site: that of the nearest scope above. */
static uint32_t file_around(const struct view *view, uint32_t number)
{
    while (number) {
        number = view_row(view, number)->parent;
        uint32_t file, line;
        label_place(view, number, &file, &line);
        if (file != NOTHING)
            return file;
    }
    return NOTHING;
}

/* In the bottom-up view a call site is in the row's own procedure, elsewhere in the one above. */
static bool is_caller(const struct view *view, const struct row *row)
{
    return view->class->shows_callers && row->depth > 1;
}

/* A file without a line is ignored: hpcstruct makes one up for binaries without line map. */
static bool has_call_site(const struct row *row)
{
    return row->call_line != 0;
}

void describe_file_line(const struct database *db, uint32_t file, uint32_t line, bool ascii, struct text *out)
{
    autofree struct text place = {0};
    label_file_line(db, file, line, &place);
    text_add_clean(out, text_string(&place), ascii);
}

void describe_call(const struct view *view, uint32_t number, bool ascii, struct text *out)
{
    bool has_several = view_row(view, number)->has_several_call_sites;
    view = view_origin(view, &number);
    const struct row *row = view_row(view, number);
    if (is_caller(view, row)) {
        text_add(out, ascii ? "<- " : "« ");
        return;
    }
    if (!has_call_site(row) && !row->no_call_site && !has_several)
        return;
    if (has_several)
        text_add(out, "*");
    else if (!has_call_site(row))
        text_add(out, "?");
    else if (row->call_file == file_around(view, number))
        text_printf(out, "%u", row->call_line);
    else
        describe_file_line(view->db, row->call_file, row->call_line, ascii, out);
    text_add(out, ascii ? " -> " : " » ");
}

void describe_mark(const struct view *view, uint32_t number, struct text *out)
{
    view = view_origin(view, &number);
    if (view_row(view, number)->kind == KIND_INLINED)
        text_add(out, "[I] ");
}

void describe_bare_name(const struct view *view, uint32_t number, bool ascii, size_t columns,
                        struct text *out)
{
    view = view_origin(view, &number);
    enum scope_kind kind = view_row(view, number)->kind;
    autofree struct text name = {0};
    autofree char *raw = label_copy(view, number);
    text_add_clean(&name, raw, ascii);
    if (kind == KIND_MODULE || kind == KIND_FILE)
        shorten_path(text_string(&name), columns, ascii, out);
    else
        shorten_name(text_string(&name), columns, ascii, out);
}

void describe_short_name(const struct view *view, uint32_t number, bool ascii, size_t columns,
                         struct text *out)
{
    autofree struct text mark = {0};
    describe_mark(view, number, &mark);
    text_add(out, text_string(&mark));
    describe_bare_name(view, number, ascii, columns > mark.n ? columns - mark.n : 0, out);
}

void describe_name(const struct view *view, uint32_t number, bool ascii, struct text *out)
{
    describe_short_name(view, number, ascii, SIZE_MAX, out);
}

void describe_location(const struct view *view, uint32_t number, bool ascii, struct text *out)
{
    view = view_origin(view, &number);
    const struct row *row = view_row(view, number);
    if (row->kind != KIND_PROCEDURE && row->kind != KIND_INLINED)
        return;
    uint32_t file, line;
    label_place(view, number, &file, &line);
    if (is_caller(view, row) && has_call_site(row)) {
        file = row->call_file;
        line = row->call_line;
    }
    const char *module = label_module_path(view, number);
    if (file != NOTHING && line)
        describe_file_line(view->db, file, line, ascii, out);
    else if (module)
        text_add_clean(out, path_name(module), ascii);
}

bool describe_in_ascii(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}
