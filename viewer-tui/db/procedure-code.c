#include "viewer-tui/db/procedure-code.h"

#include "lib/database-format.h"
#include "lib/gzip.h"
#include "viewer-tui/db/run.h"

#include <stdlib.h>
#include <string.h>

#define NOT_KEPT                                                                                   \
    "the database has the instructions of a procedure only if they cost at least 0.1 % of a "      \
    "metric, and if the procedure is not inlined everywhere"

/* Integers of the file; 0 for what is none. */
static uint64_t integer(const json_t *array, size_t index)
{
    json_int_t value = json_integer_value(json_array_get(array, index));
    return value < 0 ? 0 : (uint64_t)value;
}

/* A string by its index in an array of the document; NULL where there is none. */
static const char *string_at(const json_t *document, const char *array, const json_t *index)
{
    if (!json_is_integer(index) || json_integer_value(index) < 0)
        return NULL;
    return json_string_value(
        json_array_get(json_object_get(document, array), (size_t)json_integer_value(index)));
}

/* Turns hexadecimal digits into bytes, up to the first character that is not one. */
static void read_bytes(struct code_part *part, const char *digits)
{
    static const char values[] = "0123456789abcdef";
    size_t size = digits ? strlen(digits) / 2 : 0;
    part->bytes = size ? mem_alloc(size) : NULL;
    for (part->size = 0; part->size < size; part->size++) {
        const char *high = memchr(values, digits[2 * part->size], 16);
        const char *low = memchr(values, digits[2 * part->size + 1], 16);
        if (!high || !low)
            break;
        part->bytes[part->size] = (uint8_t)((high - values) << 4 | (low - values));
    }
}

static void read_statements(struct procedure_code *code, const json_t *procedure)
{
    json_each (item, json_object_get(procedure, "statements")) {
        const struct code_statement statement = {
            .begin = integer(item, 0),
            .end = integer(item, 0) + integer(item, 1),
            .file = string_at(code->document, "files", json_array_get(item, 2)),
            .line = (uint32_t)integer(item, 3),
        };
        vec_push(&code->statements, statement);
    }
}

static void read_costs(struct procedure_code *code, const json_t *procedure)
{
    json_each (item, json_object_get(procedure, "costs")) {
        const struct instruction_cost cost = {
            .address = integer(item, 0),
            .metric = string_at(code->document, "metrics", json_array_get(item, 1)),
            .value = json_number_value(json_array_get(item, 2)),
        };
        if (cost.metric)
            vec_push(&code->costs, cost);
    }
}

/* A gzip file can be a thousand times smaller than its content. */
#define MOST_BYTES ((size_t)1 << 30)

bool procedure_code_read(struct procedure_code *code, const char *folder, const char *module,
                         uint64_t entry, const char **why)
{
    size_t size = 0;
    autofree char *path = mem_printf("%s/%s", folder, DATABASE_INSTRUCTIONS_FILE);
    autofree char *text = gzip_read(path, MOST_BYTES, &size);
    *code = (struct procedure_code){.document = text ? json_loadb(text, size, 0, NULL) : NULL};
    const char *format = run_text(code->document, "format");
    const json_t *procedure = NULL;
    json_each (kept, json_object_get(code->document, "procedures")) {
        json_int_t begins = json_integer_value(json_object_get(kept, "entry"));
        if (!procedure && (uint64_t)begins == entry && strcmp(run_text(kept, "module"), module) == 0)
            procedure = kept;
    }
    if (strcmp(format, DATABASE_INSTRUCTIONS_FORMAT) != 0)
        *why = "the database has no " DATABASE_INSTRUCTIONS_FILE
               " that this hpcviewer can read; make it again with this hpcprof";
    else if (!procedure)
        *why = NOT_KEPT;
    else {
        json_each (item, json_object_get(procedure, "parts")) {
            struct code_part part = {.begin = integer(item, 0)};
            read_bytes(&part, json_string_value(json_array_get(item, 1)));
            vec_push(&code->parts, part);
        }
        read_statements(code, procedure);
        read_costs(code, procedure);
        return true;
    }
    procedure_code_free(code);
    return false;
}

static int compare_with_range(const void *key, const void *element)
{
    uint64_t address = *(const uint64_t *)key;
    const struct code_statement *statement = element;
    if (address < statement->begin)
        return -1;
    return address >= statement->end;
}

const struct code_statement *procedure_code_statement(const struct procedure_code *code,
                                                      uint64_t address)
{
    if (!code->statements.n)
        return NULL;
    return bsearch(&address, code->statements.at, code->statements.n, sizeof *code->statements.at,
                   compare_with_range);
}

double procedure_code_cost(const struct procedure_code *code, const char *metric, uint64_t begin,
                           uint64_t end)
{
    double sum = 0;
    for (size_t i = 0; i < code->costs.n; i++) {
        const struct instruction_cost *cost = &code->costs.at[i];
        if (cost->address >= begin && cost->address < end && strcmp(cost->metric, metric) == 0)
            sum += cost->value;
    }
    return sum;
}

void procedure_code_free(struct procedure_code *code)
{
    for (size_t i = 0; i < code->parts.n; i++)
        free(code->parts.at[i].bytes);
    vec_free(&code->parts);
    vec_free(&code->statements);
    vec_free(&code->costs);
    json_decref(code->document);
    code->document = NULL;
}
