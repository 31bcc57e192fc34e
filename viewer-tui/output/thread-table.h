/* The table of what one row of a view costs in each thread, for printers and screens:
 *
 *     500.0 ms  62.5%  solver 71/73  ######
 *
 * and the statistics over the threads. */
#ifndef VIEWER_THREAD_TABLE_H
#define VIEWER_THREAD_TABLE_H

#include "lib/number.h"
#include "viewer-tui/base/text.h"
#include "viewer-tui/tree/thread-costs.h"

struct thread_table {
    const struct thread_costs *costs;
    struct number_scale scale;
    double max;         /* the value of the longest bar */
    size_t label_width; /* longer labels lose their beginning */
    size_t width;       /* of a line, in columns */
    bool ascii;
};

/* A table whose scale suits values up to `max`; no widths yet. */
struct thread_table thread_table_of(const struct thread_costs *costs, double max, bool ascii);

/* The order that the user chose. */
struct thread_ordering {
    enum thread_order by;
    bool is_reversed;
};

/* Obeys s, the next order, and r, the reverse. False for other keys. */
bool thread_ordering_obey(struct thread_ordering *ordering, int key);

/* Adds "by value, reversed". */
void thread_ordering_add(struct thread_ordering ordering, struct text *out);

/* The columns of the widest label. */
size_t thread_costs_label_width(const struct thread_costs *costs);

/* Adds "4 threads". */
void thread_costs_add_number(const struct thread_costs *costs, struct text *out);

/* Adds "UNIT TITLE, inclusive". */
void thread_table_add_title(const struct thread_table *table, struct text *out);

/* A statistic over the threads. */
struct thread_statistic {
    const char *name;
    double value; /* NAN where it is not defined: lower bounds have no deviation */
    bool is_factor;
};

#define THREAD_STATISTICS 6
void thread_table_statistics(const struct thread_table *table,
                             struct thread_statistic statistics[THREAD_STATISTICS]);

/* Adds "min 1.2  mean 3.4 ...", or why there are no values. */
void thread_table_add_statistics(const struct thread_table *table, struct text *out);

/* Adds the value of a thread and its percentage, in columns. `thread`: index in costs->threads. */
void thread_table_add_value(const struct thread_table *table, size_t thread, struct text *out);

/* Adds the line of the index-th thread in order, to an empty text. */
void thread_table_add_line(const struct thread_table *table, size_t index, struct text *out);

/* Adds a bar that ends at the end of the line if value is max. */
void thread_table_add_bar(const struct thread_table *table, double value, double max,
                          struct text *out);

#endif
