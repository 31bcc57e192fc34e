#include "hpcstruct/structure/image-writer.h"

#include "lib/source-names.h"
#include "lib/structure-image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct image_writer {
    const struct structure *from;
    FILE *out;
    int error;   /* errno of the first error of the stream; 0: none */
    uint64_t at; /* number of bytes written */
    struct image_foot foot;
    VEC(struct image_fragment) fragments;
    struct strtab kinds;
    /* Of the current procedure. */
    const struct procedure_scopes *tree;
    VEC(struct image_scope) scopes;
    VEC(struct structure_statement) statements;
    VEC(struct structure_call) calls;
};

/* ---- bytes ---- */

/* Writes bytes, and zeros up to a multiple of 8. */
static void write_bytes(struct image_writer *w, const void *bytes, size_t size)
{
    static const char zeros[8];
    size_t padding = image_aligned(size) - size;
    if ((size && fwrite(bytes, size, 1, w->out) != 1) ||
        (padding && fwrite(zeros, padding, 1, w->out) != 1))
        w->error = w->error ? w->error : errno;
    w->at += size + padding;
}

static void write_section(struct image_writer *w, enum image_section section, const void *bytes,
                          size_t n)
{
    w->foot.sections[section].at = w->at;
    w->foot.sections[section].n = n;
    write_bytes(w, bytes, n * image_element_size(section));
}

static void write_strings(struct image_writer *w, enum image_section section,
                          const struct strtab *from)
{
    autofree VEC(uint64_t) starts = {0};
    autofree VEC(char) text = {0};
    for (uint32_t i = 0; i < from->count; i++) {
        size_t size = strlen(from->strings[i]) + 1;
        vec_push(&starts, text.n);
        vec_reserve(&text, size);
        memcpy(text.at + text.n, from->strings[i], size);
        text.n += size;
    }
    write_section(w, section, starts.at, starts.n);
    write_section(w, section + 1, text.at, text.n);
}

/* ---- the scopes of a procedure ---- */

/* What the elements in a scope inherit. */
struct place {
    uint32_t scope;    /* number */
    uint32_t file;     /* for statements without their own */
    uint32_t overhead; /* kind of the innermost tagged procedure */
};

static const char *tag_of(const struct image_writer *w, uint32_t file)
{
    return file == DEBUG_NONE ? NULL : overhead_kind(strtab_string(&w->from->info->files, file));
}

static void add_scopes(struct image_writer *w, const struct scope *parent, struct place place);

static void add_inlined(struct image_writer *w, const struct scope *scope, struct place place)
{
    const struct debug_function *function = &w->from->info->functions.at[scope->function];
    const char *of_function = tag_of(w, function->file);
    const char *kind = of_function ? of_function : tag_of(w, scope->file);
    vec_push(&w->scopes,
             (struct image_scope){
                 .kind = SCOPE_INLINED,
                 .parent = place.scope,
                 .name = function->name,
                 .file = function->file,
                 .line = function->line,
                 .call_file = scope->file == DEBUG_NONE ? place.file : scope->file,
                 .call_line = scope->line,
             });
    const struct place inside = {(uint32_t)w->scopes.n, function->file,
                                 kind ? strtab_id(&w->kinds, kind) : place.overhead};
    add_scopes(w, scope, inside);
}

static void add_loop(struct image_writer *w, const struct scope *scope, struct place place)
{
    uint32_t file = scope->file == DEBUG_NONE ? place.file : scope->file;
    vec_push(&w->scopes, (struct image_scope){
                             .kind = SCOPE_LOOP,
                             .parent = place.scope,
                             .file = file,
                             .line = scope->line,
                             .pauses = scope->pauses,
                             .address = scope->address,
                         });
    const struct place inside = {(uint32_t)w->scopes.n, file, place.overhead};
    add_scopes(w, scope, inside);
}

/* A tagged statement has the line of its tag, in the file of the scope around it. */
static void add_statement(struct image_writer *w, const struct scope *scope, struct place place)
{
    const char *kind = tag_of(w, scope->file);
    struct structure_statement statement = {
        .scope = place.scope,
        .file = kind || scope->file == DEBUG_NONE ? place.file : scope->file,
        .line = scope->line,
        .overhead = kind ? strtab_id(&w->kinds, kind) : place.overhead,
    };
    if (statement.file == DEBUG_NONE)
        statement.line = 0;
    w->foot.has_lines |= statement.line != 0;
    for (uint32_t i = scope->first_range; i != NO_RANGE; i = w->tree->ranges[i].next) {
        statement.begin = w->tree->ranges[i].begin;
        statement.end = w->tree->ranges[i].end;
        vec_push(&w->statements, statement);
    }
}

