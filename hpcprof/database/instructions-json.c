#include "hpcprof/base/output-file.h"
#include "hpcprof/database/database-files.h"
#include "hpcprof/modules/code-bytes.h"

#include "lib/binary-search.h"
#include "lib/database-format.h"
#include "lib/diag.h"
#include "lib/gzip.h"
#include "lib/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned __int128 wide;

/* The cost of a function in one metric. */
struct function_cost {
    uint32_t function, metric;
    wide amount;
};

/* An instruction cost (`index` in the sorted costs) or a statement (`index` in the module's
 * structure) that belongs to a function. */
struct function_part {
    uint32_t module, function, index;
    uint64_t entry; /* of the function */
};

struct instructions_writer {
    const struct instruction_costs *all_costs;
    const struct analysis *analysis;
    const struct symbol_table *symbols;
    bool for_others;
    bool *is_selected;   /* by function */
    uint32_t *file_ids;  /* by file of the symbol table: index in `files`; NO_SYMBOL: not in it */
    VEC(uint32_t) files; /* files that statements of selected functions name */
    /* Of selected functions, sorted by module, function (in the order of their entries) and address. */
    VEC(struct function_part) costs;
    VEC(struct function_part) statements;
    struct json_writer json;
};

/* ---- selection ---- */

/* The function whose machine code contains a scope. */
static uint32_t function_of_scope(const struct analysis *analysis, uint32_t module, uint32_t scope)
{
    const struct structure *s = symbols_structure(analysis->symbols, module);
    const struct structure_scope *procedure = &s->scopes.at[structure_procedure(s, scope)];
    return analysis->clones->original[symbols_function(analysis->symbols, module, procedure)];
}

/* The function whose machine code is at an address; NO_SYMBOL if no structure describes it. */
static uint32_t function_at(const struct analysis *analysis, uint32_t module, uint64_t address)
{
    const struct structure *s = symbols_structure(analysis->symbols, module);
    const struct structure_statement *statement = s ? structure_find(s, address) : NULL;
    return statement ? function_of_scope(analysis, module, statement->scope) : NO_SYMBOL;
}

/* Selects functions that have at least INSTRUCTIONS_LEAST_SHARE of a metric's total. */
static void select_functions(struct instructions_writer *w, const uint32_t *function_of)
{
    autofree wide *totals = mem_alloc(w->analysis->metrics->all.n * sizeof *totals);
    struct idmap ids = {0};
    autofree VEC(struct function_cost) sums = {0};
    for (size_t i = 0; i < w->all_costs->all.n; i++) {
        const struct instruction_cost *a = &w->all_costs->all.at[i];
        totals[a->metric] += a->amount;
        if (function_of[i] == NO_SYMBOL)
            continue;
        uint32_t id = idmap_get(&ids, function_of[i], a->metric);
        if (id == IDMAP_NONE) {
            id = (uint32_t)sums.n;
            idmap_put(&ids, function_of[i], a->metric, id);
            vec_push(&sums, (struct function_cost){function_of[i], a->metric, 0});
        }
        sums.at[id].amount += a->amount;
    }
    for (size_t i = 0; i < sums.n; i++) {
        double least = INSTRUCTIONS_LEAST_SHARE * (double)totals[sums.at[i].metric];
        if ((double)sums.at[i].amount >= least)
            w->is_selected[sums.at[i].function] = true;
    }
    idmap_free(&ids);
}

static struct function_part function_part(const struct instructions_writer *w, uint32_t module,
                                          uint32_t function, uint32_t index)
{
    return (struct function_part){module, function, index,
                                  w->symbols->functions.at[function].entry};
}

static void collect_costs(struct instructions_writer *w)
{
    autofree uint32_t *function_of = mem_alloc(w->all_costs->all.n * sizeof *function_of);
    for (size_t i = 0; i < w->all_costs->all.n; i++) {
        const struct instruction_cost *a = &w->all_costs->all.at[i];
        function_of[i] = function_at(w->analysis, a->module, a->address);
    }
    select_functions(w, function_of);
    for (uint32_t i = 0; i < w->all_costs->all.n; i++)
        if (function_of[i] != NO_SYMBOL && w->is_selected[function_of[i]])
            vec_push(&w->costs,
                     function_part(w, w->all_costs->all.at[i].module, function_of[i], i));
}

static void use_file(struct instructions_writer *w, uint32_t module, uint32_t file)
{
    if (file == STRUCTURE_NONE)
        return;
    uint32_t id = w->symbols->file_of[module][file];
    if (w->file_ids[id] != NO_SYMBOL)
        return;
    w->file_ids[id] = (uint32_t)w->files.n;
    vec_push(&w->files, id);
}

static void collect_statements(struct instructions_writer *w, uint32_t module)
{
    const struct structure *s = symbols_structure(w->symbols, module);
    for (uint32_t i = 0; s && i < s->statements.n; i++) {
        uint32_t scope = s->statements.at[i].scope;
        uint32_t function = function_of_scope(w->analysis, module, scope);
        if (!w->is_selected[function] || !s->scopes.at[structure_procedure(s, scope)].is_sampled)
            continue;
        vec_push(&w->statements, function_part(w, module, function, i));
        use_file(w, module, s->statements.at[i].file);
    }
}

static int by_function(const void *a, const void *b)
{
    const struct function_part *x = a, *y = b;
    int order = compare_unsigned(x->module, y->module);
    if (!order)
        order = compare_unsigned(x->entry, y->entry);
    if (!order)
        order = compare_unsigned(x->function, y->function);
    return order ? order : compare_unsigned(x->index, y->index);
}

