#include "hpcstruct/structure/structure-xml.h"

#include "hpcstruct/structure/xml-text.h"

#include "lib/parallel.h"
#include "lib/source-names.h"
#include "lib/structure-cache.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of the instruction `syscall`. */
#define SYSCALL_SIZE 2

#define UNKNOWN_FILE "<unknown file>"

/* Elements around an F: the document's and LM. */
#define DEPTH_OF_FILES 2

struct writer {
    const struct structure *from;
    struct xml_text xml;
};

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
        xml_attribute(&w->xml, "o", kind);
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
    xml_start(&w->xml, "S");
    xml_number(&w->xml, "l", scope->line);
    if (scope->file != file && scope->file != DEBUG_NONE && !kind)
        xml_attribute(&w->xml, "f", file_name(w, scope->file));
    xml_begin_ranges(&w->xml, "v");
    for (uint32_t i = scope->first_range; i != NO_RANGE; i = scopes->ranges[i].next)
        xml_range(&w->xml, scopes->ranges[i].begin, scopes->ranges[i].end);
    xml_end_ranges(&w->xml);
    tag_attribute(w, kind);
    xml_end(&w->xml, "S");
}

static void write_call(struct writer *w, const struct scope *scope)
{
    xml_start(&w->xml, "C");
    xml_number(&w->xml, "l", scope->line);
    xml_begin_ranges(&w->xml, "v");
    xml_range(&w->xml, scope->address, scope->address + scope->length);
    xml_end_ranges(&w->xml);
    if (scope->target != NO_TARGET)
        xml_address(&w->xml, "t", scope->target);
    xml_end(&w->xml, "C");
}

static void write_loop(struct writer *w, const struct procedure_scopes *scopes,
                       const struct scope *scope, uint32_t file)
{
    if (scope->file != DEBUG_NONE)
        file = scope->file;
    xml_start(&w->xml, "L");
    xml_number(&w->xml, "l", scope->line);
    xml_attribute(&w->xml, "f", file_name(w, file));
    xml_begin_ranges(&w->xml, "v");
    xml_range(&w->xml, scope->address, scope->address + 1);
    xml_end_ranges(&w->xml);
    if (scope->pauses)
        xml_attribute(&w->xml, "w", "pause");
    write_children(w, scopes, scope, file);
    xml_end(&w->xml, "L");
}

static void write_inlined(struct writer *w, const struct procedure_scopes *scopes,
                          const struct scope *scope, uint32_t file)
{
    const struct debug_function *function = &w->from->info->functions.at[scope->function];
    xml_start(&w->xml, "A");
    xml_number(&w->xml, "l", scope->line);
    xml_attribute(&w->xml, "f", file_name(w, scope->file == DEBUG_NONE ? file : scope->file));
    xml_attribute(&w->xml, "n", "");
    xml_attribute(&w->xml, "v", "{}");
    xml_start(&w->xml, "A");
    xml_number(&w->xml, "l", function->line);
    xml_attribute(&w->xml, "f", file_name(w, function->file));
    xml_attribute(&w->xml, "n", strtab_string(&w->from->info->names, function->name));
    xml_attribute(&w->xml, "v", "{}");
    const char *kind = tag_of(w, function->file);
    tag_attribute(w, kind ? kind : tag_of(w, scope->file));
    write_children(w, scopes, scope, function->file);
    xml_end(&w->xml, "A");
    xml_end(&w->xml, "A");
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
                xml_begin_ranges(&w->xml, "w");
            xml_range(&w->xml, at, at + SYSCALL_SIZE + 1);
            has_any = true;
        }
    }
    if (has_any)
        xml_end_ranges(&w->xml);
}