static void add_call(struct image_writer *w, const struct scope *scope)
{
    if (scope->target != NO_TARGET)
        vec_push(&w->calls,
                 (struct structure_call){scope->address + scope->length - 1, scope->target});
}

static void add_scopes(struct image_writer *w, const struct scope *parent, struct place place)
{
    for (uint32_t i = parent->first_child; i != NO_SCOPE; i = w->tree->scopes[i].next) {
        const struct scope *scope = &w->tree->scopes[i];
        switch ((enum scope_kind)scope->kind) {
        case SCOPE_PROCEDURE: break;
        case SCOPE_INLINED: add_inlined(w, scope, place); break;
        case SCOPE_LOOP: add_loop(w, scope, place); break;
        case SCOPE_STATEMENT: add_statement(w, scope, place); break;
        case SCOPE_CALL: add_call(w, scope); break;
        }
    }
}

/* ---- procedures ---- */

static void add_fragments(struct image_writer *w, const struct procedure *procedure)
{
    for (uint32_t i = 0; i < procedure->fragment_count; i++) {
        uint32_t number = structure_fragment(w->from, procedure, i);
        const struct code_fragment *of = &w->from->code->map.fragments.at[number];
        vec_push(&w->fragments, (struct image_fragment){of->begin, of->end, w->at});
    }
}

static void write_procedure(void *context, const struct procedure_record *record)
{
    struct image_writer *w = context;
    const char *kind = tag_of(w, record->file);
    struct wait_ranges waits = structure_waits(w->from, record->procedure);
    w->tree = &record->scopes;
    w->scopes.n = w->statements.n = w->calls.n = 0;
    const struct place inside = {0, record->file, kind ? strtab_id(&w->kinds, kind) : STRUCTURE_NONE};
    add_scopes(w, &record->scopes.scopes[0], inside);
    const struct image_procedure head = {
        .entry = w->from->code->map.fragments.at[structure_fragment(w->from, record->procedure, 0)].begin,
        .name_size = (uint32_t)strlen(record->name) + 1,
        .file = record->file,
        .line = record->line,
        .n_scopes = (uint32_t)w->scopes.n,
        .n_statements = (uint32_t)w->statements.n,
        .n_waits = (uint32_t)waits.n,
        .n_calls = (uint32_t)w->calls.n,
    };
    add_fragments(w, record->procedure);
    write_bytes(w, &head, sizeof head);
    write_bytes(w, record->name, head.name_size);
    write_bytes(w, w->scopes.at, w->scopes.n * sizeof *w->scopes.at);
    write_bytes(w, w->statements.at, w->statements.n * sizeof *w->statements.at);
    write_bytes(w, waits.at, waits.n * sizeof *waits.at);
    write_bytes(w, w->calls.at, w->calls.n * sizeof *w->calls.at);
    vec_free(&waits);
}

/* ---- the whole ---- */

bool structure_image_write(FILE *out, const struct structure *structure, unsigned workers)
{
    static const char magic[IMAGE_MAGIC_SIZE] = STRUCTURE_GENERATOR;
    const struct debug_info *info = structure->info;
    struct image_writer w = {.from = structure,
                             .out = out,
                             .foot = {.has_lines = info->names_lines,
                                      .n_units = info->n_unoptimized ? info->n_units : 0,
                                      .n_unoptimized = info->n_unoptimized}};
    write_bytes(&w, magic, sizeof magic);
    structure_write_procedures(structure, workers, write_procedure, &w);
    write_section(&w, IMAGE_FRAGMENTS, w.fragments.at, w.fragments.n);
    write_strings(&w, IMAGE_NAMES, &info->names);
    write_strings(&w, IMAGE_FILES, &info->files);
    write_strings(&w, IMAGE_DIRECTORIES, &info->directories);
    write_strings(&w, IMAGE_KINDS, &w.kinds);
    write_bytes(&w, &w.foot, sizeof w.foot);
    vec_free(&w.fragments);
    vec_free(&w.scopes);
    vec_free(&w.statements);
    vec_free(&w.calls);
    strtab_free(&w.kinds);
    if (fflush(out) != 0 && !w.error)
        w.error = errno;
    errno = w.error;
    return w.error == 0;
}
