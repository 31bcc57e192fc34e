#include "viewer-tui/output/disassembly.h"

#include "lib/number.h"
#include "viewer-tui/db/procedure-code.h"
#include "viewer-tui/tree/label.h"

#include <Zydis/Zydis.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define INSTRUCTION_TEXT 256 /* bytes; longer ones are cut by the formatter */
#define VALUE_WIDTH      10
#define PERCENT_WIDTH    7
#define ADDRESS_WIDTH    10

struct listing {
    const struct database *db;
    struct sources *sources;
    const struct metric *metric;
    struct number_scale scale;
    struct procedure_code code;
    double total; /* of the procedure */
    uint32_t file, line; /* of the row; NOTHING and 0 where it has no line */
    const struct code_statement *statement; /* of the last instruction */
    bool ascii;
    struct text *out;
    size_t n_lines;       /* of `out` so far */
    double dearest;       /* cost of the instruction at first_line */
    size_t first_line;
    bool has_marked_line; /* first_line is an instruction of the row's line */
};

/* ---- what to show ---- */

/* The row of the procedure around a row that is not inlined; 0 when there is none. */
static uint32_t procedure_around(const struct view *view, uint32_t row)
{
    while (row && view_row(view, row)->kind != KIND_PROCEDURE)
        row = view_row(view, row)->parent;
    return row;
}

static size_t metric_of_view(const struct view *view)
{
    size_t metric = view->sorting.metric;
    return metric < view->metrics->n_stored ? metric : metrics_first_additive(view->metrics);
}

/* ---- lines ---- */

static void end_line(struct listing *listing)
{
    text_add(listing->out, "\n");
    listing->n_lines++;
}

static void add_heads(struct listing *listing)
{
    char head[NUMBER_WITH_UNIT_SIZE];
    snprintf(head, sizeof head, "%s%s%s", listing->metric->name, *listing->scale.unit ? ", " : "",
             listing->scale.unit);
    end_line(listing);
    text_add(listing->out, "  ");
    text_add_right(listing->out, head, VALUE_WIDTH);
    text_add_right(listing->out, "%", PERCENT_WIDTH);
    text_add_right(listing->out, "address", ADDRESS_WIDTH);
    text_add(listing->out, "  instruction");
    end_line(listing);
}

/* The file's index in the database, by its path; NOTHING when the database does not name it. */
static uint32_t file_of_path(const struct database *db, const char *path)
{
    for (uint32_t i = 0; i < db->files.n; i++) {
        const char *other = database_file_path(db, i);
        if (other && strcmp(other, path) == 0)
            return i;
    }
    return NOTHING;
}

/* "fib.c:7  if (n < 2)", before the first instruction of a statement. */
static void add_source_line(struct listing *listing, const struct code_statement *statement)
{
    if (!statement || !statement->file)
        return;
    uint32_t file = file_of_path(listing->db, statement->file);
    const char *text = NULL;
    if (file != NOTHING)
        text = source_line(sources_get(listing->sources, listing->db, file), statement->line);
    text_add_clean(listing->out, path_name(statement->file), listing->ascii);
    text_printf(listing->out, ":%" PRIu32, statement->line);
    if (text) {
        text_add(listing->out, "  ");
        text_add_clean_code(listing->out, text + strspn(text, " \t"), listing->ascii);
    }
    end_line(listing);
}

static bool same_line(const struct code_statement *a, const struct code_statement *b)
{
    if (!a || !b)
        return a == b;
    return a->line == b->line &&
           (a->file == b->file || (a->file && b->file && strcmp(a->file, b->file) == 0));
}

static bool is_of_row(const struct listing *listing, const struct code_statement *statement)
{
    const char *path = database_file_path(listing->db, listing->file);
    return statement && statement->file && path && statement->line == listing->line &&
           strcmp(statement->file, path) == 0;
}

/* Remembers where to begin: the dearest instruction, one of the row's line before all others. */
static void choose_first(struct listing *listing, bool is_marked, double cost)
{
    bool is_better_kind = is_marked && !listing->has_marked_line;
    bool is_same_kind = is_marked == listing->has_marked_line;
    if (!is_better_kind && !(is_same_kind && cost > listing->dearest))
        return;
    listing->has_marked_line = is_marked;
    listing->dearest = cost;
    listing->first_line = listing->n_lines;
}

static void add_cost(struct listing *listing, double cost)
{
    char value[NUMBER_SIZE] = "", percent[NUMBER_SIZE] = "";
    if (cost > 0) {
        number_format(cost, &listing->scale, value);
        number_percent(cost, listing->total, percent);
        strcat(percent, "%");
    }
    text_add_right(listing->out, value, VALUE_WIDTH);
    text_add_right(listing->out, percent, PERCENT_WIDTH);
}