static void write_procedure(struct writer *w, const struct procedure_record *record)
{
    const struct module_code *code = w->from->code;
    xml_start(&w->xml, "P");
    xml_attribute(&w->xml, "n", record->name);
    if (record->linkage_name)
        xml_attribute(&w->xml, "ln", record->linkage_name);
    xml_number(&w->xml, "l", record->line);
    xml_begin_ranges(&w->xml, "v");
    for (uint32_t i = 0; i < record->procedure->fragment_count; i++) {
        uint32_t number = code->procedures.fragments.at[record->procedure->first_fragment + i];
        xml_range(&w->xml, code->map.fragments.at[number].begin,
                  code->map.fragments.at[number].end);
    }
    xml_end_ranges(&w->xml);
    write_waits(w, record->procedure);
    tag_attribute(w, tag_of(w, record->file));
    write_children(w, &record->scopes, &record->scopes.scopes[0], record->file);
    xml_end(&w->xml, "P");
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

/* The procedures to write, *count of them, in the order of the document. The caller frees. */
static struct document_entry *sorted_procedures(const struct structure *from, size_t *count)
{
    size_t most = from->code->procedures.all.n;
    struct document_entry *entries = mem_alloc(most * sizeof *entries);
    *count = 0;
    for (uint32_t i = 0; i < most; i++) {
        uint32_t file = from->procedures[i].file;
        if (from->is_wanted && !from->is_wanted[i])
            continue;
        const char *name = file == DEBUG_NONE ? NULL : strtab_string(&from->info->files, file);
        entries[(*count)++] = (struct document_entry){name, i};
    }
    qsort(entries, *count, sizeof *entries, by_file);
    return entries;
}

/* ---- parts of the document, written at the same time ---- */

/* The steps of a part: its procedures are built; its elements are numbered, after those of the parts
 * before it; its text is made; the text is written to the stream. */

/* Procedures of a part. */
#define PART_SIZE 16
/* Number of parts, for each worker, that are in memory at once. Some procedures take as long as
 * hundreds of others: with fewer parts, the other workers would wait for these more often. */
#define PARTS_AHEAD 32
/* Bytes that a part leaves to the next part in its place. Without this limit, each of the places
 * would keep as many as its longest text took. */
#define KEPT_TEXT (64 << 10)

/* The stream, and its first error. */
struct output {
    FILE *out;
    int error; /* errno; 0: none */
};

struct part_writer {
    const struct structure *from;
    const struct document_entry *entries;
    size_t count;        /* of entries */
    uint32_t next_index; /* number of the first element of the part that is numbered next */
    struct output *output;
    size_t places;         /* number of parts that are in memory at once */
    struct writer texts[]; /* of part i: at i modulo `places` */
};

static struct writer *text_of(struct part_writer *p, size_t part)
{
    return &p->texts[part % p->places];
}

static bool begins_file(const struct part_writer *p, size_t i)
{
    return i == 0 || !same_file(&p->entries[i - 1], &p->entries[i]);
}

static bool ends_file(const struct part_writer *p, size_t i)
{
    return i + 1 == p->count || !same_file(&p->entries[i], &p->entries[i + 1]);
}

static size_t end_of_part(const struct part_writer *p, size_t begin)
{
    return begin + PART_SIZE < p->count ? begin + PART_SIZE : p->count;
}

static void build_part(void *context, unsigned worker, size_t part)
{
    struct part_writer *p = context;
    size_t begin = part * PART_SIZE;
    for (size_t i = begin; i < end_of_part(p, begin); i++)
        p->from->build(p->from->context, worker, p->entries[i].number);
}

/* The number of elements of a procedure. */
static uint32_t count_elements(const struct procedure_scopes *scopes)
{
    uint32_t count = scopes->scope_count;
    for (uint32_t i = 0; i < scopes->scope_count; i++)
        count += scopes->scopes[i].kind == SCOPE_INLINED; /* a pair */
    return count;
}

static void number_part(void *context, size_t part)
{
    struct part_writer *p = context;
    size_t begin = part * PART_SIZE;
    text_of(p, part)->xml.next_index = p->next_index;
    for (size_t i = begin; i < end_of_part(p, begin); i++)
        p->next_index +=
            begins_file(p, i) + count_elements(&p->from->procedures[p->entries[i].number].scopes);
}

/* Works on a copy of the writer: those of other parts are in the same cache lines. */
static void make_text(void *context, unsigned worker, size_t part)
{
    struct part_writer *p = context;
    struct writer w = *text_of(p, part);
    size_t begin = part * PART_SIZE;
    (void)worker;
    w.from = p->from;
    w.xml.depth = DEPTH_OF_FILES + !begins_file(p, begin);
    for (size_t i = begin; i < end_of_part(p, begin); i++) {
        struct procedure_record *record = &p->from->procedures[p->entries[i].number];
        if (begins_file(p, i)) {
            xml_start(&w.xml, "F");
            xml_attribute(&w.xml, "n", p->entries[i].file ? p->entries[i].file : UNKNOWN_FILE);
        }
        write_procedure(&w, record);
        procedure_record_free(record);
        if (ends_file(p, i))
            xml_end(&w.xml, "F");
    }
    *text_of(p, part) = w;
}

static void write_text(struct output *output, struct xml_text *xml)
{
    if (fwrite(xml->bytes.at, 1, xml->bytes.n, output->out) != xml->bytes.n && !output->error)
        output->error = errno;
    xml->bytes.n = 0;
    if (xml->bytes.cap > KEPT_TEXT)
        vec_free(&xml->bytes);
}

static void write_part(void *context, size_t part)
{
    struct part_writer *p = context;
    write_text(p->output, &text_of(p, part)->xml);
}

static void write_files(struct output *output, struct writer *w, unsigned workers)
{
    static const struct parallel_steps steps = {build_part, number_part, make_text, write_part};
    size_t places = (size_t)workers * PARTS_AHEAD;
    struct part_writer *p = mem_alloc(sizeof *p + places * sizeof *p->texts);
    struct document_entry *entries = sorted_procedures(w->from, &p->count);
    p->from = w->from;
    p->entries = entries;
    p->next_index = w->xml.next_index;
    p->output = output;
    p->places = places;
    parallel_in_steps((p->count + PART_SIZE - 1) / PART_SIZE, workers, places, &steps, p);
    for (size_t i = 0; i < places; i++)
        vec_free(&p->texts[i].xml.bytes);
    free(entries);
    free(p);
}

/* ---- the whole ---- */

void procedure_record_free(struct procedure_record *record)
{
    free(record->name);
    free(record->linkage_name);
    procedure_scopes_free(&record->scopes);
    record->name = record->linkage_name = NULL;
    record->scopes = (struct procedure_scopes){0};
}

static void write_directories(struct writer *w)
{
    const struct strtab *directories = &w->from->info->directories;
    for (uint32_t i = 0; i < directories->count; i++) {
        xml_start(&w->xml, "D");
        xml_attribute(&w->xml, "n", strtab_string(directories, i));
        xml_end(&w->xml, "D");
    }
}

/* "3/10": 3 of the 10 units whose compiler records its options were compiled without optimization.
 */
static void write_optimization(struct writer *w)
{
    const struct debug_info *info = w->from->info;
    char text[2 * 10 + 2];
    if (!info || info->n_unoptimized == 0)
        return;
    snprintf(text, sizeof text, "%" PRIu32 "/%" PRIu32, info->n_unoptimized, info->n_units);
    xml_attribute(&w->xml, "u", text);
}

/* "12/4000": 12 of the 4000 procedures follow. */
static void write_selection(struct writer *w)
{
    size_t count = w->from->code->procedures.all.n, wanted = 0;
    char text[2 * 20 + 2];
    if (!w->from->is_wanted)
        return;
    for (size_t i = 0; i < count; i++)
        wanted += w->from->is_wanted[i];
    snprintf(text, sizeof text, "%zu/%zu", wanted, count);
    xml_attribute(&w->xml, "s", text);
}

static void write_module_attributes(struct writer *w, const char *path)
{
    const struct elf_image *image = w->from->code->image;
    xml_attribute(&w->xml, "n", path);
    if (image->build_id.size) {
        char *hex = mem_alloc(2 * image->build_id.size + 1);
        for (size_t i = 0; i < image->build_id.size; i++)
            snprintf(hex + 2 * i, 3, "%02x", image->build_id.at[i]);
        xml_attribute(&w->xml, "b", hex);
        free(hex);
    }
    xml_begin_ranges(&w->xml, "v");
    xml_range(&w->xml, image->code.at[0].begin, image->code.at[image->code.n - 1].end);
    xml_end_ranges(&w->xml);
    xml_attribute(&w->xml, "g", STRUCTURE_GENERATOR);
    if (w->from->info->names_lines)
        xml_attribute(&w->xml, "d", "lines");
    write_optimization(w);
    write_selection(w);
}

bool structure_write(FILE *out, const struct structure *structure, const char *path,
                     unsigned workers)
{
    struct writer w = {.from = structure};
    struct output output = {.out = out};
    fputs("<?xml version=\"1.0\" encoding=\"US-ASCII\"?>\n", out);
    xml_start(&w.xml, "HPCToolkitStructure");
    xml_attribute(&w.xml, "version", "4.9");
    xml_attribute(&w.xml, "n", "");
    xml_start(&w.xml, "LM");
    write_module_attributes(&w, path);
    write_directories(&w);
    xml_end_tag(&w.xml);
    assert(w.xml.depth == DEPTH_OF_FILES);
    write_text(&output, &w.xml);
    write_files(&output, &w, workers);
    xml_end(&w.xml, "LM");
    xml_end(&w.xml, "HPCToolkitStructure");
    write_text(&output, &w.xml);
    vec_free(&w.xml.bytes);
    if (fflush(out) != 0 && !output.error)
        output.error = errno;
    errno = output.error;
    return output.error == 0;
}
