#include "tests/unit/hpcprof/made_image.h"

#include "lib/hash-tables.h"
#include "lib/alloc.h"

#include <stdlib.h>
#include <string.h>

static struct {
    VEC(uint8_t) bytes;
    VEC(struct image_fragment) fragments;
    struct strtab names, files, directories, kinds;
    struct image_procedure head;
    const char *name; /* of the open procedure; NULL: none is open */
    VEC(struct image_scope) scopes;
    VEC(struct structure_statement) statements;
    VEC(struct structure_wait) waits;
    VEC(struct structure_call) calls;
    struct image_foot foot;
} made;

static void add(const void *bytes, size_t size)
{
    size_t room = image_aligned(size);
    vec_reserve(&made.bytes, room);
    memset(made.bytes.at + made.bytes.n, 0, room);
    if (size)
        memcpy(made.bytes.at + made.bytes.n, bytes, size);
    made.bytes.n += room;
}

static uint32_t id_of(struct strtab *table, const char *text)
{
    return text ? strtab_id(table, text) : STRUCTURE_NONE;
}

void made_image_begin(void)
{
    static const char magic[IMAGE_MAGIC_SIZE] = STRUCTURE_GENERATOR;
    made_image_free();
    add(magic, sizeof magic);
    made.foot.has_lines = 1;
    made.foot.n_units = 2;
    made.foot.n_unoptimized = 1;
}

static void end_procedure(void)
{
    if (!made.name)
        return;
    made.head.name_size = (uint32_t)strlen(made.name) + 1;
    made.head.n_scopes = (uint32_t)made.scopes.n;
    made.head.n_statements = (uint32_t)made.statements.n;
    made.head.n_waits = (uint32_t)made.waits.n;
    made.head.n_calls = (uint32_t)made.calls.n;
    add(&made.head, sizeof made.head);
    add(made.name, made.head.name_size);
    add(made.scopes.at, made.scopes.n * sizeof *made.scopes.at);
    add(made.statements.at, made.statements.n * sizeof *made.statements.at);
    add(made.waits.at, made.waits.n * sizeof *made.waits.at);
    add(made.calls.at, made.calls.n * sizeof *made.calls.at);
    made.scopes.n = made.statements.n = made.waits.n = made.calls.n = 0;
    made.name = NULL;
}

void made_procedure(const char *name, const char *file, uint32_t line, uint64_t entry)
{
    end_procedure();
    made.name = name;
    made.head = (struct image_procedure){
        .entry = entry, .file = id_of(&made.files, file), .line = line};
}

void made_fragment(uint64_t begin, uint64_t end)
{
    vec_push(&made.fragments, (struct image_fragment){begin, end, made.bytes.n});
}

uint32_t made_loop(uint32_t parent, const char *file, uint32_t line, uint64_t header)
{
    vec_push(&made.scopes, (struct image_scope){.kind = SCOPE_LOOP,
                                                .parent = parent,
                                                .file = id_of(&made.files, file),
                                                .line = line,
                                                .pauses = 1,
                                                .address = header});
    return (uint32_t)made.scopes.n;
}

uint32_t made_inlined(uint32_t parent, const char *call_file, uint32_t call_line, const char *name,
                      const char *file, uint32_t line)
{
    vec_push(&made.scopes, (struct image_scope){.kind = SCOPE_INLINED,
                                                .parent = parent,
                                                .name = id_of(&made.names, name),
                                                .file = id_of(&made.files, file),
                                                .line = line,
                                                .call_file = id_of(&made.files, call_file),
                                                .call_line = call_line});
    return (uint32_t)made.scopes.n;
}

void made_statement(uint32_t scope, const char *file, uint32_t line, uint64_t begin, uint64_t end,
                    const char *kind)
{
    vec_push(&made.statements,
             (struct structure_statement){begin, end, scope, id_of(&made.files, file), line,
                                          id_of(&made.kinds, kind)});
}

void made_wait(uint64_t begin, uint64_t end)
{
    vec_push(&made.waits, (struct structure_wait){begin, end});
}

void made_call(uint64_t address, uint64_t target)
{
    vec_push(&made.calls, (struct structure_call){address, target});
}

void made_directory(const char *path)
{
    strtab_id(&made.directories, path);
}

static void add_section(enum image_section section, const void *bytes, size_t n)
{
    made.foot.sections[section].at = made.bytes.n;
    made.foot.sections[section].n = n;
    add(bytes, n * image_element_size(section));
}

static void add_strings(enum image_section section, const struct strtab *table)
{
    VEC(uint64_t) starts = {0};
    VEC(char) text = {0};
    for (size_t i = 0; i < table->count; i++) {
        vec_push(&starts, text.n);
        for (const char *at = table->strings[i]; at == table->strings[i] || at[-1]; at++)
            vec_push(&text, *at);
    }
    add_section(section, starts.at, starts.n);
    add_section(section + 1, text.at, text.n);
    vec_free(&starts);
    vec_free(&text);
}

const uint8_t *made_image(size_t *size)
{
    end_procedure();
    add_section(IMAGE_FRAGMENTS, made.fragments.at, made.fragments.n);
    add_strings(IMAGE_NAMES, &made.names);
    add_strings(IMAGE_FILES, &made.files);
    add_strings(IMAGE_DIRECTORIES, &made.directories);
    add_strings(IMAGE_KINDS, &made.kinds);
    add(&made.foot, sizeof made.foot);
    *size = made.bytes.n;
    return made.bytes.at;
}

void made_image_free(void)
{
    vec_free(&made.bytes);
    vec_free(&made.fragments);
    vec_free(&made.scopes);
    vec_free(&made.statements);
    vec_free(&made.waits);
    vec_free(&made.calls);
    strtab_free(&made.names);
    strtab_free(&made.files);
    strtab_free(&made.directories);
    strtab_free(&made.kinds);
    made.name = NULL;
}
