#include "viewer-tui/tree/describe.h"

#include "viewer-tui/base/shorten.h"
#include "viewer-tui/tree/label.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>

/* The file of the code that contains a row's call site: that of the nearest scope above. */
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

/* In the bottom-up view a call site lies in the row's own procedure, elsewhere in the one above. */
static bool is_caller(const struct view *view, const struct row *row)
{
    return view->class->shows_callers && row->depth > 1;
}

/* Without a line a file says nothing: binaries without line map have made-up ones. */
static bool has_call_site(const struct row *row)
{
    return row->call_line != 0;
}

static void add_file_line(const struct view *view, uint32_t file, uint32_t line, bool ascii,
                          struct text *out)
{
    struct text place = {0};
    label_file_line(view->db, file, line, &place);
    text_add_clean(out, text_string(&place), ascii);
    vec_free(&place);
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
        add_file_line(view, row->call_file, row->call_line, ascii, out);
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
    struct text raw = {0}, name = {0};
    label_name(view, number, &raw);
    text_add_clean(&name, text_string(&raw), ascii);
    if (kind == KIND_MODULE || kind == KIND_FILE)
        shorten_path(text_string(&name), columns, ascii, out);
    else
        shorten_name(text_string(&name), columns, ascii, out);
    vec_free(&raw);
    vec_free(&name);
}

void describe_short_name(const struct view *view, uint32_t number, bool ascii, size_t columns,
                         struct text *out)
{
    struct text mark = {0};
    describe_mark(view, number, &mark);
    text_add(out, text_string(&mark));
    describe_bare_name(view, number, ascii, columns > mark.n ? columns - mark.n : 0, out);
    vec_free(&mark);
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
    const char *module = database_module_path(view->db, label_module(view, number));
    if (file != NOTHING && line)
        add_file_line(view, file, line, ascii, out);
    else if (module)
        text_add_clean(out, path_name(module), ascii);
}

bool describe_in_ascii(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") != 0;
}
