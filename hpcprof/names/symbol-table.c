#include "hpcprof/names/symbol-table.h"

#include "hpcprof/names/lock-symbols.h"
#include "lib/database-format.h"
#include "lib/path.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static uint32_t add_function(struct symbol_table *symbols, struct function function)
{
    vec_push(&symbols->functions, function);
    return (uint32_t)symbols->functions.n - 1;
}

/* Adds a function that no structure describes. */
static uint32_t add_named(struct symbol_table *symbols, const char *name, uint32_t module)
{
    uint32_t id = strtab_id(&symbols->names, name);
    const struct function function = {
        .name = strtab_string(&symbols->names, id),
        .module = module,
        .file = NO_SYMBOL,
    };
    return add_function(symbols, function);
}

/* Adds the function that stands for code of a module without structure. */
static uint32_t add_unknown(struct symbol_table *symbols, uint32_t index)
{
    const struct load_module *module = &symbols->measurements->modules.all.at[index];
    if (module->is_vdso)
        return add_named(symbols, "<vdso>", index);
    if (module->is_kernel)
        return add_named(symbols, KERNEL_MODULE, index);
    autofree char *name = mem_printf("<unknown procedure in %s>", path_base(module->path));
    return add_named(symbols, name, index);
}

static void add_structure(struct symbol_table *symbols, uint32_t index, const struct structure *s)
{
    uint32_t *file_of = mem_alloc(s->files.count * sizeof *file_of);
    for (uint32_t i = 0; i < s->files.count; i++)
        file_of[i] = strtab_id(&symbols->files, strtab_string(&s->files, i));
    symbols->file_of[index] = file_of;
    symbols->first_function[index] = (uint32_t)symbols->functions.n;
    for (size_t i = 0; i < s->functions.n; i++) {
        const struct structure_function *from = &s->functions.at[i];
        const struct function function = {
            .name = strtab_string(&s->names, from->name),
            .module = index,
            .file = from->file == STRUCTURE_NONE ? NO_SYMBOL : file_of[from->file],
            .line = from->line,
            .entry = from->entry,
        };
        add_function(symbols, function);
    }
}

/* Returns the function of a name that an agent or a perf map gave; adds it if it is new. */
static uint32_t function_of_name(struct symbol_table *symbols, const struct measurement_name *name)
{
    uint32_t name_id = strtab_id(&symbols->names, name->procedure), file = NO_SYMBOL;
    if (name->file[0] != '\0') {
        autofree char *path = path_normalize(name->file);
        file = strtab_id(&symbols->files, path);
    }
    uint64_t name_and_file = (uint64_t)name_id << 32 | file;
    uint32_t id = idmap_get(&symbols->agent_functions, name_and_file, name->line);
    if (id != IDMAP_NONE)
        return id;
    const struct function function = {
        .name = strtab_string(&symbols->names, name_id),
        .module = NO_SYMBOL,
        .file = file,
        .line = (uint32_t)name->line,
    };
    id = add_function(symbols, function);
    idmap_put(&symbols->agent_functions, name_and_file, name->line, id);
    return id;
}

static uint32_t **agent_functions(struct symbol_table *symbols, const struct measurement *m)
{
    uint32_t **of_tables = mem_alloc(m->name_tables.n * sizeof *of_tables);
    for (size_t table = 0; table < m->name_tables.n; table++) {
        const struct measurement_name_table *names = &m->name_tables.at[table];
        of_tables[table] = mem_alloc(names->names.n * sizeof **of_tables);
        for (size_t i = 0; i < names->names.n; i++)
            of_tables[table][i] = function_of_name(symbols, &names->names.at[i]);
    }
    return of_tables;
}

static uint32_t *code_functions(struct symbol_table *symbols, const struct measurement *m)
{
    uint32_t *functions = mem_alloc(m->code_names.n * sizeof *functions);
    for (size_t i = 0; i < m->code_names.n; i++) {
        const struct measurement_name name = {.procedure = m->code_names.at[i].name, .file = ""};
        functions[i] = function_of_name(symbols, &name);
    }
    return functions;
}

/* ---- locks ---- */

static void add_lock(struct symbol_table *symbols, uint32_t module, uint64_t address)
{
    if (idmap_get(&symbols->locks, address, module) != IDMAP_NONE)
        return;
    autofree char *name = lock_symbol_name(&symbols->measurements->modules.all.at[module], address);
    idmap_put(&symbols->locks, address, module, add_named(symbols, name, module));
}

