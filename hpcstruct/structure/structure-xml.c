#include "hpcstruct/structure/structure-xml.h"

#include "lib/source-names.h"
#include "lib/structure-cache.h"

#include <errno.h>
#include <inttypes.h>
#include <libxml/xmlwriter.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the instruction `syscall`. */
#define SYSCALL_SIZE 2

#define UNKNOWN_FILE "<unknown file>"

struct writer {
    xmlTextWriter *xml;
    const struct structure *from;
    uint32_t next_index;
    VEC(char) text; /* the list of address ranges that is being made */
};

/* ---- elements and attributes ---- */

/* Write errors are recorded by the stream (struct output). */
static void attribute(struct writer *w, const char *name, const char *value)
{
    xmlTextWriterWriteAttribute(w->xml, (const xmlChar *)name, (const xmlChar *)value);
}

static void number_attribute(struct writer *w, const char *name, uint64_t value)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu64, value);
    attribute(w, name, text);
}

static void start(struct writer *w, const char *element)
{
    xmlTextWriterStartElement(w->xml, (const xmlChar *)element);
    number_attribute(w, "i", w->next_index++);
}

static void end(struct writer *w)
{
    xmlTextWriterEndElement(w->xml);
}

static void begin_ranges(struct writer *w)
{
    w->text.n = 0;
    vec_push(&w->text, '{');
}

static void add_range(struct writer *w, uint64_t begin, uint64_t range_end)
{
    char text[64];
    int length = snprintf(text, sizeof text, "%s[0x%" PRIx64 "-0x%" PRIx64 ")",
                          w->text.n > 1 ? " " : "", begin, range_end);
    vec_reserve(&w->text, (size_t)length);
    memcpy(w->text.at + w->text.n, text, (size_t)length);
    w->text.n += (size_t)length;
}

static void end_ranges(struct writer *w, const char *name)
{
    vec_push(&w->text, '}');
    vec_push(&w->text, '\0');
    attribute(w, name, w->text.at);
}

static const char *file_name(const struct writer *w, uint32_t file)
{
    return file == DEBUG_NONE ? UNKNOWN_FILE : strtab_string(&w->from->info->files, file);
}

static const char *tag_of(const struct writer *w, uint32_t file)
{
    return file == DEBUG_NONE ? NULL : overhead_kind(file_name(w, file));
}

static void tag_attribute(struct writer *w, const char *kind)
{
    if (kind)
        attribute(w, "o", kind);
}

/* ---- scopes ---- */

static void write_children(struct writer *w, const struct procedure_scopes *scopes,
                           const struct scope *parent, uint32_t file);

/* `file` is that of the enclosing scope. A statement names its own file if that is another one and
 * no overhead tag. */
static void write_statement(struct writer *w, const struct procedure_scopes *scopes,
                            const struct scope *scope, uint32_t file)
{
    const char *kind = tag_of(w, scope->file);
    start(w, "S");
    number_attribute(w, "l", scope->line);
    if (scope->file != file && scope->file != DEBUG_NONE && !kind)
        attribute(w, "f", file_name(w, scope->file));
    begin_ranges(w);
    for (uint32_t i = scope->first_range; i != NO_RANGE; i = scopes->ranges[i].next)
        add_range(w, scopes->ranges[i].begin, scopes->ranges[i].end);
    end_ranges(w, "v");
    tag_attribute(w, kind);
    end(w);
}

static void write_call(struct writer *w, const struct scope *scope)
{
    start(w, "C");
    number_attribute(w, "l", scope->line);
    begin_ranges(w);
    add_range(w, scope->address, scope->address + scope->length);
    end_ranges(w, "v");
    if (scope->target != NO_TARGET) {
        char text[24];
        snprintf(text, sizeof text, "0x%" PRIx64, scope->target);
        attribute(w, "t", text);
    }
    end(w);
}

