/* Keeping what the user has chosen of columns and numbers, in the file of the user's defaults. */
#include "viewer-tui/terminal/tui.h"

#include "viewer-tui/output/column-text.h"
#include "viewer-tui/viewer-config.h"

#include <stdlib.h>

void tui_take_kept_columns(struct tui *tui, enum projection projection)
{
    struct column_choice *choice = &tui->columns[projection];
    bool is_for_it = tui->kept_columns && !session_is_of_two(tui->session);
    for (int v = 0; v < VIEWS && is_for_it && !tui->took_columns[projection]; v++) {
        const struct view *view = tui->panes[projection][v].view;
        if (!view)
            continue;
        column_text_take(choice, view->metrics, tui->kept_columns);
        tui->took_columns[projection] = true;
    }
}

void tui_keep_columns(struct tui *tui)
{
    const struct column_choice *choice = &tui->columns[tui->projection];
    struct text columns = {0};
    char *path, *cause;
    column_text_add(choice, tui_pane(tui)->view->metrics, &columns);
    if (choice->is_made && columns.n == 0) {
        text_add(&tui->message, "no column is shown: nothing was saved");
        return;
    }
    struct config_change changes[] = {
        {"numbers", cell_units_key(tui->cells.units), tui->cells.units != UNITS_THAT_FIT},
        {"bars", NULL, tui->cells.has_bars},
        {"fold-inlined", NULL, tui->session->folds_inlined},
        {"columns", text_string(&columns), choice->is_made}};
    size_t n = sizeof changes / sizeof *changes;
    bool is_of_two = session_is_of_two(tui->session); /* whose columns others do not have */
    if (config_save(changes, is_of_two ? n - 1 : n, &path, &cause)) {
        text_add(&tui->message, is_of_two ? "numbers and bars saved for the next time: "
                                          : "columns, numbers and bars saved for the next time: ");
        text_add_clean(&tui->message, path, tui->ascii);
    } else {
        text_add(&tui->message, "nothing was saved: ");
        text_add_clean(&tui->message, path ? path : "", tui->ascii);
        text_printf(&tui->message, "%s%s", path ? ": " : "", cause);
        free(cause);
    }
    free(path);
    vec_free(&columns);
}
