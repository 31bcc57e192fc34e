#include "viewer-tui/db/database.h"

#include "lib/measurement-format.h"
#include "viewer-tui/base/task.h"
#include "viewer-tui/base/text.h"
#include "viewer-tui/db/metric-reader.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct v4_kind meta_kind = {V4_META_FILE, V4_META_FORMAT, V4_META_FOOTER,
                                         V4_META_SECTIONS};
static const struct v4_kind profile_kind = {V4_PROFILE_FILE, V4_PROFILE_FORMAT, V4_PROFILE_FOOTER,
                                            V4_PROFILE_SECTIONS};

/* Indices have 32 bits, and NOTHING is reserved. */
#define MOST_ITEMS (UINT32_MAX - 1)

static bool table_is_sound(const struct database *db, const struct table *table, size_t least)
{
    if (table->stride >= least && table->n < MOST_ITEMS &&
        v4_array(&db->meta, table->at, table->n, table->stride, 8))
        return true;
    problem_found(db->meta.path, "corrupt: a table lies outside of the file");
    return false;
}

static bool read_table(struct database *db, struct table *table, enum v4_meta_section section,
                       size_t least)
{
    struct v4_table header;
    if (!v4_read(&db->meta, db->meta.sections[section].at, &header, sizeof header)) {
        problem_found(db->meta.path, "corrupt: a section lies outside of the file");
        return false;
    }
    *table = (struct table){header.items, header.n_items, header.item_size};
    return table_is_sound(db, table, least);
}

static bool read_entries(struct database *db)
{
    struct v4_context_tree tree;
    if (!v4_read(&db->meta, db->meta.sections[V4_META_CONTEXTS].at, &tree, sizeof tree)) {
        problem_found(db->meta.path, "corrupt: the context tree lies outside of the file");
        return false;
    }
    db->entries = (struct table){tree.entries, tree.n_entries, tree.entry_size};
    return table_is_sound(db, &db->entries, sizeof(struct v4_entry));
}

/* ---- profiles ---- */

/* False, with the problem noted, if the list of profiles does not lie in the file. */
static bool read_profiles_header(const struct database *db, struct v4_profiles *header)
{
    const struct v4_map *map = &db->profile;
    size_t least = offsetof(struct v4_profile, flags);
    if (v4_read(map, map->sections[V4_PROFILE_INFOS].at, header, sizeof *header) &&
        header->profile_size >= least &&
        v4_array(map, header->profiles, header->n_profiles, header->profile_size, 8))
        return true;
    problem_found(map->path, "corrupt: the list of profiles");
    return false;
}

uint32_t database_n_profiles(const struct database *db)
{
    struct v4_profiles header;
    return read_profiles_header(db, &header) ? header.n_profiles : 0;
}

struct v4_profile database_profile(const struct database *db, uint32_t number)
{
    struct v4_profile profile = {0};
    struct v4_profiles header;
    if (!read_profiles_header(db, &header))
        return profile;
    uint64_t at = header.profiles + number * (uint64_t)header.profile_size;
    size_t size = header.profile_size < sizeof profile ? header.profile_size : sizeof profile;
    v4_read(&db->profile, at, &profile, size);
    return profile;
}

/* Opens the values of the summary profile, which is the first. */
static bool open_values(struct database *db)
{
    struct v4_profiles header;
    struct v4_context_values block;
    if (!v4_read(&db->profile, db->profile.sections[V4_PROFILE_INFOS].at, &header, sizeof header) ||
        header.n_profiles == 0 || !v4_read(&db->profile, header.profiles, &block, sizeof block)) {
        problem_found(db->profile.path, "corrupt: no summary profile");
        return false;
    }
    return values_open(&db->values, &db->profile, &block);
}

/* ---- programs ---- */

size_t database_entry_name_length(const char *entry_name)
{
    const char *of = strstr(entry_name, V4_ENTRY_OF);
    return of ? (size_t)(of - entry_name) : strlen(entry_name);
}

static void find_programs(struct database *db)
{
    struct database_programs *programs = &db->programs;
    programs->of_entry = mem_alloc((db->entries.n + 1) * sizeof *programs->of_entry);
    for (uint32_t i = 0; i < db->entries.n; i++) {
        struct v4_entry entry;
        const char *name;
        if (!database_entry(db, i, &entry, &name))
            continue;
        size_t length = database_entry_name_length(name);
        const char *program = name[length] ? name + length + strlen(V4_ENTRY_OF) : database_title(db);
        programs->of_entry[i] = strtab_id(&programs->names, program);
    }
}