static void write_loop(struct writer *w, const struct procedure_scopes *scopes,
                       const struct scope *scope, uint32_t file)
{
    if (scope->file != DEBUG_NONE)
        file = scope->file;
    start(w, "L");
    number_attribute(w, "l", scope->line);
    attribute(w, "f", file_name(w, file));
    begin_ranges(w);
    add_range(w, scope->address, scope->address + 1);
    end_ranges(w, "v");
    if (scope->pauses)
        attribute(w, "w", "pause");
    write_children(w, scopes, scope, file);
    end(w);
}

static void write_inlined(struct writer *w, const struct procedure_scopes *scopes,
                          const struct scope *scope, uint32_t file)
{
    const struct debug_function *function = &w->from->info->functions.at[scope->function];
    start(w, "A");
    number_attribute(w, "l", scope->line);
    attribute(w, "f", file_name(w, scope->file == DEBUG_NONE ? file : scope->file));
    attribute(w, "n", "");
    attribute(w, "v", "{}");
    start(w, "A");
    number_attribute(w, "l", function->line);
    attribute(w, "f", file_name(w, function->file));
    attribute(w, "n", strtab_string(&w->from->info->names, function->name));
    attribute(w, "v", "{}");
    const char *kind = tag_of(w, function->file);
    tag_attribute(w, kind ? kind : tag_of(w, scope->file));
    write_children(w, scopes, scope, function->file);
    end(w);
    end(w);
}

static void write_children(struct writer *w, const struct procedure_scopes *scopes,
                           const struct scope *parent, uint32_t file)
{
    for (uint32_t i = parent->first_child; i != NO_SCOPE; i = scopes->scopes[i].next) {
        const struct scope *scope = &scopes->scopes[i];
        switch ((enum scope_kind)scope->kind) {
        case SCOPE_PROCEDURE: break;
        case SCOPE_INLINED: write_inlined(w, scopes, scope, file); break;
        case SCOPE_LOOP: write_loop(w, scopes, scope, file); break;
        case SCOPE_STATEMENT: write_statement(w, scopes, scope, file); break;
        case SCOPE_CALL: write_call(w, scope); break;
        }
    }
}

/* Writes the system calls of a procedure that may wait. A sample taken in the kernel has the
 * address of the system call if that is restarted, else the address after it: each range extends
 * from the first byte of the system call to the first byte after it, inclusive. */
static void write_waits(struct writer *w, const struct procedure *procedure)
{
    const struct module_code *code = w->from->code;
    bool has_any = false;
    for (uint32_t i = 0; i < procedure->fragment_count; i++) {
        uint32_t number = code->procedures.fragments.at[procedure->first_fragment + i];
        const struct fragment_flow *flow = &code->flows[number];
        for (size_t k = 0; k < flow->waits.n; k++) {
            uint64_t at = code->map.fragments.at[number].begin + flow->waits.at[k];
            if (!has_any)
                begin_ranges(w);
            add_range(w, at, at + SYSCALL_SIZE + 1);
            has_any = true;
        }
    }
    if (has_any)
        end_ranges(w, "w");
}

static void write_procedure(struct writer *w, const struct procedure_record *record)
{
    const struct module_code *code = w->from->code;
    start(w, "P");
    attribute(w, "n", record->name);
    if (record->linkage_name)
        attribute(w, "ln", record->linkage_name);
    number_attribute(w, "l", record->line);
    begin_ranges(w);
    for (uint32_t i = 0; i < record->procedure->fragment_count; i++) {
        uint32_t number = code->procedures.fragments.at[record->procedure->first_fragment + i];
        add_range(w, code->map.fragments.at[number].begin, code->map.fragments.at[number].end);
    }
    end_ranges(w, "v");
    write_waits(w, record->procedure);
    tag_attribute(w, tag_of(w, record->file));
    write_children(w, &record->scopes, &record->scopes.scopes[0], record->file);
    end(w);
}

/* ---- files ---- */

/* A procedure in the order of the document: by file, then by address. */
struct document_entry {
    const char *file; /* NULL: unknown; sorted last */
    uint32_t number;
};

