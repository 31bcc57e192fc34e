#include "hpcprof/modules/structure-image.h"

#include "lib/safe-input.h"
#include "lib/safe-output.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* ---- reading ---- */

/* An image in memory, and what is made of it. */
struct image {
    const uint8_t *bytes;
    const struct image_head *head;
    struct structure *s;
    bool good; /* nothing impossible was found yet */
};

static const void *section(const struct image *image, enum image_section which)
{
    return image->bytes + image->head->sections[which].at;
}

static size_t count_of(const struct image *image, enum image_section which)
{
    return image->head->sections[which].n;
}

static bool has_good_places(const struct image_head *head, size_t size)
{
    uint64_t end = sizeof *head;
    for (size_t i = 0; i < IMAGE_SECTIONS; i++) {
        const struct section_place *place = &head->sections[i];
        if (place->at != end || place->n > (size - end) / image_sizes[i])
            return false;
        end = image_aligned(end + place->n * image_sizes[i]);
        if (end > size)
            return false;
    }
    return end == size;
}

/* The string with an id; NULL if there is none. */
static const char *string_of(const struct image *image, enum image_section table, uint32_t id)
{
    const uint64_t *starts = section(image, table);
    const char *text = section(image, table + 1);
    size_t n = count_of(image, table), size = count_of(image, table + 1);
    bool has = id < n && starts[id] < size && text[size - 1] == '\0';
    return has ? text + starts[id] : NULL;
}

/* The id in `to` of a string of the image. */
static uint32_t take_string(struct image *image, enum image_section table, struct strtab *to,
                            uint32_t id)
{
    const char *text = string_of(image, table, id);
    image->good &= text != NULL;
    return strtab_id(to, text ? text : "");
}

static void take_all_strings(struct image *image, enum image_section table, struct strtab *to)
{
    for (uint32_t i = 0; image->good && i < count_of(image, table); i++)
        image->good &= take_string(image, table, to, i) == i;
}

static uint32_t take_file(struct image *image, uint32_t id)
{
    return id == STRUCTURE_NONE ? id : take_string(image, IMAGE_FILES, &image->s->files, id);
}

/* A byte that is neither 0 nor 1 is no bool. */
static bool is_bool(const bool *value)
{
    return *(const unsigned char *)value <= 1;
}

/* Whether a scope may have number i among scopes that begin with a procedure of number `first`. */
static bool is_good_scope(const struct image *image, const struct structure_scope *scope,
                          uint32_t first, uint32_t i)
{
    bool is_procedure = scope->kind == SCOPE_PROCEDURE, is_loop = scope->kind == SCOPE_LOOP;
    bool has_parent = scope->parent < i && scope->parent >= first;
    return is_procedure == (i == first) &&
           (is_procedure ? scope->parent == STRUCTURE_NONE : has_parent) &&
           (is_procedure || is_loop || scope->kind == SCOPE_INLINED) &&
           (is_loop || scope->function < count_of(image, IMAGE_FUNCTIONS)) &&
           is_bool(&scope->pauses);
}

/* The number in the structure of a function of the image. `known`: those that are there. */
static uint32_t take_function(struct image *image, struct idmap *known, uint32_t number)
{
    const struct structure_function *functions = section(image, IMAGE_FUNCTIONS);
    uint32_t new = idmap_get(known, number, 0);
    if (new != IDMAP_NONE)
        return new;
    struct structure_function function = functions[number];
    function.name = take_string(image, IMAGE_NAMES, &image->s->names, function.name);
    function.file = take_file(image, function.file);
    new = (uint32_t)image->s->functions.n;
    idmap_put(known, number, 0, new);
    vec_push(&image->s->functions, function);
    return new;
}

/* Adds the scopes from number `first` on, up to `end`, of one procedure. */
static void take_scopes(struct image *image, struct idmap *known, uint32_t first, uint32_t end)
{
    const struct structure_scope *scopes = section(image, IMAGE_SCOPES);
    uint32_t base = (uint32_t)image->s->scopes.n;
    for (uint32_t i = first; image->good && i < end; i++) {
        struct structure_scope scope = scopes[i];
        image->good = is_good_scope(image, &scope, first, i);
        if (!image->good)
            return;
        if (scope.parent != STRUCTURE_NONE)
            scope.parent = scope.parent - first + base;
        if (scope.kind != SCOPE_LOOP)
            scope.function = take_function(image, known, scope.function);
        scope.file = take_file(image, scope.file);
        vec_push(&image->s->scopes, scope);
    }
}

/* Adds the statements of the scopes from `first` to `end`, whose first one is number `base` now. */
static void take_statements(struct image *image, const uint32_t *order, size_t n, uint32_t first,
                            uint32_t end, uint32_t base)
{
    const struct structure_statement *statements = section(image, IMAGE_STATEMENTS);
    for (size_t i = 0; image->good && i < n; i++) {
        image->good = order[i] < count_of(image, IMAGE_STATEMENTS);
        if (!image->good)
            return;
        struct structure_statement statement = statements[order[i]];
        image->good = statement.begin < statement.end && statement.scope >= first &&
                      statement.scope < end &&
                      !(statement.file == STRUCTURE_NONE && statement.line) &&
                      (statement.overhead == STRUCTURE_NONE ||
                       statement.overhead < image->s->overhead_kinds.count);
        statement.scope = statement.scope - first + base;
        statement.file = take_file(image, statement.file);
        vec_push(&image->s->statements, statement);
    }
}

