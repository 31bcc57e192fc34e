#include "hpcstruct/structure/structure-xml.h"

#include "hpcstruct/structure/xml-text.h"

#include "lib/source-names.h"
#include "lib/structure-image.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN_FILE "<unknown file>"

struct writer {
    const struct structure *from;
    struct xml_text xml;
    FILE *out;
    int error;     /* errno of the first error of the stream; 0: none */
    bool has_file; /* an F is open */
    uint32_t file; /* of it */
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

/* Writes the system calls of a procedure that may wait. */
static void write_waits(struct writer *w, const struct procedure *procedure)
{
    struct wait_ranges waits = structure_waits(w->from, procedure);
    if (waits.n)
        xml_begin_ranges(&w->xml, "w");
    for (size_t i = 0; i < waits.n; i++)
        xml_range(&w->xml, waits.at[i].begin, waits.at[i].end);
    if (waits.n)
        xml_end_ranges(&w->xml);
    vec_free(&waits);
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
        uint32_t number = structure_fragment(w->from, record->procedure, i);
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

static void write_text(struct writer *w)
{
    if (fwrite(w->xml.bytes.at, 1, w->xml.bytes.n, w->out) != w->xml.bytes.n && !w->error)
        w->error = errno;
    w->xml.bytes.n = 0;
}

static void end_file(struct writer *w)
{
    if (w->has_file)
        xml_end(&w->xml, "F");
}

static void write_next_procedure(void *context, const struct procedure_record *record)
{
    struct writer *w = context;
    if (!w->has_file || record->file != w->file) {
        end_file(w);
        xml_start(&w->xml, "F");
        xml_attribute(&w->xml, "n", file_name(w, record->file));
        w->file = record->file;
        w->has_file = true;
    }
    write_procedure(w, record);
    write_text(w);
}

/* ---- the whole ---- */

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
        autofree char *hex = mem_alloc(2 * image->build_id.size + 1);
        for (size_t i = 0; i < image->build_id.size; i++)
            snprintf(hex + 2 * i, 3, "%02x", image->build_id.at[i]);
        xml_attribute(&w->xml, "b", hex);
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

bool structure_xml_write(FILE *out, const struct structure *structure, const char *path,
                         unsigned workers)
{
    struct writer w = {.from = structure, .out = out};
    fputs("<?xml version=\"1.0\" encoding=\"US-ASCII\"?>\n", out);
    xml_start(&w.xml, "HPCToolkitStructure");
    xml_attribute(&w.xml, "version", "4.9");
    xml_attribute(&w.xml, "n", "");
    xml_start(&w.xml, "LM");
    write_module_attributes(&w, path);
    write_directories(&w);
    structure_write_procedures(structure, workers, write_next_procedure, &w);
    end_file(&w);
    xml_end(&w.xml, "LM");
    xml_end(&w.xml, "HPCToolkitStructure");
    write_text(&w);
    vec_free(&w.xml.bytes);
    if (fflush(out) != 0 && !w.error)
        w.error = errno;
    errno = w.error;
    return w.error == 0;
}
