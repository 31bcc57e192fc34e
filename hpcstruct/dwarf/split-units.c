#include "hpcstruct/dwarf/split-units.h"

#include "hpcstruct/elf/debug-file.h"
#include "hpcstruct/elf/sorted-addresses.h"

#include "lib/diag.h"
#include "lib/path.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>

/* ---- sections ---- */

/* The contents of a section. The first cause is kept. */
static struct elf_bytes contents(const struct elf_image *image, const char *name, char **cause)
{
    struct elf_section *section = elf_section(image, name);
    autofree char *new_cause = NULL;
    struct elf_bytes bytes = {0};
    if (section)
        bytes = elf_section_data(image, section, &new_cause);
    if (new_cause && !*cause)
        *cause = mem_printf("%s: %s: %s", path_base(image->path), name, new_cause);
    return bytes;
}

/* Size of a part that is the whole section. */
#define WHOLE UINT64_MAX

static struct elf_bytes part_of(struct elf_bytes bytes, struct section_part part)
{
    if (part.size == WHOLE)
        return bytes;
    if (part.offset > bytes.size || part.size > bytes.size - part.offset)
        return (struct elf_bytes){0};
    return (struct elf_bytes){bytes.at + part.offset, part.size};
}

struct split_sections split_unit_sections(const struct split_unit *unit, char **cause)
{
    const struct elf_image *file = unit->file;
    const struct unit_parts *parts = &unit->parts;
    *cause = NULL;
    return (struct split_sections){
        .info = part_of(contents(file, ".debug_info.dwo", cause), parts->info),
        .abbreviations =
            part_of(contents(file, ".debug_abbrev.dwo", cause), parts->abbreviations),
        .strings = contents(file, ".debug_str.dwo", cause),
        .string_offsets =
            part_of(contents(file, ".debug_str_offsets.dwo", cause), parts->string_offsets),
        .range_lists = part_of(contents(file, ".debug_rnglists.dwo", cause), parts->range_lists),
    };
}

const char *split_unit_string(const struct split_unit *unit, const struct split_sections *sections,
                              uint64_t index)
{
    /* Since version 5, the offsets come after a header: length, version and padding. */
    return string_by_index(sections->string_offsets, unit->skeleton.version >= 5 ? 8 : 0,
                           sections->strings, index);
}

/* ---- .dwo files ---- */

/* Whether a .dwo file has the unit with an id; sets `parts`. */
static bool has_unit(const struct elf_image *file, uint64_t id, struct unit_parts *parts)
{
    autofree char *cause = NULL;
    const struct unit_sections sections = {
        .info = contents(file, ".debug_info.dwo", &cause),
        .abbreviations = contents(file, ".debug_abbrev.dwo", &cause),
    };
    struct unit_heads heads = {0};
    bool found = false;
    unit_heads_read(&sections, &heads);
    for (size_t i = 0; i < heads.all.n && !found; i++) {
        const struct unit_head *head = &heads.all.at[i];
        found = head->has_id && head->id == id;
        if (!found)
            continue;
        *parts = (struct unit_parts){
            .info = {head->begin, head->end - head->begin},
            .abbreviations = {0, WHOLE},
            .string_offsets = {0, WHOLE},
            .range_lists = {0, WHOLE},
        };
    }
    vec_free(&heads.all);
    return found;
}

/* Reports the first file that is not trusted. */
static bool is_trusted(struct split_debug *split, const struct elf_image *file,
                       const struct elf_image *linked)
{
    const char *why = debug_file_why_not(file, linked);
    if (why && split->untrusted++ == 0)
        diag_error(file->path, "this debug file of %s is not used: %s", linked->path, why);
    return !why;
}

/* Adds the unit if the file at `path` has it. Frees `path`. */
static bool add_from(struct split_debug *split, const struct unit_head *skeleton,
                     const struct elf_image *linked, char *path)
{
    struct split_unit unit = {.skeleton = *skeleton};
    struct elf_image *last = split->files.n ? split->files.at[split->files.n - 1] : NULL;
    autofree char *cause = NULL;
    /* Units of one .dwo file follow each other. */
    bool is_last = last && strcmp(last->path, path) == 0;
    unit.file = is_last ? last : elf_open(path, &cause);
    bool found = unit.file && has_unit(unit.file, skeleton->id, &unit.parts) &&
                 (is_last || is_trusted(split, unit.file, linked));
    if (found)
        vec_push(&split->units, unit);
    if (found && !is_last)
        vec_push(&split->files, unit.file);
    else if (!is_last)
        elf_close(unit.file);
    free(path);
    return found;
}

