#include "hpcstruct/dwarf/function-table.h"

#include "hpcstruct/elf/names.h"

#include "lib/parallel.h"

#include <stdlib.h>

/* ---- adding ---- */

static uint32_t name_id(struct function_table *table, const struct found_function *f)
{
    bool is_linkage = f->linkage_name != NULL;
    const char *text = is_linkage ? f->linkage_name : f->name;
    uint32_t known = idmap_get(&table->name_ids, (uintptr_t)text, is_linkage);
    if (known != IDMAP_NONE)
        return known;
    idmap_put(&table->name_ids, (uintptr_t)text, is_linkage, (uint32_t)table->raw_names.n);
    vec_push(&table->raw_names, (struct raw_name){text, is_linkage});
    return (uint32_t)table->raw_names.n - 1;
}

/* A function is known by its name, prefix, file and line, or by its entry if its prefix is not known yet. One
 * that is not declared is a function of its own in each unit (debug_info_finish). */
static uint32_t add_function(struct function_table *table, const struct found_function *f,
                             uint32_t prefix)
{
    struct table_function new = {
        .name = name_id(table, f),
        .file = f->file,
        .line = f->line,
        .prefix = prefix,
        .is_local = f->file == DEBUG_NONE && f->line == 0,
    };
    bool is_foreign = f->prefix == FOREIGN_PREFIX;
    struct idmap *map = is_foreign ? &table->by_entry : &table->by_name;
    uint64_t a = is_foreign ? f->offset : (uint64_t) new.name << 32 | new.file;
    uint64_t b = is_foreign ? f->source : (uint64_t)prefix << 32 | new.line;
    uint32_t number = new.is_local ? IDMAP_NONE : idmap_get(map, a, b);
    if (number != IDMAP_NONE)
        return number;
    number = (uint32_t)table->all.n;
    if (!new.is_local)
        idmap_put(map, a, b, number);
    vec_push(&table->all, new);
    if (is_foreign)
        vec_push(&table->foreign, (struct foreign_prefix){number, f->last_source, f->last_offset});
    return number;
}

void function_table_add_prefixes(struct function_table *table, const struct unit_scopes *scopes,
                                 uint32_t source)
{
    for (size_t i = 0; i < scopes->nested.n; i++) {
        const struct found_prefix *found = &scopes->nested.at[i];
        const char *text = strtab_string(&scopes->prefixes, found->prefix);
        idmap_put(&table->nested, found->offset, source, strtab_id(&table->prefixes, text));
    }
}

void function_table_add(struct function_table *table, const struct unit_scopes *scopes,
                        uint32_t *numbers)
{
    for (size_t i = 0; i < scopes->functions.n; i++) {
        const struct found_function *f = &scopes->functions.at[i];
        bool has_prefix = f->prefix != NO_PREFIX && f->prefix != FOREIGN_PREFIX;
        const char *text = has_prefix ? strtab_string(&scopes->prefixes, f->prefix) : NULL;
        numbers[i] = add_function(table, f, text ? strtab_id(&table->prefixes, text) : NO_PREFIX);
    }
}

/* ---- finishing ---- */

static void find_foreign_prefixes(struct function_table *table)
{
    for (size_t i = 0; i < table->foreign.n; i++) {
        const struct foreign_prefix *foreign = &table->foreign.at[i];
        table->all.at[foreign->function].prefix =
            idmap_get(&table->nested, foreign->offset, foreign->source);
    }
}

struct naming {
    const struct function_table *table;
    char **names; /* per raw name */
};

static void make_name(void *context, unsigned worker, size_t index)
{
    struct naming *naming = context;
    const struct raw_name *raw = &naming->table->raw_names.at[index];
    (void)worker;
    naming->names[index] =
        xml_safe_text(raw->is_linkage ? demangled_name(raw->text) : mem_strdup(raw->text));
}

/* The ids in info->names of all raw names; the caller frees. */
static uint32_t *intern_names(const struct function_table *table, struct debug_info *info,
                              unsigned workers)
{
    size_t count = table->raw_names.n;
    struct naming naming = {table, mem_alloc(count * sizeof *naming.names)};
    uint32_t *ids = mem_alloc(count * sizeof *ids);
    parallel_for_many(count, workers, make_name, &naming);
    for (size_t i = 0; i < count; i++) {
        ids[i] = strtab_id(&info->names, naming.names[i]);
        free(naming.names[i]);
    }
    free(naming.names);
    return ids;
}

/* The number in info->functions. */
static uint32_t function_number(const struct function_table *table, struct debug_info *info,
                                const struct table_function *f, const uint32_t *names)
{
    const char *name = strtab_string(&info->names, names[f->name]);
    char *whole = NULL;
    if (f->prefix != NO_PREFIX)
        name = whole = xml_safe_text(
            mem_printf("%s%s", strtab_string(&table->prefixes, f->prefix), name));
    uint32_t number = f->is_local ? debug_info_local_function(info, name)
                                  : debug_info_function(info, name, f->file, f->line);
    free(whole);
    return number;
}

void function_table_finish(struct function_table *table, struct debug_info *info, unsigned workers)
{
    autofree uint32_t *ids = intern_names(table, info, workers);
    autofree uint32_t *numbers = mem_alloc(table->all.n * sizeof *numbers);
    find_foreign_prefixes(table);
    for (size_t i = 0; i < table->all.n; i++)
        numbers[i] = function_number(table, info, &table->all.at[i], ids);
    for (size_t i = 0; i < info->scopes.n; i++)
        info->scopes.at[i].function = numbers[info->scopes.at[i].function];
}

void function_table_free(struct function_table *table)
{
    vec_free(&table->all);
    vec_free(&table->raw_names);
    idmap_free(&table->name_ids);
    idmap_free(&table->by_name);
    idmap_free(&table->by_entry);
    strtab_free(&table->prefixes);
    idmap_free(&table->nested);
    vec_free(&table->foreign);
}
