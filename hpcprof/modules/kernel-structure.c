#include "hpcprof/modules/kernel-structure.h"

#include "lib/binary-search.h"
#include "lib/diag.h"
#include "lib/gzip.h"
#include "lib/kernel-symbols.h"
#include "lib/measurement.h"

#include <stdlib.h>

/* A kernel with all its modules has about 200,000 symbols, of 12 MB. */
#define MOST_BYTES (64u << 20)

struct kernel_reader {
    const struct address_set *wanted;
    struct structure *s;
};

static bool is_wanted(const struct address_set *wanted, const struct kernel_symbol *symbol)
{
    size_t i = partition_point(k, wanted->all.n, wanted->all.at[k] < symbol->begin);
    return i < wanted->all.n && wanted->all.at[i] < symbol->end;
}

static void take_symbol(void *data, const struct kernel_symbol *symbol)
{
    struct kernel_reader *reader = data;
    struct structure *s = reader->s;
    if (!is_wanted(reader->wanted, symbol))
        return;
    autofree char *name = mem_strndup(symbol->name, symbol->length);
    struct structure_function function = {
        .name = strtab_id(&s->names, name), .file = STRUCTURE_NONE, .entry = symbol->begin};
    struct structure_scope scope = {.parent = STRUCTURE_NONE,
                                    .kind = SCOPE_PROCEDURE,
                                    .function = (uint32_t)s->functions.n,
                                    .file = STRUCTURE_NONE,
                                    .address = symbol->begin};
    struct structure_statement code = {.begin = symbol->begin,
                                       .end = symbol->end,
                                       .scope = (uint32_t)s->scopes.n,
                                       .file = STRUCTURE_NONE,
                                       .overhead = STRUCTURE_NONE};
    vec_push(&s->functions, function);
    vec_push(&s->scopes, scope);
    vec_push(&s->statements, code);
}

static void read_file(struct kernel_reader *reader, const char *path, uint64_t boot)
{
    size_t size;
    autofree char *text = gzip_read(path, MOST_BYTES, &size);
    if (text)
        kernel_symbols_visit(text, size, boot, take_symbol, reader);
    else
        diag_error(path, "damaged: the kernel's code is shown without names");
}

static void read_directory(struct kernel_reader *reader, const char *directory, uint64_t boot)
{
    struct measurement_files files = {0};
    autofree char *cause = NULL;
    measurement_list_kernels(directory, &files, &cause);
    for (size_t i = 0; i < files.paths.n; i++)
        read_file(reader, files.paths.at[i], boot);
    measurement_files_free(&files);
}

static int by_begin(const void *a, const void *b)
{
    const struct structure_statement *x = a, *y = b;
    return compare_unsigned(x->begin, y->begin);
}

/* Several processes may have saved the same procedure. */
static void drop_repeated(struct structure *s)
{
    size_t n = 0;
    vec_sort(&s->statements, by_begin);
    for (size_t i = 0; i < s->statements.n; i++)
        if (n == 0 || s->statements.at[i].begin >= s->statements.at[n - 1].end)
            s->statements.at[n++] = s->statements.at[i];
    s->statements.n = n;
}

struct structure *kernel_structure(const struct measurement_directories *directories, uint64_t boot,
                                   const struct address_set *addresses)
{
    struct kernel_reader reader = {.wanted = addresses, .s = mem_alloc(sizeof *reader.s)};
    for (size_t i = 0; i < directories->n; i++)
        read_directory(&reader, directories->at[i], boot);
    drop_repeated(reader.s);
    if (reader.s->statements.n == 0) {
        structure_free(reader.s);
        return NULL;
    }
    structure_index(reader.s);
    return reader.s;
}
