#include "hpcstruct/structure/analyze.h"

#include "hpcstruct/code/wanted-code.h"
#include "hpcstruct/dwarf/dwarf-reader.h"
#include "hpcstruct/dwarf/go-debug-info.h"
#include "hpcstruct/elf/debug-file.h"
#include "hpcstruct/elf/names.h"
#include "hpcstruct/flow/no-return.h"
#include "hpcstruct/structure/gaps.h"
#include "hpcstruct/structure/image-writer.h"
#include "hpcstruct/structure/structure-xml.h"

#include "lib/diag.h"
#include "lib/parallel.h"
#include "lib/path.h"
#include "lib/safe-output.h"
#include "lib/source-names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- the binary ---- */

/* The file with the debug information; NULL: none. */
static const struct elf_image *debug_image(const struct binary *binary)
{
    return dwarf_is_in(binary->image) ? binary->image : binary->debug;
}

bool binary_open(struct binary *binary, const char *path, const struct analysis_options *options)
{
    char *cause = NULL;
    *binary = (struct binary){.path = path, .image = elf_open(path, &cause)};
    if (!binary->image) {
        diag_error(path, "%s", cause);
        free(cause);
        return false;
    }
    if (binary->image->damage)
        diag_error(path, "%s", binary->image->damage);
    if (!binary->image->is_linked || binary->image->code.n == 0) {
        diag_error(path, binary->image->is_linked ? "no executable code"
                                                  : "object file that is not linked");
        binary_close(binary);
        return false;
    }
    binary->debug = debug_file_open(binary->image, options->debug_directory);
    const struct elf_image *with_debug = debug_image(binary);
    if (with_debug) {
        binary->supplement = debug_file_open_supplement(with_debug, options->debug_directory);
        split_debug_open(&binary->split, with_debug, path);
    }
    return true;
}

void binary_close(struct binary *binary)
{
    elf_close(binary->image);
    elf_close(binary->debug);
    elf_close(binary->supplement);
    split_debug_close(&binary->split);
    *binary = (struct binary){0};
}

static uint64_t size_of_debug_info(const struct elf_image *image)
{
    static const char *const names[] = {".debug_info", ".debug_line"};
    uint64_t size = 0;
    for (size_t i = 0; image && i < sizeof names / sizeof *names; i++) {
        const struct elf_section *section = elf_section(image, names[i]);
        size += section ? section->stored.size : 0;
    }
    return size;
}

uint64_t binary_size(const struct binary *binary)
{
    uint64_t size = size_of_debug_info(binary->image) + size_of_debug_info(binary->debug) +
                    size_of_debug_info(binary->supplement);
    for (size_t i = 0; i < binary->image->code.n; i++)
        size += binary->image->code.at[i].end - binary->image->code.at[i].begin;
    for (size_t i = 0; i < binary->split.files.n; i++)
        size += binary->split.files.at[i]->file.size;
    return size;
}

/* ---- debug information ---- */

static void report_missing_files(const char *path, const struct split_debug *split)
{
    if (split->missing)
        diag_note(
            path,
            "its debug information is split: of %u units, %u have no .dwo or .dwp file of this "
            "build (such as %s); functions inlined in their code are not shown",
            split->skeletons, split->missing, split->first_missing);
}

static void read_debug_info(struct debug_info *info, const struct binary *binary,
                            const struct go_program *go, const struct code_ranges *wanted,
                            unsigned workers)
{
    const struct elf_image *from = debug_image(binary);
    if (!from) {
        go_debug_info_read(info, go, wanted);
        debug_info_finish(info, workers);
        return;
    }
    const struct dwarf_inputs inputs = {binary->image, from, binary->supplement, &binary->split,
                                        wanted};
    autofree char *problem = dwarf_read(info, &inputs, workers);
    if (problem)
        diag_error(from->path, "its debug information is damaged: %s", problem);
    report_missing_files(from->path, &binary->split);
}

