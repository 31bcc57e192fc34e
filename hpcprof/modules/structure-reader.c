#include "hpcprof/modules/structure.h"

#include "lib/binary-search.h"
#include "lib/safe-input.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A table of strings in an image, and the ids of those that were taken. */
struct strings {
    const uint64_t *starts;
    const char *text;
    size_t n, size;
    struct strtab *to;
    uint32_t *ids; /* 1 + id in `to`; 0: not taken yet. Owned */
};

struct reader {
    const uint8_t *bytes;
    const struct image_foot *foot;
    struct structure *s;
    struct strings names, files, directories, kinds;
    struct idmap functions; /* (name and file, line or address) -> index in s->functions */
    bool is_good;           /* nothing impossible was found yet */
};

/* ---- sections ---- */

static bool has_good_places(const struct image_foot *foot, size_t size)
{
    uint64_t end = foot->sections[0].at;
    if (end < IMAGE_MAGIC_SIZE || end > size || end % 8)
        return false;
    for (enum image_section i = 0; i < IMAGE_SECTIONS; i++) {
        uint64_t n = foot->sections[i].n, element = image_element_size(i);
        if (foot->sections[i].at != end || n > (size - end) / element)
            return false;
        end = image_aligned(end + n * element);
        if (end > size)
            return false;
    }
    return end == size - sizeof *foot;
}

static struct strings strings_of(const struct reader *r, enum image_section section,
                                 struct strtab *to)
{
    size_t n = r->foot->sections[section].n;
    return (struct strings){
        .starts = (const uint64_t *)(r->bytes + r->foot->sections[section].at),
        .text = (const char *)r->bytes + r->foot->sections[section + 1].at,
        .n = n,
        .size = r->foot->sections[section + 1].n,
        .to = to,
        .ids = mem_alloc(n * sizeof(uint32_t)),
    };
}

/* Whether a string begins where another one may have ended: strings that overlapped could take more memory than
 * the image has. */
static bool is_string(const struct strings *from, uint64_t start)
{
    return start < from->size && from->text[from->size - 1] == '\0' &&
           (start == 0 || from->text[start - 1] == '\0');
}

/* The id in the structure of a string of the image. */
static uint32_t take_string(struct reader *r, struct strings *from, uint32_t id)
{
    bool exists = id < from->n && is_string(from, from->starts[id]);
    r->is_good &= exists;
    if (!exists)
        return 0;
    if (!from->ids[id])
        from->ids[id] = strtab_id(from->to, from->text + from->starts[id]) + 1;
    return from->ids[id] - 1;
}

static void take_all_strings(struct reader *r, struct strings *from)
{
    for (uint32_t i = 0; r->is_good && i < from->n; i++)
        r->is_good &= take_string(r, from, i) == i;
}

static uint32_t take_file(struct reader *r, uint32_t id)
{
    return id == STRUCTURE_NONE ? id : take_string(r, &r->files, id);
}

/* ---- procedures ---- */

/* `name`: id in the structure. */
static uint32_t function_of(struct reader *r, uint32_t name, uint32_t file, uint32_t line,
                            uint64_t entry)
{
    struct structure *s = r->s;
    uint64_t place = file == STRUCTURE_NONE ? entry : line;
    uint64_t name_and_file = (uint64_t)name << 32 | file;
    uint32_t function = idmap_get(&r->functions, name_and_file, place);
    if (function == IDMAP_NONE) {
        function = (uint32_t)s->functions.n;
        idmap_put(&r->functions, name_and_file, place, function);
        vec_push(&s->functions, (struct structure_function){name, file, line, entry});
    }
    uint64_t known = s->functions.at[function].entry;
    if (entry && (!known || entry < known))
        s->functions.at[function].entry = entry;
    return function;
}

