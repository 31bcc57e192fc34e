#include "viewer-tui/output/row-facts.h"

#include "viewer-tui/tree/label.h"

void row_facts_read(struct row_facts *facts, const struct view *view, uint32_t number)
{
    const struct row *row = view_row(view, number);
    uint32_t origin_row = number, file, line;
    const struct database *db = view_origin(view, &origin_row)->db;
    label_place(view, number, &file, &line);
    text_clear(&facts->name);
    label_name(view, number, &facts->name);
    facts->kind = label_kind(row->kind);
    facts->file = database_file_path(db, file);
    facts->line = line;
    facts->module = database_module_path(db, label_module(view, number));
    facts->has_call_site = row->call_file != NOTHING || row->call_line;
    facts->call_file = database_file_path(db, row->call_file);
    facts->call_line = row->call_line;
    facts->call_site_state = row->has_several_call_sites ? "several"
                             : row->no_call_site         ? "unknown"
                                                         : NULL;
}
