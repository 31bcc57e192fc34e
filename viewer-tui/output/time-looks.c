#include "viewer-tui/output/time-looks.h"

#include "viewer-tui/base/scope.h"

#include <math.h>

const char *const time_color_codes[TIME_COLORS] = {
    [TIME_GREEN] = "#009e73",  [TIME_VERMILION] = "#d55e00", [TIME_ORANGE] = "#e69f00", [TIME_SKY] = "#56b4e9",
    [TIME_PURPLE] = "#cc79a7", [TIME_GRAY] = "#999999",      [TIME_YELLOW] = "#f0e442", [TIME_BLUE] = "#0072b2",
};

const struct state_look state_looks[SHOWN_STATES] = {
    [SHOWN_WORK] = {"working", '#', TIME_GREEN},     [SHOWN_OVERHEAD] = {"overhead", 'o', TIME_VERMILION},
    [SHOWN_WAITING] = {"waiting", 'w', TIME_ORANGE}, [SHOWN_IDLE] = {"idle", '.', TIME_SKY},
    [SHOWN_READY] = {"ready", 'r', TIME_PURPLE},     [SHOWN_OFF_CPU] = {"off CPU", '-', TIME_GRAY},
    [SHOWN_OTHER] = {"other", '?', TIME_YELLOW},
};

const struct trace_state_look trace_states[TRACE_STATES] = {
    [0] = {"?", "?", SHOWN_OTHER},
    [TRACE_WORK] = {"work", "working", SHOWN_WORK},
    [TRACE_OVERHEAD] = {"overhead", "overhead", SHOWN_OVERHEAD},
    [TRACE_WAITING] = {"waiting", "waiting", SHOWN_WAITING},
    [TRACE_IDLE] = {"idle", "idle", SHOWN_IDLE},
    [TRACE_NOBODY] = {"nobody working", "nobody working", SHOWN_IDLE},
    [TRACE_RUNTIME] = {"runtime", "kept by the runtime", SHOWN_OTHER},
    [TRACE_READY] = {"ready", "ready", SHOWN_READY},
    [TRACE_OFF_CPU] = {"off CPU", "off CPU", SHOWN_OFF_CPU},
    [TRACE_DROPPED] = {"dropped", "no call path", SHOWN_OTHER},
};

double shown_state_amount(const struct time_cell *cell, enum shown_state state)
{
    double amount = 0;
    for (int of = 0; of < TRACE_STATES; of++)
        if (trace_states[of].shown == state)
            amount += cell->states[of];
    return amount;
}

/* ---- procedures ---- */

#define LETTERS 26

char procedure_letter(size_t index)
{
    return (char)(index < LETTERS ? 'A' + (int)index : '*');
}

enum time_color procedure_color(size_t index)
{
    static const enum time_color colors[] = {TIME_BLUE, TIME_ORANGE, TIME_GREEN, TIME_PURPLE, TIME_VERMILION};
    return index < sizeof colors / sizeof *colors ? colors[index] : TIME_GRAY;
}

/* The index of a procedure; LETTERS if it has no letter. */
static size_t index_of(const struct procedure_letters *letters, uint32_t procedure)
{
    size_t i = 0;
    while (i < letters->procedures.n && letters->procedures.at[i] != procedure)
        i++;
    return i < letters->procedures.n ? i : LETTERS;
}

void letters_give(struct procedure_letters *letters, struct time_chart *chart, size_t first, size_t n)
{
    uint32_t n_procedures = database_n_procedures(chart->scopes->db);
    autofree double *times = mem_alloc((n_procedures + 1) * sizeof *times); /* by procedure; 0: it needs no letter */
    for (size_t row = first; row < first + n && letters->procedures.n < LETTERS; row++) {
        const struct time_cell *cells = time_chart_cells(chart, row);
        for (unsigned column = 0; column < chart->window.n; column++)
            if (cells[column].value != NOTHING && index_of(letters, cells[column].value) == LETTERS)
                times[cells[column].value] += cells[column].of_value;
    }
    while (letters->procedures.n < LETTERS) {
        uint32_t most = 0;
        for (uint32_t procedure = 1; procedure < n_procedures; procedure++)
            most = times[procedure] > times[most] ? procedure : most;
        if (!(times[most] > 0))
            break;
        vec_push(&letters->procedures, most);
        times[most] = 0;
    }
}