/* The path that the compiler wrote the file to; the caller frees. */
static char *written_path(const struct unit_head *skeleton)
{
    const char *name = skeleton->dwo_name;
    if (name[0] == '/' || !skeleton->directory)
        return mem_strdup(name);
    return mem_printf("%s/%s", skeleton->directory, name);
}

static bool add_from_dwo(struct split_debug *split, const struct unit_head *skeleton,
                         const struct elf_image *linked, const char *directory)
{
    return add_from(split, skeleton, linked, written_path(skeleton)) ||
           add_from(split, skeleton, linked,
                    mem_printf("%s/%s", directory, path_base(skeleton->dwo_name)));
}

/* ---- .dwp files ---- */

/* Opens PATH.dwp if it has an index. */
static struct elf_image *open_package(struct split_debug *split, const char *path,
                                      const struct elf_image *linked)
{
    char *cause = NULL, *name = mem_printf("%s.dwp", path);
    struct elf_image *image = elf_open(name, &cause);
    free(cause);
    free(name);
    if (image &&
        (!elf_section(image, ".debug_cu_index") || !is_trusted(split, image, linked))) {
        elf_close(image);
        return NULL;
    }
    return image;
}

static bool add_from_package(struct split_debug *split, const struct unit_head *skeleton,
                             struct elf_image *package, struct elf_bytes index)
{
    struct split_unit unit = {.skeleton = *skeleton, .file = package};
    if (!unit_index_find(index, skeleton->id, &unit.parts))
        return false;
    vec_push(&split->units, unit);
    return true;
}

/* ---- the whole ---- */

static void read_heads(struct unit_heads *heads, const struct elf_image *from)
{
    char *cause = NULL;
    /* Units refer to .debug_addr if they are split. Without it, save the time. */
    if (!elf_section(from, ".debug_addr"))
        return;
    const struct unit_sections sections = {
        .info = contents(from, ".debug_info", &cause),
        .abbreviations = contents(from, ".debug_abbrev", &cause),
        .strings = contents(from, ".debug_str", &cause),
        .line_strings = contents(from, ".debug_line_str", &cause),
        .string_offsets = contents(from, ".debug_str_offsets", &cause),
        .addresses = contents(from, ".debug_addr", &cause),
    };
    unit_heads_read(&sections, heads);
    free(cause); /* reported when libdwarf reads the file */
}

void split_debug_open(struct split_debug *split, const struct elf_image *from,
                      const char *binary_path)
{
    struct unit_heads heads = {0};
    char *cause = NULL, *copy = mem_strdup(binary_path);
    const char *directory = dirname(copy);
    struct elf_image *package = NULL;
    struct elf_bytes index = {0};
    *split = (struct split_debug){0};
    read_heads(&heads, from);
    for (size_t i = 0; i < heads.all.n; i++) {
        const struct unit_head *head = &heads.all.at[i];
        if (!head->dwo_name || !head->has_id)
            continue;
        if (split->skeletons++ == 0 && (package = open_package(split, binary_path, from))) {
            index = contents(package, ".debug_cu_index", &cause);
            vec_push(&split->files, package);
        }
        if ((package && add_from_package(split, head, package, index)) ||
            add_from_dwo(split, head, from, directory))
            continue;
        if (split->missing++ == 0)
            split->first_missing = written_path(head);
    }
    vec_free(&heads.all);
    free(cause);
    free(copy);
}

void split_debug_close(struct split_debug *split)
{
    for (size_t i = 0; i < split->files.n; i++)
        elf_close(split->files.at[i]);
    vec_free(&split->files);
    vec_free(&split->units);
    free(split->first_missing);
    *split = (struct split_debug){0};
}

const struct split_unit *split_unit_at(const struct split_debug *split, uint64_t entry)
{
    size_t i = sorted_below(&split->units, skeleton.entry, entry);
    if (i == split->units.n || split->units.at[i].skeleton.entry != entry)
        return NULL;
    return &split->units.at[i];
}
