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

#define MOST_TEXT (256u << 20) /* 120,000 lines have 5 MB */

static uint64_t take_address(const char **at)
{
    uint64_t address = 0;
    for (;; (*at)++) {
        char c = **at;
        if (c >= '0' && c <= '9')
            address = address << 4 | (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            address = address << 4 | (uint64_t)(c - 'a' + 10);
        else
            return address;
    }
}

/* A line is "ADDRESS TYPE NAME", with a tab and "[MODULE]" after a module's. It ends with a byte 0. */
static void take_line(struct kernel_procedures *to, char *line, uint64_t start)
{
    const char *end = line;
    uint64_t address = take_address(&end);
    if (address < start || end[0] != ' ' || !end[1] || !strchr("tTwW", end[1]) || end[2] != ' ')
        return;
    char *name = line + (end - line) + 3, *module = strchr(name, '\t');
    if (module)
        *module = ' ';
    if (strncmp(name, PADDING, strlen(PADDING)) != 0)
        vec_push(&to->all, (struct kernel_procedure){address - start, name});
}

/* Modules' symbols are in no order. Of several names of one procedure, any will do, but always the same one. */
static int by_offset_and_name(const void *a, const void *b)
{
    const struct kernel_procedure *x = a, *y = b;
    int order = compare_unsigned(x->offset, y->offset);
    return order ? order : strcmp(x->name, y->name);
}

/* The kernel lists its own symbols in the order of their addresses, but for some names of one address. */
#define MOST_MOVED 64u

/* Inserts each procedure before those that it belongs before. False: one belongs further away. */
static bool sort_neighbors(struct kernel_procedure *at, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        const struct kernel_procedure its = at[i];
        size_t to = i;
        for (; to > 0 && by_offset_and_name(&at[to - 1], &its) > 0; to--) {
            if (i - to == MOST_MOVED) {
                at[to] = its;
                return false;
            }
            at[to] = at[to - 1];
        }
        at[to] = its;
    }
    return true;
}

void kernel_procedures_read(struct kernel_procedures *procedures, uint64_t start)
{
    char *cause = NULL;
    size_t size;
    procedures->text = input_read("/proc/kallsyms", MOST_TEXT, &size, &cause);
    free(cause);
    for (char *line = procedures->text, *end; line && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        take_line(procedures, line, start);
    }
    if (!sort_neighbors(procedures->all.at, procedures->all.n))
        qsort(procedures->all.at, procedures->all.n, sizeof *procedures->all.at, by_offset_and_name);
}

void kernel_procedures_free(struct kernel_procedures *procedures)
{
    free(procedures->text);
    vec_free(&procedures->all);
}

/* ---- save ---- */

/* A text that is written in memory. */
struct listing {
    FILE *out;
    char *text;
    size_t size;
};

static void begin_listing(struct listing *listing, uint64_t boot, bool is_all)
{
    listing->out = open_memstream(&listing->text, &listing->size);
    if (!listing->out)
        diag_fatal(NULL, "out of memory");
    fprintf(listing->out, "kernel %" PRIx64 "%s\n", boot, is_all ? " all" : "");
}

static void list_symbol(const struct listing *listing, const struct kernel_symbol *symbol)
{
    fprintf(listing->out, "%" PRIx64 " %" PRIx64 " %.*s\n", symbol->begin, symbol->end - symbol->begin,
            (int)symbol->length, symbol->name);
}

static char *end_listing(struct listing *listing, size_t *size)
{
    fclose(listing->out);
    *size = listing->size;
    return listing->text;
}

/* The same, compressed. */
static char *pack_listing(struct listing *listing, size_t *size)
{
    struct gzip gzip;
    size_t text_size;
    autofree char *text = end_listing(listing, &text_size);
    char *bytes = NULL;
    FILE *out = open_memstream(&bytes, size);
    if (!out)
        diag_fatal(NULL, "out of memory");
    gzip_start(&gzip, out);
    gzip_write(&gzip, text, text_size);
    gzip_finish(&gzip);
    fclose(out);
    return bytes;
}

