#include "viewer-tui/terminal/spots.h"

static bool is_in(const struct area *area, int line, int column)
{
    return line >= area->line && line < area->line + area->height && column >= area->column &&
           column < area->column + area->width;
}

struct spot spots_at(const spots *spots, int line, int column)
{
    for (size_t i = spots->n; i > 0; i--)
        if (is_in(&spots->at[i - 1].area, line, column))
            return spots->at[i - 1];
    return (struct spot){.kind = SPOT_NONE};
}
