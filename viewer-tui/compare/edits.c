#include "viewer-tui/compare/edits.h"

#include "lib/alloc.h"
#include "lib/binary-search.h"
#include "lib/hash-tables.h"
#include "viewer-tui/base/text.h"

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
    uint32_t before; /* 1 + index of the line before it in the longest chain that ends here; 0: none */
};

/* In order of the left text. */
typedef VEC(struct unique) unique_list;

#define SEVERAL (UINT32_MAX - 1)

/* Notes the number of a text by its hash and length; SEVERAL if the text occurs more than once. */
static void note(struct idmap *numbers, uint64_t hash, uint64_t length, uint32_t number)
{
    bool is_new = idmap_get(numbers, hash, length) == IDMAP_NONE;
    idmap_put(numbers, hash, length, is_new ? number : SEVERAL);
}

/* Lines by their text. */
static struct idmap lines_by_text(const struct file_lines *file, uint32_t first, uint32_t end)
{
    struct idmap lines = {0};
    for (uint32_t line = first; line < end; line++) {
        size_t length = strlen(file->at[line - 1]);
        note(&lines, hash_bytes(file->at[line - 1], length), length, line);
    }
    return lines;
}

static void find_uniques(const struct text_pair *pair, unique_list *uniques)
{
    autofree struct idmap left = lines_by_text(pair->left, pair->first, pair->end_left);
    autofree struct idmap right = lines_by_text(pair->right, pair->first, pair->end_right);
    for (uint32_t line = pair->first; line < pair->end_left; line++) {
        size_t length = strlen(pair->left->at[line - 1]);
        uint64_t hash = hash_bytes(pair->left->at[line - 1], length);
        uint32_t like = idmap_get(&right, hash, length);
        bool is_unique = idmap_get(&left, hash, length) == line && like < SEVERAL;
        if (is_unique && are_equal(pair, line, like))
            vec_push(uniques, (struct unique){line, like, 0});
    }
}

/* Pairs the longest chain of unique lines that is in order in both texts (patience sorting). */
static void pair_uniques(const struct text_pair *pair, unique_list *uniques)
{
    /* By length of a chain: the last line of that chain which ends first. */
    autofree uint32_t *ends = mem_alloc((uniques->n + 1) * sizeof *ends);
    size_t longest = 0;
    for (size_t i = 0; i < uniques->n; i++) {
        size_t first = partition_point(k, longest, uniques->at[ends[k]].right < uniques->at[i].right);
        ends[first] = (uint32_t)i;
        uniques->at[i].before = first ? ends[first - 1] + 1 : 0;
        longest = first == longest ? longest + 1 : longest;
    }
    for (uint32_t at = longest ? ends[longest - 1] + 1 : 0; at; at = uniques->at[at - 1].before)
        pair_lines(pair, uniques->at[at - 1].left, uniques->at[at - 1].right);
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
    autofree unique_list uniques = {0};
    pair_ends(&pair);
    find_uniques(&pair, &uniques);
    pair_uniques(&pair, &uniques);
    extend(&pair);
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

struct edits {
    const struct database *sides[SIDES];
    uint32_t *other[SIDES]; /* by file: the other version; NOTHING: none. NULL until it is needed */
    struct line_map **maps; /* by file of the left side; NULL until it is needed */
};

struct edits *edits_new(const struct database *left, const struct database *right)
{
    struct edits *edits = mem_alloc(sizeof *edits);
    edits->sides[0] = left;
    edits->sides[1] = right;
    return edits;
}

void edits_free(struct edits *edits)
{
    for (size_t i = 0; edits->maps && i < edits->sides[0]->files.n; i++)
        if (edits->maps[i]) {
            line_map_free(edits->maps[i]);
            free(edits->maps[i]);
        }
    for (int side = 0; side < SIDES; side++)
        free(edits->other[side]);
    free(edits->maps);
    free(edits);
}

/* The files of a side with a copy in the database, by path or by name; SEVERAL if the name is not
 * unique. */
static struct idmap files_by(const struct database *db, bool by_name)
{
    struct idmap files = {0};
    for (uint32_t i = 0; i < db->files.n; i++) {
        if (!database_file_copy(db, i))
            continue;
        const char *path = database_file_path(db, i), *key = by_name ? path_name(path) : path;
        note(&files, hash_bytes(key, strlen(key)), 0, i);
    }
    return files;
}

/* Pairs files whose path or name is unique on both sides. */
static void pair_files(struct edits *edits, bool by_name)
{
    autofree struct idmap left = files_by(edits->sides[0], by_name);
    autofree struct idmap right = files_by(edits->sides[1], by_name);
    for (uint32_t i = 0; i < edits->sides[0]->files.n; i++) {
        const char *path = database_file_path(edits->sides[0], i);
        const char *key = by_name ? path_name(path) : path;
        uint64_t hash = hash_bytes(key, strlen(key));
        uint32_t like = idmap_get(&right, hash, 0);
        bool is_free = edits->other[0][i] == NOTHING && like < SEVERAL &&
                       idmap_get(&left, hash, 0) == i && edits->other[1][like] == NOTHING;
        if (is_free) {
            edits->other[0][i] = like;
            edits->other[1][like] = i;
        }
    }
}

static void prepare(struct edits *edits)
{
    for (int side = 0; side < SIDES; side++) {
        size_t n = edits->sides[side]->files.n;
        edits->other[side] = mem_alloc((n + 1) * sizeof *edits->other[side]);
        for (size_t i = 0; i < n; i++)
            edits->other[side][i] = NOTHING;
    }
    edits->maps = mem_alloc((edits->sides[0]->files.n + 1) * sizeof *edits->maps);
    pair_files(edits, false);
    pair_files(edits, true);
}

static bool read_copy(struct file_lines *lines, const struct database *db, uint32_t file)
{
    autofree char *path = mem_printf("%s/%s", db->folder, database_file_copy(db, file));
    bool is_read = file_lines_read(lines, path);
    return is_read;
}

/* The line map of a file of the left side; empty if a version cannot be read. */
static const struct line_map *map_of(struct edits *edits, uint32_t file)
{
    if (edits->maps[file])
        return edits->maps[file];
    struct line_map *map = edits->maps[file] = mem_alloc(sizeof *map);
    struct file_lines left, right = {0};
    if (read_copy(&left, edits->sides[0], file) &&
        read_copy(&right, edits->sides[1], edits->other[0][file]))
        line_map_make(map, &left, &right);
    file_lines_free(&left);
    file_lines_free(&right);
    return map;
}

struct edited_line edits_line(struct edits *edits, int side, uint32_t file, uint32_t line)
{
    assert(side >= 0 && side < SIDES);
    struct edited_line unknown = {EDIT_UNKNOWN, line};
    if (!edits->maps)
        prepare(edits);
    if (file >= edits->sides[side]->files.n || edits->other[side][file] == NOTHING || !line)
        return unknown;
    const struct line_map *map = map_of(edits, side == 0 ? file : edits->other[1][file]);
    if (line > (side == 0 ? map->n_left : map->n_right))
        return unknown;
    if (side == 1)
        return (struct edited_line){map->to_left[line] ? EDIT_NONE : EDIT_CHANGED, line};
    uint32_t before = map->last_kept[line];
    int64_t base = before ? map->to_right[before] : 0;
    return (struct edited_line){before == line ? EDIT_NONE : EDIT_CHANGED, base + line - before};
}
