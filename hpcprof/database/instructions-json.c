#include "hpcprof/database/instructions-json.h"

#include "hpcprof/base/output-file.h"
#include "hpcprof/modules/code-bytes.h"

#include "lib/database-format.h"
#include "lib/diag.h"
#include "lib/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned __int128 wide;

/* The amount of one function of the program, in one metric. */
struct function_amount {
    uint32_t function, metric;
    wide amount;
};

/* An entry of the amounts (`index` there) or a statement (`index` in the module's structure) that
 * belongs to a function. */
struct function_part {
    uint32_t module, function, index;
};

struct instructions_writer {
    const struct instruction_amounts *amounts;
    const struct inputs *inputs;
    const struct program *program;
    bool for_others;
    bool *is_kept;             /* of each function of the program */
    uint32_t *file_ids;        /* of each file of the program: its index in `files`; PROGRAM_NONE */
    VEC(uint32_t) files;       /* those that statements of kept functions name */
    VEC(struct function_part) costs, statements; /* of kept functions: by module, function, address */
    struct json_writer json;
};

static void *mem_none(size_t n)
{
    uint32_t *ids = mem_alloc(n * sizeof *ids);
    for (size_t i = 0; i < n; i++)
        ids[i] = PROGRAM_NONE;
    return ids;
}

/* ---- selection ---- */

/* The function that a scope's machine code is part of. */
static uint32_t function_of_scope(const struct program *program, uint32_t module, uint32_t scope)
{
    const struct structure *s = program->modules->all.at[module].structure;
    uint32_t procedure = structure_procedure(s, scope);
    return program->original[program->first_function[module] + s->scopes.at[procedure].function];
}

/* The function whose machine code is at an address; PROGRAM_NONE when no structure describes it. */
static uint32_t function_at(const struct program *program, uint32_t module, uint64_t address)
{
    const struct structure *s = program->modules->all.at[module].structure;
    const struct structure_statement *statement = s ? structure_find(s, address) : NULL;
    return statement ? function_of_scope(program, module, statement->scope) : PROGRAM_NONE;
}

/* Keeps functions that have at least INSTRUCTIONS_LEAST_SHARE of a metric's total. */
static void select_functions(struct instructions_writer *w, const uint32_t *function_of)
{
    wide *totals = mem_alloc(w->inputs->metrics.n * sizeof *totals);
    struct idmap ids = {0};
    VEC(struct function_amount) sums = {0};
    for (size_t i = 0; i < w->amounts->all.n; i++) {
        const struct instruction_amount *a = &w->amounts->all.at[i];
        totals[a->metric] += a->amount;
        if (function_of[i] == PROGRAM_NONE)
            continue;
        uint32_t id = idmap_get(&ids, function_of[i], a->metric);
        if (id == IDMAP_NONE) {
            id = (uint32_t)sums.n;
            idmap_put(&ids, function_of[i], a->metric, id);
            vec_push(&sums, (struct function_amount){function_of[i], a->metric, 0});
        }
        sums.at[id].amount += a->amount;
    }
    for (size_t i = 0; i < sums.n; i++) {
        double least = INSTRUCTIONS_LEAST_SHARE * (double)totals[sums.at[i].metric];
        if ((double)sums.at[i].amount >= least)
            w->is_kept[sums.at[i].function] = true;
    }
    vec_free(&sums);
    idmap_free(&ids);
    free(totals);
}

static void collect_costs(struct instructions_writer *w)
{
    uint32_t *function_of = mem_alloc(w->amounts->all.n * sizeof *function_of);
    for (size_t i = 0; i < w->amounts->all.n; i++) {
        const struct instruction_amount *a = &w->amounts->all.at[i];
        function_of[i] = function_at(w->program, a->module, a->address);
    }
    select_functions(w, function_of);
    for (uint32_t i = 0; i < w->amounts->all.n; i++)
        if (function_of[i] != PROGRAM_NONE && w->is_kept[function_of[i]])
            vec_push(&w->costs,
                     (struct function_part){w->amounts->all.at[i].module, function_of[i], i});
    free(function_of);
}

static void use_file(struct instructions_writer *w, uint32_t module, uint32_t file)
{
    if (file == STRUCTURE_NONE)
        return;
    uint32_t id = w->program->file_of[module][file];
    if (w->file_ids[id] != PROGRAM_NONE)
        return;
    w->file_ids[id] = (uint32_t)w->files.n;
    vec_push(&w->files, id);
}

