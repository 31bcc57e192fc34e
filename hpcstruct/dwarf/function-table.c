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

static uint32_t add_function(struct function_table *table, const struct found_function *f)
{
    struct table_function new = {
        .name = name_id(table, f),
        .file = f->file,
        .line = f->line,
        .prefix = NO_PREFIX,
        .is_local = !f->linkage_name && f->file == DEBUG_NONE,
    };
    struct idmap *map = new.is_local ? &table->local : &table->known;
    uint64_t a = new.is_local ? f->offset : (uint64_t) new.name << 32 | new.file;
    uint64_t b = new.is_local ? f->source : new.line;
    uint32_t number = idmap_get(map, a, b);
    if (number != IDMAP_NONE)
        return number;
    number = (uint32_t)table->all.n;
    idmap_put(map, a, b, number);
    vec_push(&table->all, new);
    return number;
}

void function_table_add(struct function_table *table, const struct unit_scopes *scopes,
                        uint32_t source, uint32_t *numbers)
{
    for (size_t i = 0; i < scopes->nested.n; i++) {
        const struct found_prefix *found = &scopes->nested.at[i];
        const char *text = strtab_string(&scopes->prefixes, found->prefix);
        idmap_put(&table->nested, found->offset, source, strtab_id(&table->prefixes, text));
    }
    for (size_t i = 0; i < scopes->functions.n; i++) {
        const struct found_function *f = &scopes->functions.at[i];
        numbers[i] = add_function(table, f);
        uint32_t *prefix = &table->all.at[numbers[i]].prefix;
        if (f->prefix == FOREIGN_PREFIX)
            vec_push(&table->foreign,
                     (struct foreign_prefix){numbers[i], f->last_source, f->last_offset});
        else if (f->prefix != NO_PREFIX && *prefix == NO_PREFIX)
            *prefix = strtab_id(&table->prefixes, strtab_string(&scopes->prefixes, f->prefix));
    }
}

/* ---- finishing ---- */

static void find_foreign_prefixes(struct function_table *table)
{
    for (size_t i = 0; i < table->foreign.n; i++) {
        const struct foreign_prefix *foreign = &table->foreign.at[i];
        uint32_t *prefix = &table->all.at[foreign->function].prefix;
        if (*prefix == NO_PREFIX)
            *prefix = idmap_get(&table->nested, foreign->offset, foreign->source);
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

static void add_prefix(const struct function_table *table, struct debug_info *info, uint32_t number,
                       uint32_t name, uint32_t prefix)
{
    char *whole = xml_safe_text(mem_printf("%s%s", strtab_string(&table->prefixes, prefix),
                                           strtab_string(&info->names, name)));
    info->functions.at[number].name = strtab_id(&info->names, whole);
    free(whole);
}

void function_table_finish(struct function_table *table, struct debug_info *info, unsigned workers)
{
    uint32_t *ids = intern_names(table, info, workers);
    uint32_t *numbers = mem_alloc(table->all.n * sizeof *numbers);
    find_foreign_prefixes(table);
    for (size_t i = 0; i < table->all.n; i++) {
        const struct table_function *f = &table->all.at[i];
        size_t before = info->functions.n;
        const char *name = strtab_string(&info->names, ids[f->name]);
        numbers[i] = f->is_local ? debug_info_local_function(info, name)
                                 : debug_info_function(info, name, f->file, f->line);
        bool is_new = info->functions.n > before;
        if (f->prefix != NO_PREFIX && is_new)
            add_prefix(table, info, numbers[i], ids[f->name], f->prefix);
    }
    for (size_t i = 0; i < info->scopes.n; i++)
        info->scopes.at[i].function = numbers[info->scopes.at[i].function];
    free(numbers);
    free(ids);
}

void function_table_free(struct function_table *table)
{
    vec_free(&table->all);
    vec_free(&table->raw_names);
    idmap_free(&table->name_ids);
    idmap_free(&table->known);
    idmap_free(&table->local);
    strtab_free(&table->prefixes);
    idmap_free(&table->nested);
    vec_free(&table->foreign);
}
