#include "viewer-tui/terminal/scroller.h"

static size_t within(long at, long last)
{
    return (size_t)(at < 0 || last < 0 ? 0 : at > last ? last : at);
}

void scroller_move(struct scroller *scroller, long rows)
{
    scroller->selected = within((long)scroller->selected + rows, (long)scroller->n - 1);
}

void scroller_follow(struct scroller *scroller, size_t height, size_t below)
{
    if (height == 0)
        return;
    scroller_move(scroller, 0);
    if (scroller->selected >= scroller->top && scroller->selected + below - scroller->top >= height)
        scroller->top = scroller->selected + below - height + 1;
    if (scroller->top > scroller->selected)
        scroller->top = scroller->selected;
    scroller->top = within((long)scroller->top, (long)scroller->n - (long)height);
}

void scroller_roll(struct scroller *scroller, long rows, size_t height)
{
    scroller->top = within((long)scroller->top + rows, (long)scroller->n - (long)height);
    if (scroller->selected < scroller->top)
        scroller->selected = scroller->top;
    if (scroller->selected >= scroller->top + height)
        scroller->selected = scroller->top + height - 1;
}
