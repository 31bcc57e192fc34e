#include "hpcprof/modules/structure-image.h"

#include "lib/safe-output.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Changes when the sections below do. */
static const char MAGIC[8] = "HPCIMG02";

struct image_head {
    char magic[sizeof MAGIC];
    struct image_key key;
    uint64_t has_lines, n_units, n_unoptimized;
};

/* ---- writing ---- */

static void write_number(FILE *file, uint64_t number)
{
    fwrite(&number, sizeof number, 1, file);
}

static void write_array(FILE *file, const void *elements, size_t n, size_t size)
{
    write_number(file, n);
    if (n)
        fwrite(elements, size, n, file);
}

static void write_strings(FILE *file, const struct strtab *strings)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < strings->count; i++)
        bytes += strlen(strtab_string(strings, i)) + 1;
    write_number(file, bytes);
    for (uint32_t i = 0; i < strings->count; i++)
        fwrite(strtab_string(strings, i), strlen(strtab_string(strings, i)) + 1, 1, file);
}

void structure_image_write(FILE *file, const struct image_key *key, const struct structure *s)
{
    struct image_head head = {.key = *key,
                              .has_lines = s->has_lines,
                              .n_units = s->n_units,
                              .n_unoptimized = s->n_unoptimized};
    memcpy(head.magic, MAGIC, sizeof MAGIC);
    fwrite(&head, sizeof head, 1, file);
    write_strings(file, &s->names);
    write_strings(file, &s->files);
    write_strings(file, &s->directories);
    write_strings(file, &s->overhead_kinds);
    write_array(file, s->functions.at, s->functions.n, sizeof *s->functions.at);
    write_array(file, s->scopes.at, s->scopes.n, sizeof *s->scopes.at);
    write_array(file, s->statements.at, s->statements.n, sizeof *s->statements.at);
    write_array(file, s->waits.at, s->waits.n, sizeof *s->waits.at);
    write_array(file, s->calls.at, s->calls.n, sizeof *s->calls.at);
}

/* ---- reading ---- */

/* An image and the bytes that are left in it. */
struct image {
    FILE *file;
    uint64_t left;
};

static bool read_bytes(struct image *image, void *to, uint64_t size)
{
    if (size > image->left || (size && fread(to, size, 1, image->file) != 1))
        return false;
    image->left -= size;
    return true;
}

/* The elements of an array: *n of them, which the caller frees; NULL if there are none, or the image
 * is damaged. */
static void *read_array(struct image *image, size_t *n, size_t size, bool *good)
{
    uint64_t count = 0;
    *good = *good && read_bytes(image, &count, sizeof count) && count <= image->left / size;
    if (!*good || count == 0)
        return NULL;
    void *elements = mem_alloc(count * size);
    *good = read_bytes(image, elements, count * size);
    *n = count;
    return elements;
}

#define READ_ARRAY(image, vector, good)                                                            \
    ((vector)->at = read_array(image, &(vector)->n, sizeof *(vector)->at, good),                   \
     (vector)->cap = (vector)->n)

/* Strings with their ends, which must be distinct. */
static void read_strings(struct image *image, struct strtab *strings, bool *good)
{
    size_t size = 0;
    char *text = read_array(image, &size, 1, good);
    *good = *good && (size == 0 || text[size - 1] == '\0');
    for (size_t at = 0; *good && at < size; at += strlen(text + at) + 1) {
        uint32_t next = (uint32_t)strings->count;
        *good = strtab_id(strings, text + at) == next;
    }
    free(text);
}

/* ---- checks: what structure_read promises ---- */

static bool is_id(uint32_t id, size_t n)
{
    return id < n || id == STRUCTURE_NONE;
}

static bool has_good_functions(const struct structure *s)
{
    for (size_t i = 0; i < s->functions.n; i++) {
        const struct structure_function *function = &s->functions.at[i];
        if (function->name >= s->names.count || !is_id(function->file, s->files.count))
            return false;
    }
    return true;
}

/* A byte that is neither 0 nor 1 is no bool. */
static bool is_bool(const bool *value)
{
    return *(const unsigned char *)value <= 1;
}

static bool has_good_scopes(const struct structure *s)
{
    for (size_t i = 0; i < s->scopes.n; i++) {
        const struct structure_scope *scope = &s->scopes.at[i];
        bool is_procedure = scope->kind == SCOPE_PROCEDURE, is_loop = scope->kind == SCOPE_LOOP;
        bool has_parent = scope->parent < i;
        if (!(is_procedure ? scope->parent == STRUCTURE_NONE : has_parent) ||
            !(is_procedure || is_loop || scope->kind == SCOPE_INLINED) ||
            !(is_loop || scope->function < s->functions.n) ||
            !is_id(scope->file, s->files.count) || !is_bool(&scope->pauses))
            return false;
    }
    return true;
}