static void take_procedure(struct image *image, struct idmap *known, size_t number)
{
    const struct image_procedure *procedure = section(image, IMAGE_PROCEDURES);
    const uint32_t *order = section(image, IMAGE_ORDER);
    procedure += number;
    image->good &= procedure[0].scope < procedure[1].scope &&
                   procedure[1].scope <= count_of(image, IMAGE_SCOPES) &&
                   procedure[0].first <= procedure[1].first &&
                   procedure[1].first <= count_of(image, IMAGE_ORDER);
    if (!image->good)
        return;
    uint32_t base = (uint32_t)image->s->scopes.n;
    take_scopes(image, known, procedure[0].scope, procedure[1].scope);
    take_statements(image, order + procedure[0].first, procedure[1].first - procedure[0].first,
                    procedure[0].scope, procedure[1].scope, base);
}

/* Marks the procedures that contain one of the addresses. The caller frees. */
static bool *find_procedures(const struct image *image, const struct address_set *only, size_t n)
{
    const struct structure_statement *statements = section(image, IMAGE_STATEMENTS);
    const struct image_procedure *procedures = section(image, IMAGE_PROCEDURES);
    bool *is_wanted = mem_alloc(n * sizeof *is_wanted);
    for (size_t i = 0; i < only->all.n; i++) {
        uint64_t address = only->all.at[i];
        size_t after = partition_point(k, count_of(image, IMAGE_STATEMENTS),
                                       statements[k].begin <= address);
        if (after == 0 || address >= statements[after - 1].end)
            continue;
        size_t number = image_procedure_number(procedures, n, statements[after - 1].scope);
        if (number < n)
            is_wanted[number] = true;
    }
    return is_wanted;
}

static int by_address(const void *a, const void *b)
{
    const struct structure_statement *x = a, *y = b;
    return compare_unsigned(x->begin, y->begin);
}

static void sort_statements(struct image *image)
{
    struct structure *s = image->s;
    if (s->statements.n)
        qsort(s->statements.at, s->statements.n, sizeof *s->statements.at, by_address);
    for (size_t i = 1; i < s->statements.n; i++)
        image->good &= s->statements.at[i - 1].end <= s->statements.at[i].begin;
}

static void take_procedures(struct image *image, const struct address_set *only)
{
    size_t n = count_of(image, IMAGE_PROCEDURES);
    struct idmap known = {0};
    image->good &= n > 0;
    n -= n > 0; /* the last one is the end */
    bool *is_wanted = only ? find_procedures(image, only, n) : NULL;
    for (size_t i = 0; image->good && i < n; i++)
        if (!only || is_wanted[i])
            take_procedure(image, &known, i);
    free(is_wanted);
    idmap_free(&known);
    sort_statements(image);
}

static void take_waits_and_calls(struct image *image)
{
    const struct structure_wait *waits = section(image, IMAGE_WAITS);
    const struct structure_call *calls = section(image, IMAGE_CALLS);
    for (size_t i = 0; i < count_of(image, IMAGE_WAITS); i++) {
        image->good &= waits[i].begin < waits[i].end &&
                       (i == 0 || waits[i].begin >= waits[i - 1].begin);
        vec_push(&image->s->waits, waits[i]);
    }
    for (size_t i = 0; i < count_of(image, IMAGE_CALLS); i++)
        vec_push(&image->s->calls, calls[i]);
}

struct structure *structure_image_read(const uint8_t *bytes, size_t size,
                                       const struct image_key *key, const struct address_set *only)
{
    const struct image_head *head = (const struct image_head *)bytes;
    if (size < sizeof *head || memcmp(head->magic, IMAGE_MAGIC, IMAGE_MAGIC_SIZE) != 0 ||
        memcmp(&head->key, key, sizeof *key) != 0 || head->has_lines > 1 ||
        head->n_units > UINT32_MAX || head->n_unoptimized > head->n_units ||
        !has_good_places(head, size))
        return NULL;
    struct image image = {bytes, head, mem_alloc(sizeof *image.s), true};
    image.s->has_lines = head->has_lines;
    image.s->n_units = (unsigned)head->n_units;
    image.s->n_unoptimized = (unsigned)head->n_unoptimized;
    take_all_strings(&image, IMAGE_DIRECTORIES, &image.s->directories);
    take_all_strings(&image, IMAGE_KINDS, &image.s->overhead_kinds);
    take_procedures(&image, only);
    take_waits_and_calls(&image);
    if (!image.good) {
        structure_free(image.s);
        return NULL;
    }
    structure_index(image.s);
    return image.s;
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

static struct structure *read_image(const char *path, const struct image_key *key,
                                    const struct address_set *only)
{
    char *cause = NULL;
    struct stat status;
    const uint8_t *bytes = input_map(path, &status, &cause);
    free(cause);
    if (!bytes)
        return NULL;
    struct structure *s = structure_image_read(bytes, (size_t)status.st_size, key, only);
    munmap((void *)bytes, (size_t)status.st_size);
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

/* Writes the image of `whole`, which is freed, and reads it: the ranks of a team number functions and files
 * alike only if all read the image. Returns `whole` if there is no image. */
static struct structure *replace_by_image(const char *path, const struct image_key *key,
                                          const struct address_set *only, struct structure *whole)
{
    write_image(path, key, whole);
    struct structure *s = read_image(path, key, only);
    if (!s)
        return whole;
    structure_free(whole);
    return s;
}

struct structure *structure_read_cached(const char *path, const struct address_set *only,
                                        char **cause)
{
    FILE *file = input_stream(path, cause);
    struct image_key key;
    if (!file)
        return NULL;
    bool has_image = find_key(file, &key) && key.size >= IMAGE_LEAST_SIZE;
    char *image = mem_printf("%s.image", path);
    struct structure *s = has_image ? read_image(image, &key, only) : NULL;
    if (s) {
        fclose(file);
    } else {
        s = structure_read(file, cause);
        if (s && has_image)
            s = replace_by_image(image, &key, only, s);
    }
    free(image);
    return s;
}