/* `number`: of the scope in its procedure, whose scopes begin at `base`. */
static void take_scope(struct reader *r, const struct image_scope *scope, uint32_t number,
                       uint32_t base)
{
    uint32_t file = take_file(r, scope->file);
    struct structure_scope taken = {
        .parent = base + scope->parent, .kind = scope->kind, .file = file, .line = scope->line};
    r->is_good &= scope->parent < number && scope->pauses <= 1;
    if (scope->kind == SCOPE_INLINED) {
        uint32_t name = take_string(r, &r->names, scope->name);
        taken.function = function_of(r, name, file, scope->line, 0);
        taken.file = take_file(r, scope->call_file);
        taken.line = scope->call_line;
    } else {
        r->is_good &= scope->kind == SCOPE_LOOP;
        taken.address = scope->address;
        taken.pauses = scope->pauses;
    }
    vec_push(&r->s->scopes, taken);
}

static void take_statement(struct reader *r, struct structure_statement statement,
                           uint32_t n_scopes, uint32_t base)
{
    r->is_good &= statement.begin < statement.end && statement.scope <= n_scopes &&
                  !(statement.file == STRUCTURE_NONE && statement.line) &&
                  (statement.overhead == STRUCTURE_NONE || statement.overhead < r->kinds.n);
    statement.scope += base;
    statement.file = take_file(r, statement.file);
    vec_push(&r->s->statements, statement);
}

/* The bytes at *at, which are advanced; NULL, unless there are that many. */
static const void *take_bytes(struct reader *r, uint64_t *at, uint64_t size)
{
    uint64_t begin = *at, limit = r->foot->sections[0].at;
    r->is_good = r->is_good && begin % 8 == 0 && begin <= limit && size <= limit - begin;
    *at = r->is_good ? image_aligned(begin + size) : begin;
    return r->is_good ? r->bytes + begin : NULL;
}

static void take_tables(struct reader *r, const struct image_procedure *p, const char *name,
                        const struct image_scope *scopes,
                        const struct structure_statement *statements)
{
    struct structure *s = r->s;
    uint32_t base = (uint32_t)s->scopes.n;
    uint32_t function =
        function_of(r, strtab_id(&s->names, name), take_file(r, p->file), p->line, p->entry);
    vec_push(&s->scopes, (struct structure_scope){.parent = STRUCTURE_NONE,
                                                  .kind = SCOPE_PROCEDURE,
                                                  .function = function,
                                                  .file = STRUCTURE_NONE,
                                                  .address = p->entry});
    for (uint32_t i = 0; r->is_good && i < p->n_scopes; i++)
        take_scope(r, &scopes[i], i + 1, base);
    for (uint32_t i = 0; r->is_good && i < p->n_statements; i++)
        take_statement(r, statements[i], p->n_scopes, base);
}

/* Takes the procedure at an offset; returns the offset of its end. */
static uint64_t take_procedure(struct reader *r, uint64_t at)
{
    const struct image_procedure *p = take_bytes(r, &at, sizeof *p);
    if (!p)
        return at;
    const char *name = take_bytes(r, &at, p->name_size);
    const struct image_scope *scopes = take_bytes(r, &at, p->n_scopes * sizeof *scopes);
    const struct structure_statement *statements =
        take_bytes(r, &at, p->n_statements * sizeof *statements);
    const struct structure_wait *waits = take_bytes(r, &at, p->n_waits * sizeof *waits);
    const struct structure_call *calls = take_bytes(r, &at, p->n_calls * sizeof *calls);
    r->is_good = calls && p->name_size && name[p->name_size - 1] == '\0';
    if (!r->is_good)
        return at;
    take_tables(r, p, name, scopes, statements);
    for (uint32_t i = 0; i < p->n_waits; i++)
        vec_push(&r->s->waits, waits[i]);
    for (uint32_t i = 0; i < p->n_calls; i++)
        vec_push(&r->s->calls, calls[i]);
    return at;
}

/* Whether one of the addresses lies in the fragment. */
static bool is_wanted(const struct image_fragment *fragment, const struct address_set *only)
{
    size_t i = partition_point(k, only->all.n, only->all.at[k] < fragment->begin);
    return i < only->all.n && only->all.at[i] < fragment->end;
}