/* ---- cells ---- */

/* A part of a cell. */
struct cell_part {
    double amount;
    char symbol;
    enum time_color color;
};

static void rank(struct cell_part part, struct cell_part largest[2])
{
    if (part.amount > largest[0].amount) {
        largest[1] = largest[0];
        largest[0] = part;
    } else if (part.amount > largest[1].amount) {
        largest[1] = part;
    }
}

/* Time in procedures counts as theirs, whatever its state. */
static void rank_procedure(const struct procedure_letters *letters, const struct time_cell *cell,
                           struct cell_part largest[2])
{
    static const enum shown_state without_place[] = {SHOWN_IDLE, SHOWN_OTHER};
    size_t index = index_of(letters, cell->value);
    double in_procedures = time_cell_sum(cell);
    for (size_t i = 0; i < 2; i++) {
        const struct state_look *look = &state_looks[without_place[i]];
        double amount = shown_state_amount(cell, without_place[i]);
        in_procedures -= amount;
        rank((struct cell_part){amount, look->symbol, look->color}, largest);
    }
    char letter = procedure_letter(index);
    bool has_most = 2 * cell->of_value >= time_cell_sum(cell);
    letter = (char)(letter != '*' && !has_most ? letter - 'A' + 'a' : letter);
    if (cell->value != NOTHING)
        rank((struct cell_part){cell->of_value, letter, procedure_color(index)}, largest);
    rank((struct cell_part){in_procedures - cell->of_value, '*', TIME_GRAY}, largest);
}

struct time_look time_look_of(const struct time_chart *chart, const struct procedure_letters *letters,
                              const struct time_cell *cell, double length)
{
    struct cell_part largest[2] = {{0, ' ', TIME_COLORS}, {0, ' ', TIME_COLORS}};
    double sum = time_cell_sum(cell), whole = chart->timeline->is_time ? fmax(sum, length) : sum;
    if (chart->marks) {
        bool has_most = 2 * cell->marked >= sum;
        rank((struct cell_part){cell->marked, has_most ? '#' : '+', TIME_ORANGE}, largest);
    } else if (chart->depth) {
        rank_procedure(letters, cell, largest);
    } else {
        for (int state = 0; state < SHOWN_STATES; state++)
            rank((struct cell_part){shown_state_amount(cell, (enum shown_state)state), state_looks[state].symbol,
                                    state_looks[state].color},
                 largest);
    }
    bool is_filled = whole - largest[0].amount - largest[1].amount < largest[1].amount;
    return (struct time_look){.symbol = largest[0].symbol,
                              .color = largest[0].color,
                              .second = is_filled ? largest[1].color : TIME_COLORS,
                              .share = whole > 0 ? largest[0].amount / whole : 0};
}

const char *time_bar(double share, bool ascii)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const letters[] = {" ", ".", ":", "-", "=", "+", "*", "%", "#"};
    double eighths = round((share < 1 ? share : 1) * 8);
    int at = !(share > 0) ? 0 : eighths < 1 ? 1 : (int)eighths;
    return ascii ? letters[at] : blocks[at];
}

/* ---- strip ---- */

const struct strip_line strip_lines[STRIP_LINES] = {
    {"working", "working", TIME_GREEN}, {"overhead", "overhead", TIME_VERMILION}, {"waiting", "waiting", TIME_ORANGE},
    {"idle", "idle", TIME_SKY},         {"ready", "ready", TIME_PURPLE},          {"CPUs used", "cpus", TIME_BLUE},
};
