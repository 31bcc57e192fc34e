#include "viewer-tui/tree/row-origins.h"

#include "viewer-tui/db/run.h"
#include "viewer-tui/tree/labels.h"

#include <string.h>

bool row_is_start_routine(const struct view *view, uint32_t row)
{
    const struct row *at = view_row(view, row);
    return view->class == &topdown_class && at->kind == KIND_PROCEDURE && at->parent != 0 &&
           view_row(view, at->parent)->kind == KIND_ROOT;
}

/* Keeps only paths that contain the procedure in which this row is called, at the line of the call if that is known. */
static void keep_those_here(struct thread_origins *origins, const struct view *view, uint32_t row)
{
    autofree struct text above = {0};
    size_t kept = 0;
    label_name(view, view_procedure_at(view, view_row(view, row)->parent), &above);
    uint32_t line = view_row(view, row)->call_line;
    for (size_t i = 0; i < origins->list.n; i++)
        json_each (frame, origins->list.at[i].path)
            if (strcmp(run_text(frame, "name"), text_string(&above)) == 0 &&
                (line == 0 || run_number(frame, "line") == line)) {
                origins->list.at[kept++] = origins->list.at[i];
                break;
            }
    origins->list.n = kept;
}

void row_origins_find(struct thread_origins *origins, const struct view *view, uint32_t row,
                      const json_t *run, bool is_physical)
{
    *origins = (struct thread_origins){0};
    bool is_start = row_is_start_routine(view, row);
    if (view->class != &topdown_class || view_row(view, row)->kind != KIND_PROCEDURE ||
        (is_physical && !is_start))
        return;
    autofree struct text name = {0};
    label_name(view, row, &name);
    thread_origins_find(origins, run, text_string(&name),
                        !is_start     ? ROOT_CREATOR
                        : is_physical ? ROOT_ANY
                                      : ROOT_THREAD);
    if (!is_start)
        keep_those_here(origins, view, row);
}
