/* What the user wants to see of views, and what not: the filters in force, and the changes to them
 * that can be undone.
 *
 * The filters apply to every view. They leave the costs of rows alone: a row's costs are those of
 * everything below it, shown or not. */
#ifndef VIEWER_FILTERS_H
#define VIEWER_FILTERS_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/tree/pattern.h"

enum filter_kind {
    FILTER_ONLY,    /* only rows that match, and those above them */
    FILTER_WITHOUT, /* not the rows that match: what is below them takes their place */
    FILTER_ELIDE,   /* not this scope: what is below it takes its place */
    FILTER_HIDE,    /* neither this scope nor what is below it */
    FILTER_FOLD,    /* nothing of what is below this scope */
    FILTER_SHARE    /* no row with a smaller share of what is sorted by */
};

/* A scope wherever it occurs, in every view and projection: a procedure, file, module, loop or
 * statement is known by its name and place. A module or file stands for its procedures in views
 * that have no rows for it. */
struct scope {
    enum scope_kind kind; /* of procedures, inlined or not, KIND_PROCEDURE */
    char *name, *file, *module;
    uint32_t line;
    struct row_cache cache;
};

/* Once it is made it never changes but for the answers that it remembers. */
struct filter {
    enum filter_kind kind;
    struct pattern *pattern; /* FILTER_ONLY, FILTER_WITHOUT */
    struct scope scope;      /* FILTER_ELIDE, FILTER_HIDE, FILTER_FOLD */
    double percent;          /* FILTER_SHARE */
};

/* The filters in force after a change: indices of them, in the order in which they came. */
struct filter_state {
    VEC(uint32_t) in_force;
    uint64_t number;
};

/* A zeroed one has no filters. */
struct filters {
    VEC(struct filter *) all;
    VEC(struct filter_state) states; /* after each change; before the first there are none */
    size_t now;                      /* so many changes have been made and not undone */
    uint64_t last_number;
};

void filters_free(struct filters *filters);

/* The filters in force. */
size_t filters_n(const struct filters *filters);
struct filter *filters_at(const struct filters *filters, size_t i);

/* The one that shows only what matches; NULL when there is none. */
struct filter *filters_only(const struct filters *filters);

/* Differs from state to state, and is that of the state again when changes are undone; 0 before
 * the first change. */
uint64_t filters_number(const struct filters *filters);

/* Whether what they leave is the same in both sortings. */
bool filters_allow_sorting(const struct filters *filters, struct sorting a, struct sorting b);

/* Changes. A new FILTER_ONLY or FILTER_SHARE takes the place of the one before; these two with an
 * empty text or 0 percent: takes it away. A pattern that begins with "!" is a FILTER_WITHOUT.
 * Returns the filter, NULL when there is none. */
const struct filter *filters_match(struct filters *filters, const char *text);
void filters_set_share(struct filters *filters, double percent);
void filters_add_scope(struct filters *filters, enum filter_kind kind, const struct view *view,
                       uint32_t row);
void filters_remove(struct filters *filters, size_t i);
void filters_clear(struct filters *filters);

/* The state before the last change, and the one after it again; false when there is none. */
bool filters_undo(struct filters *filters);
bool filters_redo(struct filters *filters);

/* Appends a few words: "&solve", "without: main", "at least 1%". */
void filter_describe(const struct filter *filter, bool ascii, struct text *out);

/* The same with long names in short (shorten_name). */
void filter_describe_short(const struct filter *filter, bool ascii, size_t columns,
                           struct text *out);

/* What becomes of a row. */
enum visibility {
    ROW_SHOWN,
    ROW_FOLDED, /* shown, but nothing below it */
    ROW_ELIDED, /* what is below takes its place */
    ROW_HIDDEN  /* with all that is below */
};

/* By all filters but FILTER_ONLY: for that one must know what is below (filtered-tree.h). */
enum visibility filters_visibility(const struct filters *filters, const struct view *view,
                                   uint32_t row);

#endif
