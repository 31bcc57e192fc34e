/* A search pattern for rows: an extended POSIX regular expression, possibly restricted to a field:
 *
 *     REGEX            the name, or the place as shown
 *     name:REGEX       the name
 *     file:REGEX       the whole path of the source file
 *     module:REGEX     the whole path of the binary
 *
 * Case is ignored unless the pattern has an upper-case letter. An invalid expression is searched
 * for literally. */
#ifndef VIEWER_PATTERN_H
#define VIEWER_PATTERN_H

#include "viewer-tui/tree/view.h"

#include <regex.h>

/* Entries are valid for this database and class of view: keys are indices into these. */
struct run_cache {
    const struct database *db;
    const struct view_class *class;
    struct idmap map;
};

/* Caches numbers about rows that depend on two keys only, by the run that a row comes from (view->side). A zeroed one
 * is empty. */
struct row_cache {
    VEC(struct run_cache) of;
};

/* The number for (a, b), about a row of a view of one database; IDMAP_NONE if it is unknown. */
static inline uint32_t row_cache_get(struct row_cache *cache, const struct view *view, uint64_t a,
                                     uint64_t b)
{
    while (cache->of.n <= (size_t)view->side)
        vec_push(&cache->of, (struct run_cache){0});
    struct run_cache *of = &cache->of.at[view->side];
    if (of->db != view->db || of->class != view->class) {
        idmap_free(&of->map);
        of->db = view->db;
        of->class = view->class;
    }
    return idmap_get(&of->map, a, b);
}

/* Call it only after row_cache_get returned IDMAP_NONE. */
static inline void row_cache_put(struct row_cache *cache, const struct view *view, uint64_t a,
                                 uint64_t b, uint32_t number)
{
    idmap_put(&cache->of.at[view->side].map, a, b, number);
}

static inline void row_cache_free(struct row_cache *cache)
{
    for (size_t i = 0; i < cache->of.n; i++)
        idmap_free(&cache->of.at[i].map);
    vec_free(&cache->of);
}

enum pattern_field { PATTERN_SHOWN, PATTERN_NAME, PATTERN_FILE, PATTERN_MODULE };

struct pattern {
    char *text; /* as the user wrote it */
    enum pattern_field field;
    const char *wanted; /* the part of the text after the field */
    bool ignores_case;
    bool is_literal;        /* it has no special characters, or is broken */
    bool is_broken;         /* it is an invalid regular expression */
    regex_t regex;          /* unless literal */
    struct row_cache cache; /* 1 for rows that match, else 0 */
    VEC(uint32_t) matching; /* nodes whose rows in a top-down view may match, ascending: */
    uint64_t nodes_number;  /* of that tree; 0: none */
};

struct pattern *pattern_new(const char *text);
void pattern_free(struct pattern *pattern); /* NULL allowed */

bool pattern_matches(struct pattern *pattern, const struct view *view, uint32_t row);

/* Whether rows below a row may match. In a top-down view of one database that takes a pass over all nodes the first
 * time; in others it is always true. */
bool pattern_may_match_below(struct pattern *pattern, struct view *view, uint32_t row);

/* Finds the first match in a text: bytes *start .. *end - 1. Empty matches do not count. */
bool pattern_find(const struct pattern *pattern, const char *text, size_t *start, size_t *end);

#endif
