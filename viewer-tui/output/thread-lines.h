/* Lines that tell what a scope costs in each thread: a thread's value with its bar, and statistics
 * of all threads. */
#ifndef VIEWER_THREAD_LINES_H
#define VIEWER_THREAD_LINES_H

#include "lib/number.h"
#include "viewer-tui/base/text.h"
#include "viewer-tui/tree/thread-costs.h"

/* How values are shown. */
struct thread_lines {
    struct number_scale scale;
    double largest;     /* the value of the longest bar */
    size_t label_width; /* of the widest label that is shown whole; of others the end is */
    size_t width;       /* of a line */
    bool ascii;
};

/* The order of threads that the user chose. */
struct thread_ordering {
    enum thread_order by;
    bool is_reversed;
};

/* Obeys a key that chooses another: s the next one, r the reverse. False for other keys. */
bool thread_ordering_obey(struct thread_ordering *ordering, int key);

/* The scale for values up to that size of the metric that was read. */
struct number_scale thread_lines_scale(const struct thread_costs *costs, double largest);

/* The columns of the widest label. */
size_t thread_lines_label_width(const struct thread_costs *costs);

/* Adds "UNIT TITLE, inclusive" of what was read. */
void thread_lines_add_what(const struct thread_lines *lines, const struct thread_costs *costs,
                           struct text *out);

/* Adds "by value, reversed". */
void thread_lines_add_order(struct thread_ordering ordering, struct text *out);

/* Adds "4 threads". */
void thread_lines_add_number(const struct thread_costs *costs, struct text *out);

/* Adds min, mean, ..., or why there are no values. */
void thread_lines_add_statistics(const struct thread_lines *lines, const struct thread_costs *costs,
                                 struct text *out);

/* Adds the thread that is the index-th as ordered, to a text that is empty. */
void thread_lines_add(const struct thread_lines *lines, const struct thread_costs *costs,
                      size_t index, struct text *out);

/* Adds a bar up to the end of the line. */
void thread_lines_add_bar(const struct thread_lines *lines, double value, double largest,
                          struct text *out);

#endif
