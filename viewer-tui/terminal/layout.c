#include "viewer-tui/terminal/layout.h"

#include <assert.h>

/* Smallest heights of the screen that show a part. */
#define HEIGHT_FOR_HEADS  6 /* and the title */
#define HEIGHT_FOR_HELP   8
#define HEIGHT_FOR_PLACES 10 /* filters and zoom */
#define HEIGHT_FOR_SOURCE 14
#define HEIGHT_FOR_ADVICE 20 /* and the run */

/* The source is to the right of the tree if the screen has at least this width in columns, and at least
 * this ratio of columns to lines. */
#define WIDTH_SIDE_BY_SIDE  160
#define ASPECT_SIDE_BY_SIDE 3

/* Lines that the tree keeps if the source below it has more lines than fit. */
#define LEAST_TREE_HEIGHT 5

static size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Puts the source below the tree, on two fifths of the lines: on more if the tree has few rows, on
 * fewer if the file is short. */
static void split_vertically(struct layout *layout, const struct layout_content *content)
{
    size_t height = (size_t)layout->tree.height;
    size_t rows = content->n_rows > LEAST_TREE_HEIGHT ? content->n_rows : LEAST_TREE_HEIGHT;
    size_t tree = min_size(rows, height - height * 2 / 5);
    size_t source = min_size(height - tree, content->n_source_lines + 1);
    layout->tree.height -= (int)source;
    layout->source =
        (struct area){layout->tree.line + layout->tree.height, 0, (int)source, layout->tree.width};
}

static void split_horizontally(struct layout *layout)
{
    int width = layout->tree.width, tree = width * 11 / 20;
    layout->heads.width = layout->tree.width = tree;
    layout->source =
        (struct area){layout->tree.line, tree + 1, layout->tree.height, width - tree - 1};
    layout->source.line = layout->heads.line;
    layout->source.height += layout->tree.line - layout->heads.line;
}

struct layout layout_make(int width, int height, const struct layout_content *content)
{
    struct layout layout = {.run = NO_LINE,
                            .title = NO_LINE,
                            .advice = NO_LINE,
                            .zoom = NO_LINE,
                            .filters = NO_LINE,
                            .status = NO_LINE,
                            .help = NO_LINE,
                            .tree = {.width = width}};
    int top = 0, bottom = height;
    if (height >= HEIGHT_FOR_HELP)
        layout.help = --bottom;
    if (height > 1 || content->asks)
        layout.status = --bottom;
    if (height >= HEIGHT_FOR_PLACES && content->has_filters)
        layout.filters = --bottom;
    if (height >= HEIGHT_FOR_ADVICE)
        layout.run = top++;
    if (height >= HEIGHT_FOR_HEADS) {
        layout.title = top++;
        if (height >= HEIGHT_FOR_ADVICE && content->has_advice)
            layout.advice = top++;
        layout.heads = (struct area){top, 0, 2, width};
        top += 2;
    }
    if (height >= HEIGHT_FOR_PLACES && content->has_zoom)
        layout.zoom = top++;
    layout.tree.line = top;
    layout.tree.height = bottom - top;
    assert(bottom >= top || height <= 1);
    if (!content->has_source || height < HEIGHT_FOR_SOURCE)
        return layout;
    bool is_wide = width >= WIDTH_SIDE_BY_SIDE && width >= ASPECT_SIDE_BY_SIDE * height;
    if (is_wide && content->is_source)
        split_horizontally(&layout);
    else
        split_vertically(&layout, content);
    return layout;
}

bool area_contains(struct area area, int line, int column)
{
    return line >= area.line && line < area.line + area.height && column >= area.column &&
           column < area.column + area.width;
}
