/* Answers about rows that depend on few numbers of them, so that the question is asked once. */
#ifndef VIEWER_ANSWERS_H
#define VIEWER_ANSWERS_H

#include "lib/hash-tables.h"
#include "viewer-tui/tree/view.h"

/* A zeroed one knows nothing. */
struct row_cache {
    struct {
        /* Only rows of such views: what the numbers mean. */
        const struct database *db;
        const struct view_class *class;
        struct idmap map;
    } of[SIDES];
};

/* The answer for (a, b), about a row of a view of one database; IDMAP_NONE when it is not known. */
static inline uint32_t row_cache_get(struct row_cache *answers, const struct view *view, uint64_t a,
                                     uint64_t b)
{
    if (answers->of[view->side].db != view->db || answers->of[view->side].class != view->class) {
        idmap_free(&answers->of[view->side].map);
        answers->of[view->side].db = view->db;
        answers->of[view->side].class = view->class;
    }
    return idmap_get(&answers->of[view->side].map, a, b);
}

/* For what row_cache_get has just not known. */
static inline void row_cache_put(struct row_cache *answers, const struct view *view, uint64_t a,
                                 uint64_t b, uint32_t answer)
{
    idmap_put(&answers->of[view->side].map, a, b, answer);
}

static inline void row_cache_free(struct row_cache *answers)
{
    for (int side = 0; side < SIDES; side++)
        idmap_free(&answers->of[side].map);
}

#endif
