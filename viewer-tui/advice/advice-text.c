#include "viewer-tui/advice/advice-text.h"

#include "viewer-tui/tree/labels.h"

#include <stdlib.h>
#include <string.h>

/* Lines of advice in a summary. Only a paragraph that has begun may exceed them. */
#define FEW_LINES 6

void advice_add_paragraph(struct advice_lines *lines, size_t indent, size_t hanging,
                          const char *text)
{
    size_t taken = indent + hanging;
    size_t width = lines->width > taken ? lines->width - taken : 1;
    struct text piece = {0}, line = {0};
    while (text_take_line(&text, width, &piece)) {
        text_clear(&line);
        text_pad(&line, ' ', indent);
        text_add(&line, text_string(&piece));
        vec_push(&lines->list, mem_strdup(text_string(&line)));
        indent = taken;
    }
    vec_free(&piece);
    vec_free(&line);
}

void advice_add_event(struct advice_lines *lines, const char *suffix)
{
    struct text event = {0}, text = {0};
    advice_event(suffix, &event);
    text_add(&text, "By ");
    text_add_clean(&text, text_string(&event), lines->ascii);
    text_add(&text, ":");
    advice_add_paragraph(lines, 2, 0, text_string(&text));
    vec_free(&event);
    vec_free(&text);
}

/* Adds text with names from the database, which may contain anything. */
static void add_clean_paragraph(struct advice_lines *lines, size_t indent, size_t hanging,
                                const char *raw)
{
    struct text text = {0};
    text_add_clean(&text, raw, lines->ascii);
    advice_add_paragraph(lines, indent, hanging, text_string(&text));
    vec_free(&text);
}

static void add_detail(struct advice_lines *lines, const char *detail)
{
    bool is_item = *detail == FINDING_ITEM;
    add_clean_paragraph(lines, is_item ? 6 : 4, is_item ? 4 : 0, detail + is_item);
}

static void add_none(struct advice_lines *lines)
{
    advice_add_paragraph(lines, 2, 0, "None: nothing that was measured stands out.");
}

/* Adds why idleness and overhead are missing: once for all events. */
static void add_unmeasured(const struct advice *advice, struct advice_lines *lines)
{
    struct text text = {0};
    for (size_t i = 0; i < advice->parallelizations.list.n; i++)
        if (parallelization_is_known(&advice->parallelizations.list.at[i]))
            return;
    if (advice->parallelizations.list.n == 0)
        return;
    const char *const *why = advice->parallelizations.list.at[0].why;
    text_printf(&text, "Idleness and overhead were not measured: %s", why[WASTED_IDLE]);
    if (strcmp(why[WASTED_IDLE], why[WASTED_ON_OVERHEAD]) != 0)
        text_printf(&text, "; %s", why[WASTED_ON_OVERHEAD]);
    add_clean_paragraph(lines, 2, 0, text_string(&text));
    vec_free(&text);
}

void advice_describe(const struct advice *advice, struct advice_lines *lines)
{
    for (size_t i = 0; i < advice->findings.list.n; i++) {
        const struct finding *finding = &advice->findings.list.at[i];
        add_clean_paragraph(lines, 2, 0, finding->text);
        for (size_t d = 0; d < finding->details.n; d++)
            add_detail(lines, finding->details.at[d]);
    }
    if (advice->findings.list.n == 0)
        add_none(lines);
    add_unmeasured(advice, lines);
}

/* The number of details, from one on, that belong together: a head and the items of its list. */
static size_t group_size(const struct finding *finding, size_t first)
{
    size_t n = 1;
    while (first + n < finding->details.n && *finding->details.at[first + n] == FINDING_ITEM)
        n++;
    return n;
}

/* Adds details of a finding, up to `most` lines. A list gets its head and at least one item. */
static void add_some_details(struct advice_lines *lines, const struct finding *finding, size_t most)
{
    for (size_t d = 0; d < finding->details.n;) {
        size_t next = d + group_size(finding, d);
        size_t needed = next > d + 1 ? 2 : 1;
        if (lines->list.n + needed > most)
            return;
        for (; d < next && lines->list.n < most; d++)
            add_detail(lines, finding->details.at[d]);
        d = next;
    }
}

void advice_describe_shortly(const struct advice *advice, struct advice_lines *lines)
{
    const struct findings *findings = &advice->findings;
    struct advice_lines others = {.width = lines->width, .ascii = lines->ascii};
    size_t shown = 0;
    if (findings->list.n == 0) {
        add_none(lines);
        return;
    }
    add_clean_paragraph(lines, 2, 0, findings->list.at[shown++].text);
    while (shown < findings->list.n && lines->list.n + others.list.n < FEW_LINES)
        add_clean_paragraph(&others, 2, 0, findings->list.at[shown++].text);
    if (others.list.n < FEW_LINES)
        add_some_details(lines, &findings->list.at[0], FEW_LINES - others.list.n);
    for (size_t i = 0; i < others.list.n; i++)
        vec_push(&lines->list, others.list.at[i]);
    vec_free(&others.list);
    if (shown < findings->list.n) {
        struct text text = {0};
        text_printf(&text, "%zu more: key a in the viewer.", findings->list.n - shown);
        advice_add_paragraph(lines, 2, 0, text_string(&text));
        vec_free(&text);
    }
}

void advice_lines_print(const struct advice_lines *lines, FILE *out)
{
    fputs("\nAdvice\n", out);
    for (size_t i = 0; i < lines->list.n; i++)
        fprintf(out, "%s\n", lines->list.at[i]);
}

void advice_lines_free(struct advice_lines *lines)
{
    for (size_t i = 0; i < lines->list.n; i++)
        free(lines->list.at[i]);
    vec_free(&lines->list);
}
