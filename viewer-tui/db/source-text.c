#include "viewer-tui/db/source-text.h"

#include "viewer-tui/base/file-lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void find_syntax(struct source *source)
{
    source->syntax = syntax_of(source->path);
    if (!source->syntax)
        return;
    uint8_t state = 0;
    source->states = mem_alloc(source->n_lines + 1);
    for (uint32_t i = 0; i < source->n_lines; i++) {
        source->states[i] = state;
        state = syntax_line(source->syntax, state, source->lines[i], NULL);
    }
}

/* Reads the file at `path`, and takes ownership of that. */
static bool read_source(struct source *source, char *path)
{
    struct file_lines lines;
    if (!file_lines_read(&lines, path)) {
        free(path);
        return false;
    }
    source->path = path;
    source->bytes = lines.bytes;
    source->lines = lines.at;
    source->n_lines = lines.n;
    find_syntax(source);
    return true;
}

char *source_original(const struct path_rules *rules, const struct database *db, uint32_t file)
{
    static const struct path_rules none;
    const char *path = database_file_path(db, file);
    return path ? path_find_source(rules ? rules : &none, path) : NULL;
}

static struct source *find_source(const struct path_rules *rules, const struct database *db,
                                  uint32_t file)
{
    struct source *source = mem_alloc(sizeof *source);
    const char *copy = database_file_copy(db, file);
    bool found = copy && read_source(source, mem_printf("%s/%s", db->folder, copy));
    char *original = found ? NULL : source_original(rules, db, file);
    if (original)
        read_source(source, original);
    return source;
}

const struct source *sources_get(struct sources *sources, const struct database *db, uint32_t file)
{
    static const struct source none;
    if (!database_file_path(db, file))
        return &none;
    uint32_t number = idmap_get(&sources->numbers, (uintptr_t)db, file);
    if (number != IDMAP_NONE)
        return sources->list.at[number];
    struct source *source = find_source(sources->rules, db, file);
    idmap_put(&sources->numbers, (uintptr_t)db, file, (uint32_t)sources->list.n);
    vec_push(&sources->list, source);
    return source;
}

const char *source_line(const struct source *source, uint32_t line)
{
    return line > 0 && line <= source->n_lines ? source->lines[line - 1] : NULL;
}

void sources_free(struct sources *sources)
{
    for (size_t i = 0; i < sources->list.n; i++) {
        struct source *source = sources->list.at[i];
        free(source->path);
        free(source->bytes);
        free(source->lines);
        free(source->states);
        free(source);
    }
    vec_free(&sources->list);
    idmap_free(&sources->numbers);
}
