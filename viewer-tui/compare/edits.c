#include "viewer-tui/compare/edits.h"

#include "lib/hash-tables.h"
#include "viewer-tui/base/text.h"
#include "viewer-tui/compare/line-map.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

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

#define SEVERAL (UINT32_MAX - 1)

/* The files of a side with a copy in the database, by path or by name; SEVERAL if the name is not
 * unique. */
static struct idmap files_by(const struct database *db, bool by_name)
{
    struct idmap files = {0};
    for (uint32_t i = 0; i < db->files.n; i++) {
        if (!database_file_copy(db, i))
            continue;
        const char *path = database_file_path(db, i), *key = by_name ? path_name(path) : path;
        uint64_t hash = hash_bytes(key, strlen(key));
        bool is_new = idmap_get(&files, hash, 0) == IDMAP_NONE;
        idmap_put(&files, hash, 0, is_new ? i : SEVERAL);
    }
    return files;
}

/* Pairs files whose path or name is unique on both sides. */
static void pair_files(struct edits *edits, bool by_name)
{
    struct idmap left = files_by(edits->sides[0], by_name);
    struct idmap right = files_by(edits->sides[1], by_name);
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
    idmap_free(&left);
    idmap_free(&right);
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
    char *path = mem_printf("%s/%s", db->folder, database_file_copy(db, file));
    bool is_read = file_lines_read(lines, path);
    free(path);
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