/* ---- opening ---- */

struct database *database_open(const char *folder)
{
    struct database *db = mem_alloc(sizeof *db);
    db->folder = mem_strdup(folder);
    if (!v4_map_open(&db->meta, db->folder, &meta_kind) || !v4_map_open(&db->profile, db->folder, &profile_kind) ||
        !read_table(db, &db->modules, V4_META_MODULES, sizeof(struct v4_module)) ||
        !read_table(db, &db->files, V4_META_FILES, sizeof(struct v4_file)) ||
        !read_table(db, &db->functions, V4_META_FUNCTIONS, sizeof(struct v4_function)) || !read_entries(db) ||
        !metrics_read(&db->metrics, &db->meta) || !open_values(db)) {
        database_close(db);
        return NULL;
    }
    find_programs(db);
    return db;
}

void database_close(struct database *db)
{
    if (!db)
        return;
    assert(!db->fold && !db->nodes);
    metrics_free(&db->metrics);
    v4_map_close(&db->meta);
    v4_map_close(&db->profile);
    vec_free(&db->points);
    idmap_free(&db->point_ids);
    idmap_free(&db->owners);
    vec_free(&db->no_call_site);
    strtab_free(&db->programs.names);
    free(db->programs.of_entry);
    free(db->has_profile);
    free(db->folder);
    free(db);
}