/* ---- procedures ---- */

struct analysis {
    struct scope_sources sources;
    struct scope_builder **builders; /* per worker */
    unsigned workers;
    bool *is_wanted;                 /* per procedure; NULL: all are */
    struct procedure_record *records;
    const char *module_name; /* file name of the binary */
};

/* Finds where a procedure is declared. */
static void locate_procedure(void *context, unsigned worker, size_t index)
{
    const struct analysis *analysis = context;
    struct procedure_record *record = &analysis->records[index];
    const struct debug_info *info = analysis->sources.info;
    (void)worker;
    if (analysis->is_wanted && !analysis->is_wanted[index])
        return;
    record->procedure = &analysis->sources.code->procedures.all.at[index];
    const struct debug_function *function = debug_info_function_at(info, record->procedure->entry);
    record->file = DEBUG_NONE;
    if (function) {
        record->file = function->file;
        record->line = function->line;
    }
    uint32_t row = debug_info_line_index(info, record->procedure->entry);
    if (record->file == DEBUG_NONE && row != DEBUG_NONE) {
        record->file = info->lines.at[row].file;
        record->line = info->lines.at[row].line;
    }
}

static void name_procedure(const struct analysis *analysis, struct procedure_record *record)
{
    const struct debug_info *info = analysis->sources.info;
    const struct procedure *procedure = record->procedure;
    const struct debug_function *function = debug_info_function_at(info, procedure->entry);
    if (procedure->name)
        record->linkage_name = xml_safe_text(mem_strdup(procedure->name));
    if (procedure->name && (!function || is_demanglable(procedure->name))) {
        record->name = xml_safe_text(demangled_name(procedure->name));
    } else if (function) {
        record->name = mem_strdup(strtab_string(&info->names, function->name));
    } else {
        record->name = xml_safe_text(
            mem_printf("<%s+0x%llx>", analysis->module_name, (unsigned long long)procedure->entry));
    }
}

static void analyze_procedure(void *context, unsigned worker, uint32_t number)
{
    struct analysis *analysis = context;
    struct procedure_record *record = &analysis->records[number];
    name_procedure(analysis, record);
    record->scopes = procedure_scopes_build(analysis->builders[worker], &analysis->sources,
                                            record->procedure, record->file);
    for (uint32_t i = 0; i < record->procedure->fragment_count; i++) {
        const struct module_code *code = analysis->sources.code;
        uint32_t fragment = code->procedures.fragments.at[record->procedure->first_fragment + i];
        const struct code_fragment *of = &code->map.fragments.at[fragment];
        diag_progress_add((of->end - of->begin) / 2); /* the other half was decoding it */
    }
}

static void analyze_index(void *context, unsigned worker, size_t index)
{
    analyze_procedure(context, worker, (uint32_t)index);
}

/* Marks the procedures at some addresses. The caller frees. */
static bool *mark_wanted(const struct module_code *code, const struct address_list *addresses)
{
    bool *is_wanted = mem_alloc(code->procedures.all.n * sizeof *is_wanted);
    for (size_t i = 0; i < addresses->all.n; i++) {
        uint32_t number = procedures_find(&code->procedures, &code->map, addresses->all.at[i]);
        if (number != UINT32_MAX)
            is_wanted[number] = true;
    }
    return is_wanted;
}

static void begin_analysis(struct analysis *analysis, const struct scope_sources *sources,
                           const struct address_list *only, unsigned workers)
{
    const struct debug_info *info = sources->info;
    size_t count = sources->code->procedures.all.n;
    bool *tagged = mem_alloc(info->files.count * sizeof *tagged);
    for (size_t i = 0; i < info->files.count; i++)
        tagged[i] = overhead_kind(info->files.strings[i]) != NULL;
    *analysis = (struct analysis){
        .sources = *sources,
        .builders = mem_alloc(workers * sizeof *analysis->builders),
        .workers = workers,
        .is_wanted = only ? mark_wanted(sources->code, only) : NULL,
        .records = mem_alloc(count * sizeof *analysis->records),
        .module_name = path_base(sources->code->image->path),
    };
    analysis->sources.tagged = tagged;
    for (unsigned i = 0; i < workers; i++)
        analysis->builders[i] = scope_builder_new();
    parallel_for_many(count, workers, locate_procedure, analysis);
}