static int by_file(const void *a, const void *b)
{
    const struct document_entry *x = a, *y = b;
    if (!x->file != !y->file)
        return x->file ? -1 : 1;
    int order = x->file ? strcmp(x->file, y->file) : 0;
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

static bool same_file(const struct document_entry *a, const struct document_entry *b)
{
    return a->file == b->file || (a->file && b->file && strcmp(a->file, b->file) == 0);
}

static void write_files(struct writer *w)
{
    const struct structure *from = w->from;
    size_t count = from->code->procedures.all.n;
    struct document_entry *entries = mem_alloc(count * sizeof *entries);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t file = from->procedures[i].file;
        entries[i].number = i;
        entries[i].file = file == DEBUG_NONE ? NULL : strtab_string(&from->info->files, file);
    }
    qsort(entries, count, sizeof *entries, by_file);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || !same_file(&entries[i - 1], &entries[i])) {
            start(w, "F");
            attribute(w, "n", entries[i].file ? entries[i].file : UNKNOWN_FILE);
        }
        write_procedure(w, &from->procedures[entries[i].number]);
        if (i + 1 == count || !same_file(&entries[i], &entries[i + 1]))
            end(w);
    }
    free(entries);
}

static void write_directories(struct writer *w)
{
    const struct strtab *directories = &w->from->info->directories;
    for (uint32_t i = 0; i < directories->count; i++) {
        start(w, "D");
        attribute(w, "n", strtab_string(directories, i));
        end(w);
    }
}

/* ---- the whole ---- */

/* "3/10": 3 of the 10 units whose compiler records its options were compiled without optimization.
 */
static void write_optimization(struct writer *w)
{
    const struct debug_info *info = w->from->info;
    char text[2 * 10 + 2];
    if (!info || info->n_unoptimized == 0)
        return;
    snprintf(text, sizeof text, "%" PRIu32 "/%" PRIu32, info->n_unoptimized, info->n_units);
    attribute(w, "u", text);
}

static void write_module(struct writer *w, const char *path)
{
    const struct elf_image *image = w->from->code->image;
    start(w, "LM");
    attribute(w, "n", path);
    if (image->build_id.size) {
        char *hex = mem_alloc(2 * image->build_id.size + 1);
        for (size_t i = 0; i < image->build_id.size; i++)
            snprintf(hex + 2 * i, 3, "%02x", image->build_id.at[i]);
        attribute(w, "b", hex);
        free(hex);
    }
    begin_ranges(w);
    add_range(w, image->code.at[0].begin, image->code.at[image->code.n - 1].end);
    end_ranges(w, "v");
    attribute(w, "g", STRUCTURE_GENERATOR);
    write_optimization(w);
    write_directories(w);
    write_files(w);
    end(w);
}

/* The stream, and its first error. libxml2 prints a message of its own if a write fails, so that
 * errors are not returned to it. */
struct output {
    FILE *out;
    int error; /* errno; 0: none */
};

static int write_output(void *context, const char *bytes, int size)
{
    struct output *output = context;
    if (!output->error && fwrite(bytes, 1, (size_t)size, output->out) != (size_t)size)
        output->error = errno;
    return size;
}

static int close_output(void *context)
{
    struct output *output = context;
    if (!output->error && fflush(output->out) != 0)
        output->error = errno;
    return 0;
}

bool structure_write(FILE *out, const struct structure *structure, const char *path)
{
    struct output output = {.out = out};
    xmlOutputBuffer *buffer = xmlOutputBufferCreateIO(write_output, close_output, &output, NULL);
    struct writer w = {.xml = buffer ? xmlNewTextWriter(buffer) : NULL, .from = structure};
    if (!w.xml) {
        errno = ENOMEM;
        return false;
    }
    xmlTextWriterSetIndent(w.xml, 1);
    /* In US-ASCII, C1 controls and characters that change the direction of text are written as
     * character references, which terminals do not interpret. */
    xmlTextWriterStartDocument(w.xml, NULL, "US-ASCII", NULL);
    start(&w, "HPCToolkitStructure");
    attribute(&w, "version", "4.9");
    attribute(&w, "n", "");
    write_module(&w, path);
    end(&w);
    xmlTextWriterEndDocument(w.xml);
    xmlFreeTextWriter(w.xml);
    vec_free(&w.text);
    errno = output.error;
    return output.error == 0;
}