static void collect_statements(struct instructions_writer *w, uint32_t module)
{
    const struct structure *s = w->program->modules->all.at[module].structure;
    for (uint32_t i = 0; s && i < s->statements.n; i++) {
        uint32_t function = function_of_scope(w->program, module, s->statements.at[i].scope);
        if (!w->is_kept[function])
            continue;
        vec_push(&w->statements, (struct function_part){module, function, i});
        use_file(w, module, s->statements.at[i].file);
    }
}

static int by_function(const void *a, const void *b)
{
    const struct function_part *x = a, *y = b;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void collect(struct instructions_writer *w)
{
    w->is_kept = mem_alloc(w->program->functions.n * sizeof *w->is_kept);
    w->file_ids = mem_none(w->program->files.count);
    collect_costs(w);
    for (uint32_t i = 0; i < w->program->modules->all.n; i++)
        collect_statements(w, i);
    if (w->costs.n)
        qsort(w->costs.at, w->costs.n, sizeof *w->costs.at, by_function);
    if (w->statements.n)
        qsort(w->statements.at, w->statements.n, sizeof *w->statements.at, by_function);
}

/* ---- writing ---- */

/* Entries of one function in `costs` or `statements`. */
struct part_range {
    const struct function_part *at;
    size_t n;
};

static bool same_function(const struct function_part *a, const struct function_part *b)
{
    return a->module == b->module && a->function == b->function;
}

/* The entries of a function at the beginning of an array that is sorted by function. */
static struct part_range leading_parts(const struct function_part *at, size_t n)
{
    struct part_range range = {at, 0};
    while (range.n < n && same_function(&at[range.n], at))
        range.n++;
    return range;
}

static const struct structure_statement *statement_of(const struct instructions_writer *w,
                                                      const struct function_part *part)
{
    return &w->program->modules->all.at[part->module].structure->statements.at[part->index];
}

static void write_metric_names(struct instructions_writer *w)
{
    json_write_break(&w->json);
    json_write_key(&w->json, "metrics");
    json_write_array(&w->json);
    for (size_t i = 0; i < w->inputs->metrics.n; i++)
        json_write_string(&w->json, w->inputs->metrics.at[i].name);
    json_write_array_end(&w->json);
}

static void write_files(struct instructions_writer *w)
{
    json_write_break(&w->json);
    json_write_key(&w->json, "files");
    json_write_array(&w->json);
    for (size_t i = 0; i < w->files.n; i++)
        json_write_string(&w->json, strtab_string(&w->program->files, w->files.at[i]));
    json_write_array_end(&w->json);
}

/* Writes the code at [begin, end) as hexadecimal digits; "" where the binary does not have it. */
static void write_part(struct instructions_writer *w, const struct code_bytes *code, uint64_t begin,
                       uint64_t end)
{
    const uint8_t *bytes = code_bytes_at(code, begin, end - begin);
    char *digits = bytes ? hexadecimal(bytes, end - begin) : mem_strdup("");
    json_write_array(&w->json);
    json_write_integer(&w->json, (int64_t)begin);
    json_write_string(&w->json, digits);
    json_write_array_end(&w->json);
    free(digits);
}

/* Writes the code of runs of statements that follow one another without a gap. */
static void write_parts(struct instructions_writer *w, const struct code_bytes *code,
                        struct part_range statements)
{
    json_write_key(&w->json, "parts");
    json_write_array(&w->json);
    for (size_t i = 0; i < statements.n;) {
        uint64_t begin = statement_of(w, &statements.at[i])->begin, end = begin;
        for (; i < statements.n && statement_of(w, &statements.at[i])->begin == end; i++)
            end = statement_of(w, &statements.at[i])->end;
        write_part(w, code, begin, end);
    }
    json_write_array_end(&w->json);
}

static void write_statements(struct instructions_writer *w, struct part_range statements)
{
    json_write_key(&w->json, "statements");
    json_write_array(&w->json);
    for (size_t i = 0; i < statements.n; i++) {
        const struct structure_statement *statement = statement_of(w, &statements.at[i]);
        const uint32_t *file_of = w->program->file_of[statements.at[i].module];
        json_write_array(&w->json);
        json_write_integer(&w->json, (int64_t)statement->begin);
        json_write_integer(&w->json, (int64_t)(statement->end - statement->begin));
        if (statement->file == STRUCTURE_NONE)
            json_write_null(&w->json);
        else
            json_write_integer(&w->json, w->file_ids[file_of[statement->file]]);
        json_write_integer(&w->json, statement->line);
        json_write_array_end(&w->json);
    }
    json_write_array_end(&w->json);
}

static void write_costs(struct instructions_writer *w, struct part_range costs)
{
    json_write_key(&w->json, "costs");
    json_write_array(&w->json);
    for (size_t i = 0; i < costs.n; i++) {
        const struct instruction_amount *a = &w->amounts->all.at[costs.at[i].index];
        const struct event *event = &w->inputs->events.at[w->inputs->metrics.at[a->metric].event];
        json_write_array(&w->json);
        json_write_integer(&w->json, (int64_t)a->address);
        json_write_integer(&w->json, a->metric);
        json_write_double(&w->json, event_amount(event, a->amount));
        json_write_array_end(&w->json);
    }
    json_write_array_end(&w->json);
}

static void write_procedure(struct instructions_writer *w, const struct code_bytes *code,
                            struct part_range statements, struct part_range costs)
{
    const struct function *function = &w->program->functions.at[costs.at->function];
    json_write_break(&w->json);
    json_write_object(&w->json);
    json_write_text(&w->json, "module", w->program->modules->all.at[costs.at->module].path);
    json_write_text(&w->json, "name", function->name);
    json_write_key(&w->json, "entry");
    json_write_integer(&w->json, (int64_t)function->entry);
    write_parts(w, code, statements);
    write_statements(w, statements);
    write_costs(w, costs);
    json_write_object_end(&w->json);
}

/* Writes the functions of the module that `costs` begin with; returns how many entries of costs
 * these were. `*statement` moves behind the module's. */
static size_t write_module(struct instructions_writer *w, size_t first_cost, size_t *statement)
{
    uint32_t module = w->costs.at[first_cost].module;
    const char *binary = w->program->modules->all.at[module].binary;
    struct code_bytes code = code_bytes_open(binary ? binary : "", w->for_others);
    size_t at = first_cost;
    while (at < w->costs.n && w->costs.at[at].module == module) {
        struct part_range costs = leading_parts(&w->costs.at[at], w->costs.n - at);
        while (*statement < w->statements.n &&
               by_function(&w->statements.at[*statement], costs.at) < 0 &&
               !same_function(&w->statements.at[*statement], costs.at))
            ++*statement;
        struct part_range statements =
            leading_parts(&w->statements.at[*statement], w->statements.n - *statement);
        write_procedure(w, &code, statements, costs);
        *statement += statements.n;
        at += costs.n;
    }
    code_bytes_close(&code);
    return at - first_cost;
}

static void write_procedures(struct instructions_writer *w)
{
    size_t statement = 0;
    json_write_break(&w->json);
    json_write_key(&w->json, "procedures");
    json_write_array(&w->json);
    for (size_t at = 0; at < w->costs.n;)
        at += write_module(w, at, &statement);
    json_write_array_end(&w->json);
}

void instructions_json_write(const char *path, const struct instruction_amounts *amounts,
                             const struct inputs *inputs, const struct program *program,
                             bool for_others)
{
    struct instructions_writer w = {
        .amounts = amounts, .inputs = inputs, .program = program, .for_others = for_others};
    FILE *out = output_stream(path);
    if (!out)
        diag_fatal(path, "%s", strerror(errno));
    collect(&w);
    json_write_start(&w.json, out, 0);
    json_write_object(&w.json);
    json_write_text(&w.json, "format", DATABASE_INSTRUCTIONS_FORMAT);
    write_metric_names(&w);
    write_files(&w);
    write_procedures(&w);
    json_write_object_end(&w.json);
    bool is_written = json_write_finish(&w.json);
    if (fclose(out) != 0 || !is_written)
        diag_fatal(path, "%s", strerror(errno));
    vec_free(&w.costs);
    vec_free(&w.statements);
    vec_free(&w.files);
    free(w.file_ids);
    free(w.is_kept);
}