/* Procedures that overlapped could take more memory than the image has. */
static void take_procedures(struct reader *r, const struct address_set *only)
{
    const struct image_fragment *fragments =
        (const struct image_fragment *)(r->bytes + r->foot->sections[IMAGE_FRAGMENTS].at);
    uint64_t last = 0, end = IMAGE_MAGIC_SIZE;
    for (size_t i = 0; r->is_good && i < r->foot->sections[IMAGE_FRAGMENTS].n; i++) {
        if (fragments[i].procedure == last || (only && !is_wanted(&fragments[i], only)))
            continue;
        last = fragments[i].procedure;
        r->is_good = last >= end;
        if (r->is_good)
            end = take_procedure(r, last);
    }
}

/* ---- order ---- */

static int by_address(const void *a, const void *b)
{
    const struct structure_statement *x = a, *y = b;
    return compare_unsigned(x->begin, y->begin);
}

static int by_begin(const void *a, const void *b)
{
    const struct structure_wait *x = a, *y = b;
    return compare_unsigned(x->begin, y->begin);
}

static void sort_addresses(struct reader *r)
{
    struct structure *s = r->s;
    vec_sort(&s->statements, by_address);
    for (size_t i = 1; i < s->statements.n; i++)
        r->is_good &= s->statements.at[i - 1].end <= s->statements.at[i].begin;
    vec_sort(&s->waits, by_begin);
    for (size_t i = 0; i < s->waits.n; i++)
        r->is_good &= s->waits.at[i].begin < s->waits.at[i].end;
}

/* ---- files ---- */

static void read_image(struct reader *r, const struct address_set *only)
{
    struct structure *s = r->s;
    r->names = strings_of(r, IMAGE_NAMES, &s->names);
    r->files = strings_of(r, IMAGE_FILES, &s->files);
    r->directories = strings_of(r, IMAGE_DIRECTORIES, &s->directories);
    r->kinds = strings_of(r, IMAGE_KINDS, &s->overhead_kinds);
    s->has_lines = r->foot->has_lines;
    s->n_units = (unsigned)r->foot->n_units;
    s->n_unoptimized = (unsigned)r->foot->n_unoptimized;
    take_all_strings(r, &r->directories);
    take_all_strings(r, &r->kinds);
    take_procedures(r, only);
    sort_addresses(r);
    free(r->names.ids);
    free(r->files.ids);
    free(r->directories.ids);
    free(r->kinds.ids);
    idmap_free(&r->functions);
}

struct structure *structure_read(const uint8_t *bytes, size_t size, const struct address_set *only)
{
    static const char magic[IMAGE_MAGIC_SIZE] = STRUCTURE_GENERATOR;
    struct reader r = {.bytes = bytes, .is_good = true};
    if (size % 8 || size < IMAGE_MAGIC_SIZE + sizeof *r.foot ||
        memcmp(bytes, magic, IMAGE_MAGIC_SIZE) != 0)
        return NULL;
    r.foot = (const struct image_foot *)(bytes + size - sizeof *r.foot);
    if (!has_good_places(r.foot, size) || r.foot->has_lines > 1 ||
        r.foot->n_units > UINT32_MAX || r.foot->n_unoptimized > r.foot->n_units)
        return NULL;
    r.s = mem_alloc(sizeof *r.s);
    read_image(&r, only);
    if (!r.is_good) {
        structure_free(r.s);
        return NULL;
    }
    structure_index(r.s);
    return r.s;
}

struct structure *structure_read_file(int fd, const struct address_set *only)
{
    struct stat status;
    const uint8_t *bytes = input_map_open(fd, &status);
    struct structure *s = bytes ? structure_read(bytes, (size_t)status.st_size, only) : NULL;
    if (bytes)
        munmap((void *)bytes, (size_t)status.st_size);
    return s;
}
