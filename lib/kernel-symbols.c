#include "lib/kernel-symbols.h"

#include "lib/alloc.h"
#include "lib/binary-search.h"
#include "lib/gzip.h"
#include "lib/safe-output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- save ---- */

/* A procedure of /proc/kallsyms. Sizes are not in it: each ends where the next one begins. */
struct procedure {
    uint64_t offset;
    char *name; /* owned */
};

struct procedures {
    VEC(struct procedure) all;
};

/* gcc's padding before a procedure, which has a symbol of its own. */
#define PADDING "__pfx_"

/* A line is "ADDRESS TYPE NAME", with a tab and "[MODULE]" after a module's. */
static bool take_line(struct procedures *to, char *line, uint64_t start)
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
    vec_push(&to->all, (struct procedure){address - start, mem_strdup(name)});
    return true;
}

/* Modules' symbols are in no order. Of several names of one procedure, any will do, but always the same one. */
static int by_offset_and_name(const void *a, const void *b)
{
    const struct procedure *x = a, *y = b;
    int order = compare_unsigned(x->offset, y->offset);
    return order ? order : strcmp(x->name, y->name);
}

static void read_procedures(struct procedures *to, uint64_t start)
{
    FILE *file = fopen("/proc/kallsyms", "re");
    char *line = NULL;
    size_t room = 0;
    while (file && getline(&line, &room, file) > 0)
        take_line(to, line, start);
    free(line);
    if (file)
        fclose(file);
    if (to->all.n)
        qsort(to->all.at, to->all.n, sizeof *to->all.at, by_offset_and_name);
}

static bool is_wanted(const struct kernel_wanted *wanted, uint64_t begin, uint64_t end)
{
    if (!wanted->offsets)
        return true;
    size_t i = partition_point(k, wanted->n, wanted->offsets[k] < begin);
    return i < wanted->n && wanted->offsets[i] < end;
}

/* A procedure of which nothing says where it ends: the last one before data, or before the modules. */
#define MOST_BYTES 65536u

static void write_procedures(struct gzip *gzip, const struct procedures *procedures,
                             const struct kernel_wanted *wanted)
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
        char *line = mem_printf("%" PRIx64 " %" PRIx64 " %s\n", begin, end - begin, procedures->all.at[i].name);
        gzip_write(gzip, line, strlen(line));
        free(line);
    }
}

static void free_procedures(struct procedures *procedures)
{
    for (size_t i = 0; i < procedures->all.n; i++)
        free(procedures->all.at[i].name);
    vec_free(&procedures->all);
}

/* The bytes to append, in one piece: other processes may append at the same time. The caller frees. */
static char *packed(const struct kernel_wanted *wanted, size_t *size)
{
    struct procedures procedures = {0};
    struct gzip gzip;
    char *bytes = NULL;
    FILE *out = open_memstream(&bytes, size);
    if (!out)
        return NULL;
    char *header = mem_printf("kernel %" PRIx64 "\n", wanted->boot);
    read_procedures(&procedures, wanted->start);
    gzip_start(&gzip, out);
    gzip_write(&gzip, header, strlen(header));
    write_procedures(&gzip, &procedures, wanted);
    gzip_finish(&gzip);
    fclose(out);
    free_procedures(&procedures);
    free(header);
    return bytes;
}

bool kernel_symbols_save(int directory, const char *name, bool shared, const struct kernel_wanted *wanted)
{
    size_t size = 0;
    int fd = openat(directory, name, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, own_file_mode(shared));
    char *bytes = fd < 0 ? NULL : packed(wanted, &size);
    bool is_written = bytes && write(fd, bytes, size) == (ssize_t)size;
    int error = errno;
    free(bytes);
    if (fd >= 0)
        close(fd);
    errno = error;
    return is_written;
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
