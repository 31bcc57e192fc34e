#include "viewer-tui/base/bar.h"

#include <math.h>

#define EIGHTHS 8

static const char *const blocks[EIGHTHS + 1] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};

void bar_add(struct text *text, double share, size_t columns, bool ascii)
{
    if (!(share > 0))
        return;
    size_t units = columns * (ascii ? 1 : EIGHTHS);
    double length = round((share < 1 ? share : 1) * (double)units);
    size_t left = length > 0 ? (size_t)length : 1;
    if (units == 0)
        return;
    if (ascii) {
        text_pad(text, '#', left);
        return;
    }
    for (; left > EIGHTHS; left -= EIGHTHS)
        text_add(text, blocks[EIGHTHS]);
    text_add(text, blocks[left]);
}
