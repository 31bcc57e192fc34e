/* How the cells of a time line look: a symbol, and colors that people with any kind of color vision can tell apart (the
 * palette of Okabe and Ito, 2008). */
#ifndef VIEWER_TIME_LOOKS_H
#define VIEWER_TIME_LOOKS_H

#include "viewer-tui/timeline/time-chart.h"

enum time_color {
    TIME_GREEN,
    TIME_VERMILION,
    TIME_ORANGE,
    TIME_SKY,
    TIME_PURPLE,
    TIME_GRAY,
    TIME_YELLOW,
    TIME_BLUE,
    TIME_COLORS /* none */
};

extern const char *const time_color_codes[TIME_COLORS]; /* "#009e73" */

/* What people are shown of states: some of them are one. */
enum shown_state {
    SHOWN_WORK,
    SHOWN_OVERHEAD,
    SHOWN_WAITING,
    SHOWN_IDLE,
    SHOWN_READY,
    SHOWN_OFF_CPU,
    SHOWN_OTHER,
    SHOWN_STATES
};

struct state_look {
    const char *name;
    char symbol;
    enum time_color color;
};

extern const struct state_look state_looks[SHOWN_STATES];

/* A state of records. */
struct trace_state_look {
    const char *key;   /* in data formats, "nobody working" */
    const char *words; /* in sentences, "kept by the runtime" */
    enum shown_state shown;
};

extern const struct trace_state_look trace_states[TRACE_STATES];

/* The amount of a cell in a shown state. */
double shown_state_amount(const struct time_cell *cell, enum shown_state state);

/* Letters and colors of procedures, in the order in which they were first needed. They stay the same while the user
 * moves in time. A zeroed one is empty. */
struct procedure_letters {
    VEC(uint32_t) procedures;
};

/* Gives letters to procedures that the cells of rows first .. first + n - 1 show and that have none yet, those with the
 * most time first. */
void letters_give(struct procedure_letters *letters, struct time_chart *chart, size_t first, size_t n);

/* Letter and color of the i-th procedure; of others '*' and gray. The colors are not those of idle and other time. */
char procedure_letter(size_t index);
enum time_color procedure_color(size_t index);

/* What a cell shows: what has most of its time, and what has the second most. */
struct time_look {
    char symbol; /* of a procedure an upper-case letter if it has at least half of the time, else lower case */
    enum time_color color;  /* TIME_COLORS: nothing is there */
    enum time_color second; /* TIME_COLORS: nothing else is there */
    double share;           /* of the former, 0..1 */
};

/* A cell of a row, whose columns are `length` ns long. What is not measured counts as a part of the cell: if less time
 * than its length was, the rest is nothing. With marks, only marked time shows. */
struct time_look time_look_of(const struct time_chart *chart, const struct procedure_letters *letters,
                              const struct time_cell *cell, double length);

/* A bar of one line, `share` (0..1) of its height; above 0 it can be seen. One column. */
const char *time_bar(double share, bool ascii);

/* The lines of the strip above the rows: numbers of threads in a state, and of CPUs. */
#define STRIP_LINES 6 /* the first ones are states, in their order */
struct strip_line {
    const char *name, *key; /* for people, and of a member in JSON */
    enum time_color color;
};
extern const struct strip_line strip_lines[STRIP_LINES];

#endif
