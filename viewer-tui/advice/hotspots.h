/* The rows of the user's own source (code-owner.h) that carry a cost: loops, and procedures for what is in no loop of
 * theirs. What others' code costs is carried by the row that calls it. */
#ifndef VIEWER_HOTSPOTS_H
#define VIEWER_HOTSPOTS_H

#include "viewer-tui/advice/time-places.h"
#include "viewer-tui/base/text.h"

/* More places would not fit the advice text. */
#define MOST_HOTSPOTS 3

struct hotspot {
    uint32_t procedure; /* id; NOTHING: unknown, or the row itself, a loop or statement */
    enum code_owner owner;
    struct source_line at; /* the loop; or in the procedure the line with most of the cost, else its declaration */
    bool is_loop;
    struct source_line around; /* if it is no loop: the user's own loop around its call */
    uint32_t callee, callee_module; /* what has most of the cost, if others' code; NOTHING: none has half of it */
    double cost;
};

typedef VEC(struct hotspot) hotspot_list; /* the largest costs first, without zeros */

struct hotspots {
    struct hotspot at[MOST_HOTSPOTS];
    size_t n;
};

/* The part of a row's costs that its hotspots divide: inclusive in the top-down view, else
 * exclusive. */
static inline enum cost_part hotspots_part(const struct view *view)
{
    uint32_t row = 0;
    return view_origin(view, &row)->class == &topdown_class ? INCLUSIVE : EXCLUSIVE;
}

/* Groups the places of each time by loops and procedures. The caller frees each list with vec_free. */
void hotspots_of_each(const struct database *db, const struct places_of_times *all, hotspot_list *lists);

/* Whether a place is one of those of which a hotspot, grouped by loops, has the cost. */
bool hotspot_has(const struct hotspot *hotspot, const struct time_place *place);

/* One line, as a hotspot that is no loop. */
struct hotspot hotspot_of_place(const struct database *db, const struct time_place *place);

/* The hotspots of a row, grouped by loops and procedures, or by procedures alone, which are then at their declarations.
 * In the bottom-up view those of a row are its callers. Procedures and smaller scopes of the flat view have none. */
hotspot_list hotspots_all(struct view *view, uint32_t row, size_t metric, bool by_loop);
struct hotspots hotspots_find(struct view *view, uint32_t row, size_t metric);

/* The largest ones in each of n metrics, n <= MOST_TIMES; none for NO_METRIC. */
void hotspots_find_each(struct view *view, uint32_t row, const size_t *metrics, size_t n, struct hotspots *found);

/* The user's own line that calls a hotspot of the whole program, in a top-down view, directly or not: the lowest
 * procedure with nearly all of its cost in the metric, if others have a part of its work. False if there is none. */
bool hotspot_find_caller(struct view *view, const struct hotspot *hotspot, size_t metric, size_t work,
                         struct hotspot *caller);

/* Adds "the loop at pipe.cc:24 of score", "cell, triangle.c:5", or "unknown code". */
void hotspot_describe(const struct database *db, const struct hotspot *hotspot, bool ascii, struct text *text);

/* Adds what has most of the cost: ", most of it in sin (libm)"; nothing if that is the hotspot itself. */
void hotspot_describe_callee(const struct database *db, const struct hotspot *hotspot, struct text *text);

/* Adds the name of a procedure of others, and its library: "sin (libm)"; "<libz.so.1+0x80>" has it in its name. */
void callee_describe(const struct database *db, uint32_t procedure, uint32_t module, struct text *text);

#endif
