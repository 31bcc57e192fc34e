#include "viewer-tui/advice/advice-text.h"

#include "viewer-tui/tree/labels.h"

#include <stdlib.h>

void advice_add_paragraph(struct advice_lines *lines, size_t indent, size_t hanging,
                          const char *text)
{
    size_t taken = indent + hanging;
    size_t width = lines->width > taken ? lines->width - taken : 1;
    autofree struct text piece = {0};
    while (text_take_line(&text, width, &piece)) {
        text_pad(&lines->text, ' ', indent);
        text_printf(&lines->text, "%s\n", text_string(&piece));
        indent = taken;
    }
}

void advice_add_event(struct advice_lines *lines, const char *suffix)
{
    autofree struct text event = {0}, text = {0};
    advice_event(suffix, &event);
    text_add(&text, "By ");
    text_add_clean(&text, text_string(&event), lines->ascii);
    text_add(&text, ":");
    advice_add_paragraph(lines, 2, 0, text_string(&text));
}

/* Adds text with names from the database, which may contain anything. */
static void add_clean_paragraph(struct advice_lines *lines, size_t indent, size_t hanging,
                                const char *raw)
{
    autofree struct text text = {0};
    text_add_clean(&text, raw, lines->ascii);
    advice_add_paragraph(lines, indent, hanging, text_string(&text));
}

void advice_describe(const struct findings *findings, struct advice_lines *lines)
{
    for (size_t i = 0; i < findings->list.n; i++)
        add_clean_paragraph(lines, 2, 2, findings->list.at[i].text);
    if (findings->list.n == 0)
        advice_add_paragraph(lines, 2, 0, "None: nothing that was measured stands out.");
    for (size_t i = 0; i < findings->list.n; i++)
        for (size_t d = 0; d < findings->list.at[i].details.n; d++) {
            const char *detail = findings->list.at[i].details.at[d];
            bool is_item = *detail == FINDING_ITEM;
            add_clean_paragraph(lines, is_item ? 6 : 4, is_item ? 4 : 0, detail + is_item);
        }
}

void advice_lines_print(struct advice_lines *lines, FILE *out)
{
    fprintf(out, "\nAdvice\n%s", text_string(&lines->text));
    vec_free(&lines->text);
}