/* A procedure of which nothing says where it ends: the last one before data, or before the modules. */
#define MOST_BYTES 65536u

/* Procedure i, of that address the first one. Returns the index of the next address. */
static size_t take_procedure(const struct kernel_procedures *procedures, size_t i, struct kernel_symbol *symbol)
{
    const struct kernel_procedure *at = procedures->all.at;
    uint64_t begin = at[i].offset, end = begin + MOST_BYTES;
    size_t n = procedures->all.n, next = i + 1;
    while (next < n && at[next].offset == begin)
        next++;
    if (next < n && at[next].offset < end)
        end = at[next].offset;
    *symbol = (struct kernel_symbol){begin, end, at[i].name, strlen(at[i].name)};
    return next;
}

static bool has_any(const struct kernel_symbol *symbol, const uint64_t *offsets, size_t n)
{
    size_t i = partition_point(k, n, offsets[k] < symbol->begin);
    return i < n && offsets[i] < symbol->end;
}

char *kernel_symbols_packed(const struct kernel_procedures *procedures, uint64_t boot, const uint64_t *offsets, size_t n,
                            size_t *size)
{
    struct listing listing;
    struct kernel_symbol symbol;
    begin_listing(&listing, boot, offsets == NULL);
    for (size_t i = 0; i < procedures->all.n;) {
        i = take_procedure(procedures, i, &symbol);
        if (!offsets || has_any(&symbol, offsets, n))
            list_symbol(&listing, &symbol);
    }
    return pack_listing(&listing, size);
}

char *kernel_symbols_listed(const struct kernel_procedures *procedures, uint64_t boot, size_t *size)
{
    struct listing listing;
    struct kernel_symbol symbol;
    begin_listing(&listing, boot, false);
    for (size_t i = 0; i < procedures->all.n;) {
        i = take_procedure(procedures, i, &symbol);
        if (symbol.length > 0 && symbol.name[symbol.length - 1] != ']')
            list_symbol(&listing, &symbol);
    }
    return end_listing(&listing, size);
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
    autofree char *header = mem_printf("kernel %" PRIx64 " all\n", boot);
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

/* ---- a list ---- */

/* The begin of the line that has this byte. */
static size_t line_at(const char *list, size_t at)
{
    const char *newline = memrchr(list, '\n', at);
    return newline ? (size_t)(newline - list) + 1 : 0;
}

/* False: no symbol contains the offset. The first line is the header. */
static bool find_symbol(const char *list, size_t size, uint64_t offset, struct kernel_symbol *found)
{
    size_t header = (size_t)((const char *)memchr(list, '\n', size) - list) + 1;
    size_t after = header + partition_point(k, size - header,
                                            strtoull(list + line_at(list, header + k), NULL, 16) <= offset);
    if (after == header)
        return false;
    const char *line = list + line_at(list, after - 1), *end = memchr(line, '\n', size - (size_t)(line - list));
    return read_symbol(line, (size_t)(end - line), found) && offset >= found->begin && offset < found->end;
}

bool kernel_symbols_are_of(const char *list, size_t list_size, uint64_t boot)
{
    autofree char *header = mem_printf("kernel %" PRIx64 "\n", boot);
    size_t length = strlen(header);
    return list_size > length && memcmp(list, header, length) == 0 && list[list_size - 1] == '\n';
}

char *kernel_symbols_found(const char *list, size_t list_size, uint64_t boot, const uint64_t *offsets, size_t n,
                           size_t *size)
{
    struct listing listing;
    struct kernel_symbol symbol = {0};
    if (!kernel_symbols_are_of(list, list_size, boot))
        return NULL;
    begin_listing(&listing, boot, false);
    for (size_t i = 0; i < n; i++) {
        if (offsets[i] < symbol.end)
            continue;
        if (!find_symbol(list, list_size, offsets[i], &symbol)) {
            free(end_listing(&listing, size));
            return NULL;
        }
        list_symbol(&listing, &symbol);
    }
    return pack_listing(&listing, size);
}