static bool has_good_statements(const struct structure *s)
{
    uint64_t covered = 0;
    for (size_t i = 0; i < s->statements.n; i++) {
        const struct structure_statement *statement = &s->statements.at[i];
        if (statement->begin < covered || statement->begin >= statement->end ||
            statement->scope >= s->scopes.n || !is_id(statement->file, s->files.count) ||
            (statement->file == STRUCTURE_NONE && statement->line) ||
            !is_id(statement->overhead, s->overhead_kinds.count))
            return false;
        covered = statement->end;
    }
    return true;
}

static bool has_good_waits(const struct structure *s)
{
    for (size_t i = 0; i < s->waits.n; i++)
        if (s->waits.at[i].begin >= s->waits.at[i].end ||
            (i > 0 && s->waits.at[i].begin < s->waits.at[i - 1].begin))
            return false;
    return true;
}

static bool read_sections(struct image *image, struct structure *s)
{
    bool good = true;
    read_strings(image, &s->names, &good);
    read_strings(image, &s->files, &good);
    read_strings(image, &s->directories, &good);
    read_strings(image, &s->overhead_kinds, &good);
    READ_ARRAY(image, &s->functions, &good);
    READ_ARRAY(image, &s->scopes, &good);
    READ_ARRAY(image, &s->statements, &good);
    READ_ARRAY(image, &s->waits, &good);
    READ_ARRAY(image, &s->calls, &good);
    return good && image->left == 0 && has_good_functions(s) && has_good_scopes(s) &&
           has_good_statements(s) && has_good_waits(s);
}

/* The size of the file behind a stream, which is at its beginning. */
static uint64_t size_of(FILE *file)
{
    bool has_end = fseek(file, 0, SEEK_END) == 0;
    long size = has_end ? ftell(file) : -1;
    return size > 0 && fseek(file, 0, SEEK_SET) == 0 ? (uint64_t)size : 0;
}

struct structure *structure_image_read(FILE *file, const struct image_key *key)
{
    struct image image = {.file = file, .left = size_of(file)};
    struct image_head head;
    if (!read_bytes(&image, &head, sizeof head) || memcmp(head.magic, MAGIC, sizeof MAGIC) != 0 ||
        memcmp(&head.key, key, sizeof *key) != 0 || head.has_lines > 1 ||
        head.n_units > UINT32_MAX || head.n_unoptimized > head.n_units)
        return NULL;
    struct structure *s = mem_alloc(sizeof *s);
    s->has_lines = head.has_lines;
    s->n_units = (unsigned)head.n_units;
    s->n_unoptimized = (unsigned)head.n_unoptimized;
    if (!read_sections(&image, s)) {
        structure_free(s);
        return NULL;
    }
    structure_index(s);
    return s;
}

/* ---- the cache ---- */

static uint64_t time_of(const struct stat *status)
{
    return (uint64_t)status->st_mtim.tv_sec * 1000000000u + (uint64_t)status->st_mtim.tv_nsec;
}

/* False if a file's size and time can't be read. Without those of hpcprof's own file, an image of another
 * build would count as one of ours. */
static bool find_key(FILE *file, struct image_key *key)
{
    struct stat structure, program;
    if (fstat(fileno(file), &structure) != 0 || stat("/proc/self/exe", &program) != 0)
        return false;
    *key = (struct image_key){(uint64_t)structure.st_size, time_of(&structure),
                              (uint64_t)program.st_size, time_of(&program)};
    return true;
}

static struct structure *read_image(const char *path, const struct image_key *key)
{
    FILE *file = fopen(path, "rbe");
    struct structure *s = file ? structure_image_read(file, key) : NULL;
    if (file)
        fclose(file);
    return s;
}

static void write_image(const char *path, const struct image_key *key, const struct structure *s)
{
    struct atomic_file image;
    char *cause = NULL;
    if (atomic_file_begin(&image, path, &cause)) {
        structure_image_write(image.out, key, s);
        atomic_file_commit(&image, &cause);
    }
    free(cause);
}

struct structure *structure_read_cached(const char *path, char **cause)
{
    FILE *file = fopen(path, "rbe");
    struct image_key key;
    bool has_image = file && find_key(file, &key) && key.size >= IMAGE_LEAST_SIZE;
    char *image = mem_printf("%s.image", path);
    struct structure *s = has_image ? read_image(image, &key) : NULL;
    if (s) {
        fclose(file);
    } else {
        s = structure_read(file, cause);
        if (s && has_image)
            write_image(image, &key, s);
    }
    free(image);
    return s;
}
