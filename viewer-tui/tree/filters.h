/* Filters: which rows of views the user wants to see; and the changes of filters, which can be
 * undone.
 *
 * Filters apply to all views. They do not change the costs of rows: a row's costs are those of
 * everything below it, visible or not. */
#ifndef VIEWER_FILTERS_H
#define VIEWER_FILTERS_H

#include "viewer-tui/base/text.h"
#include "viewer-tui/tree/pattern.h"

enum filter_kind {
    FILTER_ONLY,    /* only rows that match, and those above them */
    FILTER_WITHOUT, /* not the rows that match: they are replaced by what is below them */
    FILTER_ELIDE,   /* not this scope: it is replaced by what is below it */
    FILTER_HIDE,    /* neither this scope nor what is below it */
    FILTER_FOLD,    /* nothing below this scope */
    FILTER_SHARE    /* no rows with a smaller share of the cost that is sorted by */
};

/* A scope, wherever it occurs in any view and projection. A procedure, file, module, loop or
 * statement is identified by its name and place. In views without rows for modules and files, these
 * match their procedures. */
struct scope {
    enum scope_kind kind; /* KIND_PROCEDURE also for inlined ones */
    char *name, *file, *module;
    uint32_t line;
    struct row_cache cache;
};

/* Does not change after it was made, except for its cache. */
struct filter {
    enum filter_kind kind;
    struct pattern *pattern; /* FILTER_ONLY, FILTER_WITHOUT */
    struct scope scope;      /* FILTER_ELIDE, FILTER_HIDE, FILTER_FOLD */
    double percent;          /* FILTER_SHARE */
};

/* The filters in force after a change: their indices, in the order in which they were added. */
struct filter_state {
    VEC(uint32_t) in_force;
    uint64_t number;
};

/* A zeroed one has no filters. */
struct filters {
    VEC(struct filter *) all;
    VEC(struct filter_state) states; /* after each change; before the first there are none */
    size_t now;                      /* number of changes made and not undone */
    uint64_t last_number;
};

void filters_free(struct filters *filters);

/* The filters in force. */
size_t filters_n(const struct filters *filters);
struct filter *filters_at(const struct filters *filters, size_t i);

/* The FILTER_ONLY; NULL if there is none. */
struct filter *filters_only(const struct filters *filters);

/* Identifies the state of the filters: undoing a change restores the number before. 0 before the
 * first change. */
uint64_t filters_number(const struct filters *filters);

/* Whether the visible rows are the same in both sortings. */
bool filters_allow_sorting(const struct filters *filters, struct sorting a, struct sorting b);

/* Changes. A new FILTER_ONLY or FILTER_SHARE replaces the previous one; an empty text or 0 percent
 * removes it. A text that begins with "!" is a FILTER_WITHOUT. Returns the filter, NULL if none. */
const struct filter *filters_match(struct filters *filters, const char *text);
void filters_set_share(struct filters *filters, double percent);
void filters_add_scope(struct filters *filters, enum filter_kind kind, const struct view *view,
                       uint32_t row);
void filters_remove(struct filters *filters, size_t i);
void filters_clear(struct filters *filters);

/* Undoes the last change, and redoes the last one that was undone; false if there is none. */
bool filters_undo(struct filters *filters);
bool filters_redo(struct filters *filters);

/* Appends a few words: "&solve", "without: main", "at least 1%". */
void filter_describe(const struct filter *filter, bool ascii, struct text *out);

/* The same with long names shortened (shorten_name). */
void filter_describe_short(const struct filter *filter, bool ascii, size_t columns,
                           struct text *out);

/* Visibility of a row; later values hide more. */
enum visibility {
    ROW_SHOWN,
    ROW_FOLDED, /* shown, without anything below */
    ROW_ELIDED, /* replaced by what is below */
    ROW_HIDDEN  /* hidden with everything below */
};

/* Visibility by all filters except FILTER_ONLY, which depends on what is below (filtered-tree.h).
 */
enum visibility filters_visibility(const struct filters *filters, const struct view *view,
                                   uint32_t row);

#endif
