/* Call paths as folded stacks, the input of flame graph programs: the names of the frames of a
 * stack (export-stacks.h), separated by semicolons, and its own costs as a whole number, times in
 * nanoseconds. In a comparison there are two numbers, one per run, as for differential flame
 * graphs. */
#include "viewer-tui/output/export/export-stacks.h"

struct folded {
    struct export export;
    struct text line; /* the names of the open frames */
};

static void enter(struct export *export)
{
    struct text *line = &((struct folded *)export)->line;
    export->stack.at[export->stack.n - 1].text_length = line->n;
    text_add(line, line->n ? ";" : "");
    size_t begin = line->n;
    text_add(line, export_name(export));
    for (size_t i = begin; i < line->n; i++)
        if (line->at[i] == ';')
            line->at[i] = ':';
}

static void leave(struct export *export, const double *own)
{
    struct text *line = &((struct folded *)export)->line;
    double values[SIDES];
    if (export_round(export, own, values)) {
        fputs(text_string(line), export->tree->out);
        for (size_t i = 0; i < export->metrics.n; i++)
            fprintf(export->tree->out, " %.0f", values[i]);
        fputc('\n', export->tree->out);
    }
    line->n = export->stack.at[export->stack.n - 1].text_length;
    line->at[line->n] = '\0';
}

void print_tree_folded(const struct tree *tree)
{
    struct folded folded = {.export = {.tree = tree, .enter = enter, .leave = leave}};
    export_add_sorted(&folded.export);
    export_walk(&folded.export);
    export_free(&folded.export);
    vec_free(&folded.line);
}
