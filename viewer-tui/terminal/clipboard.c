#include "viewer-tui/terminal/clipboard.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ESCAPE "\033"

static void add_base64(struct text *out, const char *what)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t length = strlen(what);
    for (size_t i = 0; i < length; i += 3) {
        size_t n = length - i < 3 ? length - i : 3;
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; k++)
            bits = bits << 8 | (k < n ? (unsigned char)what[i + k] : 0);
        char four[4] = {digits[bits >> 18], digits[bits >> 12 & 63], digits[bits >> 6 & 63],
                        digits[bits & 63]};
        memset(four + n + 1, '=', 3 - n);
        text_add_bytes(out, four, sizeof four);
    }
}

/* Adds the sequence wrapped for tmux, which needs every Escape doubled. */
static void add_for_tmux(struct text *out, const char *sequence)
{
    text_add(out, ESCAPE "Ptmux;");
    for (; *sequence; sequence++) {
        if (*sequence == *ESCAPE)
            text_add(out, ESCAPE);
        text_add_bytes(out, sequence, 1);
    }
    text_add(out, ESCAPE "\\");
}

static bool is_set(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value;
}

void clipboard_sequence(const char *what, struct text *out)
{
    autofree struct text sequence = {0};
    text_add(&sequence, ESCAPE "]52;c;");
    add_base64(&sequence, what);
    text_add(&sequence, "\a");
    /* Depending on its settings tmux interprets the sequence or passes it on; both may be sent. */
    text_add(out, text_string(&sequence));
    if (is_set("TMUX"))
        add_for_tmux(out, text_string(&sequence));
    else if (is_set("STY"))
        text_printf(out, ESCAPE "P%s" ESCAPE "\\", text_string(&sequence));
}