static void end_analysis(struct analysis *analysis)
{
    for (unsigned i = 0; i < analysis->workers; i++)
        scope_builder_free(analysis->builders[i]);
    for (size_t i = 0; i < analysis->sources.code->procedures.all.n; i++)
        procedure_record_free(&analysis->records[i]);
    free(analysis->builders);
    free(analysis->records);
    free(analysis->is_wanted);
    free((void *)analysis->sources.tagged);
}

/* Writes the structure or the gaps of the binary. False, with errno set, if the stream reports an
 * error. */
static bool write_result(struct analysis *analysis, const struct binary *binary,
                         const struct analysis_options *options, FILE *out)
{
    const struct structure structure = {
        .code = analysis->sources.code,
        .info = analysis->sources.info,
        .procedures = analysis->records,
        .is_wanted = analysis->is_wanted,
        .build = analyze_procedure,
        .context = analysis,
    };
    char *real = realpath(binary->path, NULL);
    autofree char *path = xml_safe_text(real ? real : mem_strdup(binary->path));
    bool written;
    if (options->what == WRITE_GAPS) {
        parallel_for(structure.code->procedures.all.n, options->workers, analyze_index, analysis);
        written = gaps_write(out, &structure, path, binary->split.missing);
    } else if (options->what == WRITE_IMAGE) {
        written = structure_image_write(out, &structure, options->workers);
    } else {
        written = structure_xml_write(out, &structure, path, options->workers);
    }
    return written;
}

bool binary_analyze(const struct binary *binary, const struct analysis_options *options, FILE *out)
{
    struct debug_info info = {0};
    struct module_code code;
    struct code_ranges wanted = {0};
    struct analysis analysis;
    const struct elf_image *debug = debug_image(binary);
    bool has_tags = options->only && debug && dwarf_has_tags(debug);
    const struct address_list *only = has_tags ? NULL : options->only;
    autofree char *step = mem_printf("analyzing %s", path_base(binary->path));
    diag_progress_begin_bytes(step, binary_size(binary));
    module_code_read(&code, binary->image, binary->debug, options->workers);
    if (only)
        wanted_code_find(&wanted, only, &code.map, &code.cross_jumps);
    read_debug_info(&info, binary, &code.go, only ? &wanted : NULL, options->workers);
    module_code_join(&code, info.links.at, info.links.n);
    mark_calls_that_never_return(&code, options->workers);
    struct construct_calls constructs = {0};
    construct_calls_find(&constructs, &code, &info, binary->debug ? binary->debug : binary->image);
    const struct scope_sources sources = {
        .code = &code, .info = &info, .constructs = &constructs, .with_calls = options->with_calls};
    begin_analysis(&analysis, &sources, only, options->workers);
    bool written = write_result(&analysis, binary, options, out);
    int error = errno;
    end_analysis(&analysis);
    construct_calls_free(&constructs);
    module_code_free(&code);
    debug_info_free(&info);
    vec_free(&wanted.all);
    diag_progress_end();
    errno = error;
    return written;
}

bool binary_write(const struct binary *binary, const struct analysis_options *options,
                  const char *path)
{
    struct atomic_file file;
    char *cause = NULL;
    bool written = atomic_file_begin(&file, path, &cause);
    if (written && !binary_analyze(binary, options, file.out)) {
        cause = mem_strdup(strerror(errno));
        atomic_file_abandon(&file);
        written = false;
    } else if (written) {
        written = atomic_file_commit(&file, &cause);
    }
    if (!written)
        diag_error(path, "%s", cause);
    free(cause);
    return written;
}
