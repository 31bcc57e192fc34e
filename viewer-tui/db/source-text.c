#include "viewer-tui/db/source-text.h"

#include "lib/alloc.h"
#include "lib/safe-input.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGEST_FILE (64 << 20)

/* Finds the lines in the bytes. */
static void split(struct file_lines *file, size_t size)
{
    VEC(const char *) lines = {0};
    char *end = file->bytes + size;
    for (char *line = file->bytes; line < end;) {
        vec_push(&lines, line);
        char *newline = memchr(line, '\n', (size_t)(end - line));
        if (!newline)
            break;
        *newline = '\0';
        if (newline > line && newline[-1] == '\r')
            newline[-1] = '\0';
        line = newline + 1;
    }
    file->at = lines.at;
    file->n = (uint32_t)lines.n;
}

bool file_lines_read(struct file_lines *lines, const char *path)
{
    size_t size = 0;
    autofree char *cause = NULL;
    *lines = (struct file_lines){.bytes = input_read(path, LARGEST_FILE, &size, &cause)};
    if (lines->bytes)
        split(lines, size);
    return lines->bytes != NULL;
}

void file_lines_free(struct file_lines *lines)
{
    free(lines->bytes);
    free(lines->at);
    *lines = (struct file_lines){0};
}

static void find_syntax(struct source *source)
{
    source->syntax = syntax_of(source->path);
    if (!source->syntax)
        return;
    uint8_t state = 0;
    source->states = mem_alloc(source->lines.n + 1);
    for (uint32_t i = 0; i < source->lines.n; i++) {
        source->states[i] = state;
        state = syntax_line(source->syntax, state, source->lines.at[i], NULL);
    }
}

/* Whether a file that a database names may be shown: a program can name any file as its source, and
 * what is shown may be exported. `is_chosen`: hpcprof copied it, or the user named a directory that
 * it is in. */
static bool may_show(const struct database *db, const char *path, bool is_chosen)
{
    struct stat folder, file;
    if (stat(db->folder, &folder) != 0 || stat(path, &file) != 0)
        return false;
    uid_t maker = folder.st_uid, user = geteuid();
    bool is_own = (maker == user || maker == 0) && (is_chosen || user != 0);
    bool is_of_maker = maker != 0 && maker == file.st_uid;
    return (file.st_mode & S_IROTH) || is_own || is_of_maker;
}

/* Reads the file at `path`, and takes ownership of that. */
static bool read_source(struct source *source, char *path)
{
    if (!path || !file_lines_read(&source->lines, path)) {
        free(path);
        return false;
    }
    source->path = path;
    find_syntax(source);
    return true;
}

struct search {
    const struct database *db;
    char *found;
};

/* A path_visitor. */
static bool take_shown(void *context, const char *file, const char *tree)
{
    struct search *search = context;
    if (may_show(search->db, file, tree != NULL))
        search->found = mem_strdup(file);
    return search->found != NULL;
}

char *source_original(const struct path_rules *rules, const struct database *db, uint32_t file)
{
    static const struct path_rules none;
    const char *path = database_file_path(db, file);
    struct search search = {.db = db};
    if (path)
        path_visit_sources(rules ? rules : &none, path, take_shown, &search);
    return search.found;
}

/* The path of the copy in the database, or NULL. The caller frees. */
static char *source_copy(const struct database *db, uint32_t file)
{
    const char *copy = database_file_copy(db, file);
    char *path = copy ? mem_printf("%s/%s", db->folder, copy) : NULL;
    if (!path || may_show(db, path, true))
        return path;
    free(path);
    return NULL;
}

const struct source *sources_get(struct sources *sources, const struct database *db, uint32_t file)
{
    static const struct source none;
    if (!database_file_path(db, file))
        return &none;
    uint32_t number = idmap_get(&sources->numbers, (uintptr_t)db, file);
    if (number != IDMAP_NONE)
        return sources->list.at[number];
    struct source *source = mem_alloc(sizeof *source);
    if (!read_source(source, source_copy(db, file)))
        read_source(source, source_original(sources->rules, db, file));
    idmap_put(&sources->numbers, (uintptr_t)db, file, (uint32_t)sources->list.n);
    vec_push(&sources->list, source);
    return source;
}

const char *source_line(const struct source *source, uint32_t line)
{
    return line > 0 && line <= source->lines.n ? source->lines.at[line - 1] : NULL;
}

void sources_free(struct sources *sources)
{
    for (size_t i = 0; i < sources->list.n; i++) {
        autofree struct source *source = sources->list.at[i];
        free(source->path);
        file_lines_free(&source->lines);
        free(source->states);
    }
    vec_free(&sources->list);
    idmap_free(&sources->numbers);
}
