#include "lib/kernel-symbols.h"

#include "lib/binary-search.h"
#include "lib/diag.h"
#include "lib/gzip.h"
#include "lib/safe-input.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the running kernel ---- */

/* gcc's padding before a procedure, which has a symbol of its own. */
#define PADDING "__pfx_"

/* A line is "ADDRESS TYPE NAME", with a tab and "[MODULE]" after a module's. */
static bool take_line(struct kernel_procedures *to, char *line, uint64_t start)
{
    char *end;
    uint64_t address = strtoull(line, &end, 16);
    if (address < start || end[0] != ' ' || !end[1] || !strchr("tTwW", end[1]) || end[2] != ' ')
        return false;
    char *name = end + 3;
    name[strcspn(name, "\n")] = '\0';
    char *module = strchr(name, '\t');
    if (module)
        *module = ' ';
    if (strncmp(name, PADDING, strlen(PADDING)) == 0)
        return false;
    vec_push(&to->all, (struct kernel_procedure){address - start, mem_strdup(name)});
    return true;
}

/* Modules' symbols are in no order. Of several names of one procedure, any will do, but always the same one. */
static int by_offset_and_name(const void *a, const void *b)
{
    const struct kernel_procedure *x = a, *y = b;
    int order = compare_unsigned(x->offset, y->offset);
    return order ? order : strcmp(x->name, y->name);
}

void kernel_procedures_read(struct kernel_procedures *procedures, uint64_t start)
{
    char *line = NULL, *cause = NULL;
    FILE *file = input_stream("/proc/kallsyms", &cause);
    size_t room = 0;
    while (file && getline(&line, &room, file) > 0)
        take_line(procedures, line, start);
    free(line);
    free(cause);
    if (file)
        fclose(file);
    if (procedures->all.n)
        qsort(procedures->all.at, procedures->all.n, sizeof *procedures->all.at, by_offset_and_name);
}

void kernel_procedures_free(struct kernel_procedures *procedures)
{
    for (size_t i = 0; i < procedures->all.n; i++)
        free(procedures->all.at[i].name);
    vec_free(&procedures->all);
}

/* ---- save ---- */

/* Which procedures to save: those that contain an offset; `at` NULL: all. */
struct wanted {
    const uint64_t *at;
    size_t n;
};

static bool is_wanted(const struct wanted *wanted, uint64_t begin, uint64_t end)
{
    if (!wanted->at)
        return true;
    size_t i = partition_point(k, wanted->n, wanted->at[k] < begin);
    return i < wanted->n && wanted->at[i] < end;
}

/* A procedure of which nothing says where it ends: the last one before data, or before the modules. */
#define MOST_BYTES 65536u

static void write_procedures(struct gzip *gzip, const struct kernel_procedures *procedures,
                             const struct wanted *wanted)
{
    size_t n = procedures->all.n;
    for (size_t i = 0, next; i < n; i = next) {
        uint64_t begin = procedures->all.at[i].offset, end = begin + MOST_BYTES;
        for (next = i + 1; next < n && procedures->all.at[next].offset == begin;)
            next++;
        if (next < n && procedures->all.at[next].offset < end)
            end = procedures->all.at[next].offset;
        if (!is_wanted(wanted, begin, end))
            continue;
        autofree char *line = mem_printf("%" PRIx64 " %" PRIx64 " %s\n", begin, end - begin, procedures->all.at[i].name);
        gzip_write(gzip, line, strlen(line));
    }
}

/* The caller frees. */
static char *header_of(uint64_t boot, bool is_all)
{
    return mem_printf("kernel %" PRIx64 "%s\n", boot, is_all ? " all" : "");
}

char *kernel_symbols_packed(const struct kernel_procedures *procedures, uint64_t boot, const uint64_t *offsets, size_t n,
                            size_t *size)
{
    struct gzip gzip;
    char *bytes = NULL, *header = header_of(boot, offsets == NULL);
    FILE *out = open_memstream(&bytes, size);
    if (!out)
        diag_fatal(NULL, "out of memory");
    gzip_start(&gzip, out);
    gzip_write(&gzip, header, strlen(header));
    write_procedures(&gzip, procedures, &(struct wanted){offsets, n});
    gzip_finish(&gzip);
    fclose(out);
    free(header);
    return bytes;
}

/* ---- read ---- */

/* Reads "OFFSET SIZE NAME"; the line ends with a newline or 0. */
static bool read_symbol(const char *line, size_t length, struct kernel_symbol *symbol)
{
    char *end;
    symbol->begin = strtoull(line, &end, 16);
    uint64_t size = *end == ' ' ? strtoull(end + 1, &end, 16) : 0;
    symbol->end = symbol->begin + size;
    if (*end != ' ' || end >= line + length || symbol->end <= symbol->begin)
        return false;
    symbol->name = end + 1;
    symbol->length = (size_t)(line + length - symbol->name);
    return symbol->length > 0;
}

bool kernel_symbols_are_all(const char *text, uint64_t boot)
{
    autofree char *header = header_of(boot, true);
    const char *found = text;
    while ((found = strstr(found, header)) && found > text && found[-1] != '\n')
        found++;
    return found;
}

void kernel_symbols_visit(const char *text, size_t size, uint64_t boot,
                          void (*visit)(void *data, const struct kernel_symbol *symbol), void *data)
{
    static const char header[] = "kernel ";
    bool is_of_boot = false;
    struct kernel_symbol symbol;
    for (const char *at = text, *end = text + size, *next; at < end; at = next) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((newline ? newline : end) - at);
        next = newline ? newline + 1 : end;
        if (length > strlen(header) && strncmp(at, header, strlen(header)) == 0)
            is_of_boot = strtoull(at + strlen(header), NULL, 16) == boot;
        else if (is_of_boot && read_symbol(at, length, &symbol))
            visit(data, &symbol);
    }
}