static void collect(struct instructions_writer *w)
{
    w->is_selected = mem_alloc(w->symbols->functions.n * sizeof *w->is_selected);
    w->file_ids = mem_alloc(w->symbols->files.count * sizeof *w->file_ids);
    for (uint32_t i = 0; i < w->symbols->files.count; i++)
        w->file_ids[i] = NO_SYMBOL;
    collect_costs(w);
    for (uint32_t i = 0; i < w->symbols->structures->n; i++)
        collect_statements(w, i);
    vec_sort(&w->costs, by_function);
    vec_sort(&w->statements, by_function);
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
    return &symbols_structure(w->symbols, part->module)->statements.at[part->index];
}

static void write_metric_names(struct instructions_writer *w)
{
    json_print(&w->json, "\nmetrics:[");
    for (size_t i = 0; i < w->analysis->metrics->all.n; i++)
        json_write_string(&w->json, w->analysis->metrics->all.at[i].name);
    json_print(&w->json, "]");
}

static void write_files(struct instructions_writer *w)
{
    json_print(&w->json, "\nfiles:[");
    for (size_t i = 0; i < w->files.n; i++)
        json_write_string(&w->json, strtab_string(&w->symbols->files, w->files.at[i]));
    json_print(&w->json, "]");
}

/* Writes the code at [begin, end) as hexadecimal digits; "" if the binary does not have it. */
static void write_part(struct instructions_writer *w, const struct code_bytes *code, uint64_t begin,
                       uint64_t end)
{
    const uint8_t *bytes = code_bytes_at(code, begin, end - begin);
    autofree char *digits = bytes ? hexadecimal(bytes, end - begin) : mem_strdup("");
    json_print(&w->json, "[%zu %s]", (size_t)begin, digits);
}

/* Writes the code of each run of statements without gaps between them. */
static void write_parts(struct instructions_writer *w, const struct code_bytes *code,
                        struct part_range statements)
{
    json_print(&w->json, "parts:[");
    for (size_t i = 0; i < statements.n;) {
        uint64_t begin = statement_of(w, &statements.at[i])->begin, end = begin;
        for (; i < statements.n && statement_of(w, &statements.at[i])->begin == end; i++)
            end = statement_of(w, &statements.at[i])->end;
        write_part(w, code, begin, end);
    }
    json_print(&w->json, "]");
}

static void write_statements(struct instructions_writer *w, struct part_range statements)
{
    json_print(&w->json, "statements:[");
    for (size_t i = 0; i < statements.n; i++) {
        const struct structure_statement *statement = statement_of(w, &statements.at[i]);
        const uint32_t *file_of = w->symbols->file_of[statements.at[i].module];
        intmax_t file = statement->file == STRUCTURE_NONE ? -1 : (intmax_t)w->file_ids[file_of[statement->file]];
        json_print(&w->json, "[%zu %zu %jd %u]", (size_t)statement->begin, (size_t)(statement->end - statement->begin), file,
                   statement->line);
    }
    json_print(&w->json, "]");
}

static void write_costs(struct instructions_writer *w, struct part_range costs)
{
    json_print(&w->json, "costs:[");
    for (size_t i = 0; i < costs.n; i++) {
        const struct instruction_cost *a = &w->all_costs->all.at[costs.at[i].index];
        const struct metric_table *metrics = w->analysis->metrics;
        const struct event *event = metric_event(metrics, &metrics->all.at[a->metric]);
        json_print(&w->json, "[%zu %u %g]", (size_t)a->address, a->metric, event_amount(event, a->amount));
    }
    json_print(&w->json, "]");
}

static void write_procedure(struct instructions_writer *w, const struct code_bytes *code,
                            struct part_range statements, struct part_range costs)
{
    const struct function *function = &w->symbols->functions.at[costs.at->function];
    json_print(&w->json, "\n{module:%s name:%s entry:%zu",
               w->analysis->measurements->modules.all.at[costs.at->module].path, function->name, (size_t)function->entry);
    write_parts(w, code, statements);
    write_statements(w, statements);
    write_costs(w, costs);
    json_print(&w->json, "}");
}

/* Writes the functions of the module whose costs begin at `first_cost`, and returns the number of
 * its costs. *statement: index of the first statement not passed yet. */
static size_t write_module(struct instructions_writer *w, size_t first_cost, size_t *statement)
{
    uint32_t module = w->costs.at[first_cost].module;
    const char *binary = w->symbols->structures->of_module[module].binary;
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
    json_print(&w->json, "\nprocedures:[");
    for (size_t at = 0; at < w->costs.n;)
        at += write_module(w, at, &statement);
    json_print(&w->json, "]");
}

static void write_compressed(const char *path, const char *text, size_t size)
{
    FILE *out = output_stream(path);
    struct gzip gzip;
    gzip_start(&gzip, out);
    gzip_write(&gzip, text, size);
    gzip_finish(&gzip);
    output_stream_close(out, path, true);
}

void instructions_json_write(const char *path, const struct instruction_costs *costs,
                             const struct analysis *analysis, bool for_others)
{
    struct instructions_writer w = {
        .all_costs = costs,
        .analysis = analysis,
        .symbols = analysis->symbols,
        .for_others = for_others,
    };
    autofree char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        diag_fatal(path, "%s", strerror(errno));
    collect(&w);
    json_write_start(&w.json, memory, 0);
    json_print(&w.json, "{format:%s", DATABASE_INSTRUCTIONS_FORMAT);
    write_metric_names(&w);
    write_files(&w);
    write_procedures(&w);
    json_print(&w.json, "}");
    bool is_written = json_write_finish(&w.json);
    if (fclose(memory) != 0 || !is_written)
        diag_fatal(path, "%s", strerror(errno));
    write_compressed(path, text, size);
    vec_free(&w.costs);
    vec_free(&w.statements);
    vec_free(&w.files);
    free(w.file_ids);
    free(w.is_selected);
}