static int by_id(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void database_set_no_call_site(struct database *db, const json_t *ids)
{
    for (size_t i = 0; i < json_array_size(ids); i++) {
        json_int_t id = json_integer_value(json_array_get(ids, i));
        if (id > 0 && id < NOTHING)
            vec_push(&db->no_call_site, (uint32_t)id);
    }
    vec_sort(&db->no_call_site, by_id);
}

bool database_lacks_call_site(const struct database *db, uint32_t context_id)
{
    return db->no_call_site.n > 0 && bsearch(&context_id, db->no_call_site.at, db->no_call_site.n,
                                             sizeof context_id, by_id) != NULL;
}

const char *database_title(const struct database *db)
{
    struct v4_general general;
    const char *title = NULL;
    if (v4_read(&db->meta, db->meta.sections[V4_META_GENERAL].at, &general, sizeof general))
        title = v4_string(&db->meta, general.title);
    return title ? title : "";
}

uint32_t database_index(const struct database *db, const struct table *table, uint64_t pointer)
{
    if (pointer == 0)
        return NOTHING;
    uint64_t distance = pointer - table->at;
    if (distance % table->stride == 0 && distance / table->stride < table->n)
        return (uint32_t)(distance / table->stride);
    problem_found(db->meta.path, "corrupt: a pointer leads to no item of its table");
    return NOTHING;
}

static uint32_t unknown_procedure(const struct database *db)
{
    return (uint32_t)db->functions.n;
}

uint32_t database_procedure_id(const struct database *db, uint64_t pointer)
{
    uint32_t function = database_index(db, &db->functions, pointer);
    return function == NOTHING ? unknown_procedure(db) : function;
}

static uint32_t point_number(struct database *db, uint32_t module, uint64_t offset)
{
    uint32_t number = idmap_number(&db->point_ids, module, offset, (uint32_t)db->points.n);
    if (number == db->points.n)
        vec_push(&db->points, (struct point){module, offset});
    return number;
}

uint32_t database_point_procedure(struct database *db, uint32_t module, uint64_t offset)
{
    return unknown_procedure(db) + 1 + point_number(db, module, offset);
}

uint32_t database_point_file(struct database *db, uint32_t module, uint64_t offset)
{
    return (uint32_t)db->files.n + point_number(db, module, offset);
}

uint32_t database_n_procedures(const struct database *db)
{
    return unknown_procedure(db) + 1 + (uint32_t)db->points.n;
}

/* The string at a pointer that must not be 0; "", with the problem noted, if it is damaged. */
static const char *string_at(const struct database *db, uint64_t pointer)
{
    const char *text = v4_string(&db->meta, pointer);
    if (text)
        return text;
    problem_found(db->meta.path, "corrupt: a name lies outside of the file");
    return "";
}

struct procedure database_procedure(const struct database *db, uint32_t id)
{
    struct procedure procedure = {.file = NOTHING, .module = NOTHING};
    uint32_t unknown = unknown_procedure(db);
    if (id > unknown) {
        const struct point *point = &db->points.at[id - unknown - 1];
        procedure.module = point->module;
        procedure.offset = point->offset;
    } else if (id < unknown) {
        struct v4_function function = {0};
        v4_read(&db->meta, db->functions.at + id * db->functions.stride, &function,
                sizeof function);
        procedure.name = function.name ? string_at(db, function.name) : NULL;
        procedure.file = database_index(db, &db->files, function.file);
        procedure.line = function.line;
        procedure.module = database_index(db, &db->modules, function.module);
        procedure.offset = function.offset;
    }
    return procedure;
}

const char *database_procedure_name(const struct database *db, uint32_t id, char buffer[NAME_SIZE])
{
    struct procedure procedure = database_procedure(db, id);
    if (procedure.name && *procedure.name)
        return procedure.name;
    if (procedure.module == NOTHING)
        return "<unknown procedure>";
    snprintf(buffer, NAME_SIZE, "<%.90s+0x%" PRIx64 ">",
             path_name(database_module_path(db, procedure.module)), procedure.offset);
    return buffer;
}

bool database_procedure_has_name(const struct database *db, uint32_t id)
{
    const char *name = database_procedure(db, id).name;
    return name && !(*name == '<' && strstr(name, "+0x") && name[strlen(name) - 1] == '>');
}

const char *database_module_path(const struct database *db, uint32_t index)
{
    if (index == NOTHING)
        return NULL;
    struct v4_module module = {0};
    v4_read(&db->meta, db->modules.at + index * db->modules.stride, &module, sizeof module);
    return string_at(db, module.path);
}

static struct v4_file file_at(const struct database *db, uint32_t index)
{
    struct v4_file file = {0};
    v4_read(&db->meta, db->files.at + index * db->files.stride, &file, sizeof file);
    return file;
}

static bool is_file(const struct database *db, uint32_t index)
{
    return index < db->files.n;
}

const struct point *database_file_point(const struct database *db, uint32_t index)
{
    return index == NOTHING || is_file(db, index) ? NULL : &db->points.at[index - db->files.n];
}

bool database_is_kernel(const struct database *db, uint32_t module)
{
    const char *path = database_module_path(db, module);
    return path && strcmp(path, KERNEL_MODULE) == 0;
}

bool database_has_kernel(const struct database *db)
{
    for (uint32_t module = 0; module < db->modules.n; module++)
        if (database_is_kernel(db, module))
            return true;
    return false;
}

const char *database_file_path(const struct database *db, uint32_t index)
{
    if (!is_file(db, index))
        return NULL;
    struct v4_file file = file_at(db, index);
    const char *path = string_at(db, file.path);
    if (!(file.flags & V4_FILE_COPIED))
        return path;
    /* Copies have their whole path below src/, in the database's folder or the one above. */
    path += strncmp(path, "../", 3) == 0 ? 3 : 0;
    return strncmp(path, "src/", 4) == 0 ? path + 3 : path;
}

/* Whether a path stays inside the folder of a database, or, from that of the physical projection,
 * inside its parent. Databases may come from others, so a "copy" outside is not trusted. */
static bool is_within(const char *path)
{
    if (strncmp(path, "../", 3) == 0)
        path += 3;
    if (*path == '/')
        return false;
    for (const char *at = path; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || at[2] == '\0'))
            return false;
    }
    return true;
}

const char *database_file_copy(const struct database *db, uint32_t index)
{
    if (!is_file(db, index))
        return NULL;
    struct v4_file file = file_at(db, index);
    const char *path = string_at(db, file.path);
    return file.flags & V4_FILE_COPIED && is_within(path) ? path : NULL;
}

bool database_entry(const struct database *db, uint32_t index, struct v4_entry *entry,
                    const char **name)
{
    if (!v4_read(&db->meta, db->entries.at + index * db->entries.stride, entry, sizeof *entry))
        return false;
    if (name)
        *name = string_at(db, entry->name);
    return true;
}