static void add_instruction(struct listing *listing, uint64_t address, size_t length,
                            const char *text)
{
    const struct code_statement *statement = procedure_code_statement(&listing->code, address);
    double cost =
        procedure_code_cost(&listing->code, listing->metric->name, address, address + length);
    bool is_marked = is_of_row(listing, statement);
    if (!same_line(statement, listing->statement))
        add_source_line(listing, statement);
    listing->statement = statement;
    choose_first(listing, is_marked, cost);
    text_add(listing->out, is_marked ? "> " : "  ");
    add_cost(listing, cost);
    text_printf(listing->out, "%*" PRIx64 "  %s", ADDRESS_WIDTH, address, text);
    end_line(listing);
}

/* ---- decoding ---- */

/* Formats the instruction at the beginning of `bytes`; what is none counts as one byte of data. */
static size_t disassemble(const ZydisDecoder *decoder, const ZydisFormatter *formatter,
                          const uint8_t *bytes, size_t size, uint64_t address,
                          char text[INSTRUCTION_TEXT])
{
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(decoder, bytes, size, &instruction, operands))) {
        snprintf(text, INSTRUCTION_TEXT, ".byte 0x%02x", bytes[0]);
        return 1;
    }
    ZydisFormatterFormatInstruction(formatter, &instruction, operands,
                                    instruction.operand_count_visible, text, INSTRUCTION_TEXT,
                                    address, NULL);
    return instruction.length;
}

static void add_part(struct listing *listing, const struct code_part *part)
{
    ZydisDecoder decoder;
    ZydisFormatter formatter;
    char text[INSTRUCTION_TEXT];
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    ZydisFormatterInit(&formatter, ZYDIS_FORMATTER_STYLE_ATT);
    ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
                              ZYDIS_PADDING_DISABLED);
    listing->statement = NULL;
    for (size_t at = 0; at < part->size;) {
        size_t length = disassemble(&decoder, &formatter, part->bytes + at, part->size - at,
                                    part->begin + at, text);
        add_instruction(listing, part->begin + at, length, text);
        at += length;
    }
}

static bool has_bytes(const struct procedure_code *code)
{
    for (size_t i = 0; i < code->parts.n; i++)
        if (code->parts.at[i].size)
            return true;
    return false;
}

static void add_title(struct listing *listing, const struct view *view, uint32_t procedure,
                      double program)
{
    char value[NUMBER_WITH_UNIT_SIZE], percent[NUMBER_SIZE];
    struct text name = {0};
    label_name(view, procedure, &name);
    number_with_unit(listing->total, listing->metric->unit, value);
    number_percent(listing->total, program, percent);
    text_printf(listing->out, "%s of ", listing->metric->name);
    text_add_clean(listing->out, text_string(&name), listing->ascii);
    text_printf(listing->out, ", its own instructions: %s", value);
    if (*percent)
        text_printf(listing->out, ", %s%% of the program", percent);
    end_line(listing);
    vec_free(&name);
}

bool disassembly_of_row(const struct view *view, uint32_t row, struct sources *sources, bool ascii,
                        struct text *out, size_t *first_line, const char **why)
{
    size_t metric = metric_of_view(view);
    double program = view_total(view, metric);
    view = view_origin(view, &row);
    uint32_t around = procedure_around(view, row);
    const struct row *selected = view_row(view, row);
    bool has_line = selected->kind == KIND_STATEMENT || selected->kind == KIND_LOOP;
    struct procedure procedure = {.module = NOTHING};
    if (around)
        procedure = database_procedure(view->db, view_row(view, around)->place);
    if (procedure.module == NOTHING) {
        *why = "the row is in no procedure whose code is known";
        return false;
    }
    struct listing listing = {.db = view->db, .sources = sources, .ascii = ascii, .out = out,
                              .metric = &view->metrics->at[metric],
                              .file = has_line ? selected->place : NOTHING,
                              .line = has_line ? selected->line : 0, .dearest = -1};
    const char *module = database_module_path(view->db, procedure.module);
    if (!module || !procedure_code_read(&listing.code, view->db->folder, module, procedure.offset, why))
        return false;
    bool can_show = has_bytes(&listing.code);
    if (can_show) {
        listing.total = procedure_code_cost(&listing.code, listing.metric->name, 0, UINT64_MAX);
        listing.scale = number_scale_for(listing.total, listing.metric->unit);
        add_title(&listing, view, around, program);
        add_heads(&listing);
        for (size_t i = 0; i < listing.code.parts.n; i++)
            add_part(&listing, &listing.code.parts.at[i]);
        *first_line = listing.first_line;
    } else {
        *why = "hpcprof could not read the binary, so the database has no code of it";
    }
    procedure_code_free(&listing.code);
    return can_show;
}
