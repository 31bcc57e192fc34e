#include "hpcprof/names/symbol-table.h"

#include "lib/path.h"

#include <stdlib.h>

static uint32_t add_function(struct program *program, struct function function)
{
    vec_push(&program->functions, function);
    return (uint32_t)program->functions.n - 1;
}

/* A function that no structure knows. */
static uint32_t add_named(struct program *program, const char *name, uint32_t module)
{
    uint32_t id = strtab_id(&program->names, name);
    const struct function function = {
        .name = strtab_string(&program->names, id),
        .module = module,
        .file = PROGRAM_NONE,
    };
    return add_function(program, function);
}

static uint32_t add_unknown(struct program *program, uint32_t index)
{
    const struct module *module = &program->modules->all.at[index];
    if (module->is_vdso)
        return add_named(program, "<vdso>", index);
    char *name = mem_printf("<unknown procedure in %s>", path_base(module->path));
    uint32_t function = add_named(program, name, index);
    free(name);
    return function;
}

static void add_structure(struct program *program, uint32_t index, const struct structure *s)
{
    uint32_t *file_of = mem_alloc(s->files.count * sizeof *file_of);
    for (uint32_t i = 0; i < s->files.count; i++)
        file_of[i] = strtab_id(&program->files, strtab_string(&s->files, i));
    program->file_of[index] = file_of;
    program->first_function[index] = (uint32_t)program->functions.n;
    for (size_t i = 0; i < s->functions.n; i++) {
        const struct structure_function *from = &s->functions.at[i];
        const struct function function = {
            .name = strtab_string(&s->names, from->name),
            .module = index,
            .file = from->file == STRUCTURE_NONE ? PROGRAM_NONE : file_of[from->file],
            .line = from->line,
            .entry = from->entry,
        };
        add_function(program, function);
    }
}

static uint32_t function_of_name(struct program *program, const struct measurement_name *name)
{
    uint32_t name_id = strtab_id(&program->names, name->procedure), file = PROGRAM_NONE;
    if (name->file[0] != '\0') {
        char *path = path_normalize(name->file);
        file = strtab_id(&program->files, path);
        free(path);
    }
    uint64_t name_and_file = (uint64_t)name_id << 32 | file;
    uint32_t id = idmap_get(&program->agent_functions, name_and_file, name->line);
    if (id != IDMAP_NONE)
        return id;
    const struct function function = {
        .name = strtab_string(&program->names, name_id),
        .module = PROGRAM_NONE,
        .file = file,
        .line = (uint32_t)name->line,
    };
    id = add_function(program, function);
    idmap_put(&program->agent_functions, name_and_file, name->line, id);
    return id;
}

static uint32_t **agent_functions(struct program *program, const struct measurement *m)
{
    uint32_t **of_tables = mem_alloc(m->name_tables.n * sizeof *of_tables);
    for (size_t table = 0; table < m->name_tables.n; table++) {
        const struct measurement_name_table *names = &m->name_tables.at[table];
        of_tables[table] = mem_alloc(names->names.n * sizeof **of_tables);
        for (size_t i = 0; i < names->names.n; i++)
            of_tables[table][i] = function_of_name(program, &names->names.at[i]);
    }
    return of_tables;
}

static uint32_t *code_functions(struct program *program, const struct measurement *m)
{
    uint32_t *functions = mem_alloc(m->code_names.n * sizeof *functions);
    for (size_t i = 0; i < m->code_names.n; i++) {
        const struct measurement_name name = {.procedure = m->code_names.at[i].name, .file = ""};
        functions[i] = function_of_name(program, &name);
    }
    return functions;
}

void program_build(struct program *program, const struct inputs *inputs)
{
    const struct modules *modules = &inputs->modules;
    size_t count = modules->all.n;
    *program = (struct program){
        .modules = modules,
        .first_function = mem_alloc(count * sizeof *program->first_function),
        .unknown_function = mem_alloc(count * sizeof *program->unknown_function),
        .file_of = mem_alloc(count * sizeof *program->file_of),
        .functions_of_names = mem_alloc(inputs->files.n * sizeof *program->functions_of_names),
        .functions_of_code = mem_alloc(inputs->files.n * sizeof *program->functions_of_code),
    };
    program->partial_path = add_named(program, "<partial call path>", PROGRAM_NONE);
    program->kernel = add_named(program, "<kernel, unattributed>", PROGRAM_NONE);
    program->unknown_code = add_named(program, "<unknown code>", PROGRAM_NONE);
    for (uint32_t i = 0; i < count; i++) {
        program->unknown_function[i] = add_unknown(program, i);
        if (modules->all.at[i].structure)
            add_structure(program, i, modules->all.at[i].structure);
    }
    for (size_t i = 0; i < inputs->files.n; i++) {
        program->functions_of_names[i] = agent_functions(program, inputs->files.at[i].m);
        program->functions_of_code[i] = code_functions(program, inputs->files.at[i].m);
    }
    program->original = mem_alloc(program->functions.n * sizeof *program->original);
    program->is_part = mem_alloc(program->functions.n * sizeof *program->is_part);
    for (uint32_t i = 0; i < program->functions.n; i++)
        program->original[i] = i;
}

void program_free(struct program *program, const struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->files.n; i++) {
        for (size_t table = 0; table < inputs->files.at[i].m->name_tables.n; table++)
            free(program->functions_of_names[i][table]);
        free(program->functions_of_names[i]);
        free(program->functions_of_code[i]);
    }
    free(program->functions_of_names);
    free(program->functions_of_code);
    for (size_t i = 0; i < program->modules->all.n; i++)
        free(program->file_of[i]);
    free(program->file_of);
    free(program->original);
    free(program->is_part);
    free(program->first_function);
    free(program->unknown_function);
    vec_free(&program->functions);
    strtab_free(&program->files);
    strtab_free(&program->names);
    idmap_free(&program->agent_functions);
}

uint32_t program_agent_function(const struct program *program, const struct inputs *inputs,
                                size_t input, uint32_t space, uint64_t value)
{
    const struct measurement *m = inputs->files.at[input].m;
    const struct measurement_name *name = measurement_name(m, space, value);
    if (!name)
        return PROGRAM_NONE;
    uint32_t table = space - MEASUREMENT_NAMES;
    return program->functions_of_names[input][table][name - m->name_tables.at[table].names.at];
}

uint32_t program_code_function(const struct program *program, const struct inputs *inputs,
                               size_t input, uint64_t address)
{
    const struct measurement *m = inputs->files.at[input].m;
    const struct measurement_code_name *name = measurement_code_name(m, address);
    return name ? program->functions_of_code[input][name - m->code_names.at]
                : program->unknown_code;
}