/* Adds the locks that a thread waited for: the nodes with `lock wait`. */
static void add_locks_of(struct symbol_table *symbols, const struct measurement_file *file,
                         const struct measurement_thread *thread)
{
    for (size_t i = 0; i < thread->values.n; i++) {
        const struct measurement_value *value = &thread->values.at[i];
        const struct measurement_node *node = &thread->nodes.at[value->node];
        if (value->amount && node->ip_space < file->m->modules.n &&
            strcmp(file->m->metrics.at[value->metric].name, METRIC_LOCK_WAIT) == 0)
            add_lock(symbols, file->module_of[node->ip_space], node->ip_offset);
    }
}

uint32_t symbols_outside_code(const struct symbol_table *symbols, uint32_t module, uint64_t address)
{
    uint32_t lock = idmap_get(&symbols->locks, address, module);
    return lock != IDMAP_NONE ? lock : symbols->unknown_function[module];
}

/* ---- all together ---- */

void symbols_build(struct symbol_table *symbols, const struct measurements *measurements,
                   const struct structures *structures)
{
    size_t modules = structures->n, files = measurements->files.n;
    *symbols = (struct symbol_table){
        .measurements = measurements,
        .structures = structures,
        .first_function = mem_alloc(modules * sizeof *symbols->first_function),
        .unknown_function = mem_alloc(modules * sizeof *symbols->unknown_function),
        .file_of = mem_alloc(modules * sizeof *symbols->file_of),
        .functions_of_names = mem_alloc(files * sizeof *symbols->functions_of_names),
        .functions_of_code = mem_alloc(files * sizeof *symbols->functions_of_code),
    };
    symbols->partial_path = add_named(symbols, "<partial call path>", NO_SYMBOL);
    symbols->kernel = add_named(symbols, "<kernel, unattributed>", NO_SYMBOL);
    symbols->serial = add_named(symbols, DATABASE_SERIAL_CODE, NO_SYMBOL);
    symbols->unknown_code = add_named(symbols, "<unknown code>", NO_SYMBOL);
    symbols->unnamed_lock = add_named(symbols, "<lock on the heap or a stack>", NO_SYMBOL);
    symbols->lock_without_cpu = add_named(symbols, "<lock held without a CPU>", NO_SYMBOL);
    for (uint32_t i = 0; i < modules; i++) {
        symbols->unknown_function[i] = add_unknown(symbols, i);
        if (symbols_structure(symbols, i))
            add_structure(symbols, i, symbols_structure(symbols, i));
    }
    for (size_t i = 0; i < files; i++) {
        symbols->functions_of_names[i] = agent_functions(symbols, measurements->files.at[i].m);
        symbols->functions_of_code[i] = code_functions(symbols, measurements->files.at[i].m);
        for (size_t k = 0; k < measurements->files.at[i].m->threads.n; k++)
            add_locks_of(symbols, &measurements->files.at[i],
                         &measurements->files.at[i].m->threads.at[k]);
    }
}

void symbols_free(struct symbol_table *symbols)
{
    for (size_t i = 0; i < symbols->measurements->files.n; i++) {
        for (size_t table = 0; table < symbols->measurements->files.at[i].m->name_tables.n; table++)
            free(symbols->functions_of_names[i][table]);
        free(symbols->functions_of_names[i]);
        free(symbols->functions_of_code[i]);
    }
    free(symbols->functions_of_names);
    free(symbols->functions_of_code);
    for (size_t i = 0; i < symbols->structures->n; i++)
        free(symbols->file_of[i]);
    free(symbols->file_of);
    free(symbols->is_header_file);
    free(symbols->first_function);
    free(symbols->unknown_function);
    vec_free(&symbols->functions);
    strtab_free(&symbols->files);
    strtab_free(&symbols->names);
    idmap_free(&symbols->agent_functions);
    idmap_free(&symbols->locks);
}

const struct structure *symbols_structure(const struct symbol_table *symbols, uint32_t module)
{
    assert(module < symbols->structures->n);
    return symbols->structures->of_module[module].structure;
}

uint32_t symbols_function(const struct symbol_table *symbols, uint32_t module,
                          const struct structure_scope *scope)
{
    assert(scope->kind != SCOPE_LOOP);
    return symbols->first_function[module] + scope->function;
}

uint32_t symbols_agent_function(const struct symbol_table *symbols, size_t file, uint32_t space,
                                uint64_t value)
{
    const struct measurement *m = symbols->measurements->files.at[file].m;
    const struct measurement_name *name = measurement_name(m, space, value);
    if (!name)
        return NO_SYMBOL;
    uint32_t table = space - MEASUREMENT_NAMES;
    return symbols->functions_of_names[file][table][name - m->name_tables.at[table].names.at];
}

uint32_t symbols_code_function(const struct symbol_table *symbols, size_t file, uint64_t address)
{
    const struct measurement *m = symbols->measurements->files.at[file].m;
    const struct measurement_code_name *name = measurement_code_name(m, address);
    return name ? symbols->functions_of_code[file][name - m->code_names.at] : symbols->unknown_code;
}
