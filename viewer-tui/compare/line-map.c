#include "viewer-tui/compare/line-map.h"

#include "lib/alloc.h"
#include "lib/binary-search.h"
#include "lib/hash-tables.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The two texts that are compared; lines count from 1. */
struct text_pair {
    struct line_map *map;
    const struct file_lines *left, *right;
    uint32_t first, end_left, end_right; /* the lines between the equal beginnings and ends */
};

static bool are_equal(const struct text_pair *pair, uint32_t left, uint32_t right)
{
    return strcmp(pair->left->at[left - 1], pair->right->at[right - 1]) == 0;
}

static void pair_lines(const struct text_pair *pair, uint32_t left, uint32_t right)
{
    pair->map->to_right[left] = right;
    pair->map->to_left[right] = left;
}

/* Pairs equal lines at the beginnings and ends. */
static void pair_ends(struct text_pair *pair)
{
    pair->first = 1;
    pair->end_left = pair->left->n + 1;
    pair->end_right = pair->right->n + 1;
    while (pair->first < pair->end_left && pair->first < pair->end_right &&
           are_equal(pair, pair->first, pair->first)) {
        pair_lines(pair, pair->first, pair->first);
        pair->first++;
    }
    while (pair->end_left > pair->first && pair->end_right > pair->first &&
           are_equal(pair, pair->end_left - 1, pair->end_right - 1))
        pair_lines(pair, --pair->end_left, --pair->end_right);
}

/* A line that occurs once in each text. */
struct unique {
    uint32_t left, right;
    uint32_t
        before; /* 1 + index of the line before it in the longest chain that ends here; 0: none */
};

struct uniques {
    VEC(struct unique) list; /* in order of the left text */
};

#define SEVERAL (UINT32_MAX - 1)

/* Lines by their text; SEVERAL if the text occurs more than once. */
static struct idmap lines_by_text(const struct file_lines *file, uint32_t first, uint32_t end)
{
    struct idmap lines = {0};
    for (uint32_t line = first; line < end; line++) {
        size_t length = strlen(file->at[line - 1]);
        uint64_t hash = hash_bytes(file->at[line - 1], length);
        bool is_new = idmap_get(&lines, hash, length) == IDMAP_NONE;
        idmap_put(&lines, hash, length, is_new ? line : SEVERAL);
    }
    return lines;
}

static void find_uniques(const struct text_pair *pair, struct uniques *uniques)
{
    struct idmap left = lines_by_text(pair->left, pair->first, pair->end_left);
    struct idmap right = lines_by_text(pair->right, pair->first, pair->end_right);
    for (uint32_t line = pair->first; line < pair->end_left; line++) {
        size_t length = strlen(pair->left->at[line - 1]);
        uint64_t hash = hash_bytes(pair->left->at[line - 1], length);
        uint32_t like = idmap_get(&right, hash, length);
        bool is_unique = idmap_get(&left, hash, length) == line && like < SEVERAL;
        if (is_unique && are_equal(pair, line, like))
            vec_push(&uniques->list, (struct unique){line, like, 0});
    }
    idmap_free(&left);
    idmap_free(&right);
}

/* Pairs the longest chain of unique lines that is in order in both texts (patience sorting). */
static void pair_uniques(const struct text_pair *pair, struct uniques *uniques)
{
    uint32_t *ends = mem_alloc(
        (uniques->list.n + 1) *
        sizeof *ends); /* by length of a chain: the last line of that chain which ends first */
    size_t longest = 0;
    for (size_t i = 0; i < uniques->list.n; i++) {
        size_t first = partition_point(k, longest,
                                       uniques->list.at[ends[k]].right < uniques->list.at[i].right);
        ends[first] = (uint32_t)i;
        uniques->list.at[i].before = first ? ends[first - 1] + 1 : 0;
        longest = first == longest ? longest + 1 : longest;
    }
    for (uint32_t at = longest ? ends[longest - 1] + 1 : 0; at;
         at = uniques->list.at[at - 1].before)
        pair_lines(pair, uniques->list.at[at - 1].left, uniques->list.at[at - 1].right);
    free(ends);
}

static bool is_free(const struct text_pair *pair, uint32_t left, uint32_t right)
{
    return left >= pair->first && left < pair->end_left && right >= pair->first &&
           right < pair->end_right && !pair->map->to_right[left] && !pair->map->to_left[right];
}

/* Pairs equal lines next to those that are paired. */
static void extend(const struct text_pair *pair)
{
    const struct line_map *map = pair->map;
    for (uint32_t left = 1; left < pair->end_left; left++) {
        uint32_t right = map->to_right[left] + 1;
        if (right > 1 && is_free(pair, left + 1, right) && are_equal(pair, left + 1, right))
            pair_lines(pair, left + 1, right);
    }
    for (uint32_t left = map->n_left; left > pair->first; left--) {
        uint32_t right = map->to_right[left];
        if (right > 1 && is_free(pair, left - 1, right - 1) && are_equal(pair, left - 1, right - 1))
            pair_lines(pair, left - 1, right - 1);
    }
}

void line_map_make(struct line_map *map, const struct file_lines *left,
                   const struct file_lines *right)
{
    assert(left->n < SEVERAL && right->n < SEVERAL);
    *map = (struct line_map){.n_left = left->n, .n_right = right->n};
    map->to_right = mem_alloc((left->n + 2) * sizeof *map->to_right);
    map->to_left = mem_alloc((right->n + 2) * sizeof *map->to_left);
    struct text_pair pair = {.map = map, .left = left, .right = right};
    struct uniques uniques = {0};
    pair_ends(&pair);
    find_uniques(&pair, &uniques);
    pair_uniques(&pair, &uniques);
    extend(&pair);
    vec_free(&uniques.list);
    map->last_kept = mem_alloc((left->n + 2) * sizeof *map->last_kept);
    for (uint32_t line = 1; line <= left->n; line++)
        map->last_kept[line] = map->to_right[line] ? line : map->last_kept[line - 1];
}

void line_map_free(struct line_map *map)
{
    free(map->to_right);
    free(map->to_left);
    free(map->last_kept);
    *map = (struct line_map){0};
}
