#include "viewer-tui/output/disassembly.h"

#include "lib/number.h"
#include "viewer-tui/compare/comparison.h"
#include "viewer-tui/compare/merged.h"
#include "viewer-tui/db/procedure-code.h"
#include "viewer-tui/tree/labels.h"

#include <Zydis/Zydis.h>
#include <inttypes.h>
#include <string.h>

#define INSTRUCTION_TEXT 256 /* bytes; longer ones are cut by the formatter */
#define VALUE_WIDTH      10
#define PERCENT_WIDTH    7
#define ADDRESS_WIDTH    10

struct listing {
    struct disassembly *target;
    const struct database *db;
    const struct metric *metric;
    struct number_scale scale;
    struct procedure_code code;
    double total;         /* of the procedure */
    const char *row_path; /* source file of the row's line; NULL: it has none */
    uint32_t row_line;
    const struct code_statement *statement; /* of the last instruction */
    struct text line;                       /* being made */
    size_t n_lines;                         /* so far */
    double dearest;                         /* cost of the instruction at first_line */
    bool begins_at_row;                     /* first_line is an instruction of the row's line */
};

/* ---- what to show ---- */

/* The metric that the view is sorted by, of the run whose row is shown. */
static size_t metric_of_view(const struct view *view, const struct view *origin)
{
    const struct merged_runs *merged = merged_runs_of(view);
    const struct metric *sorted = &view->metrics->at[view->sorting.metric];
    size_t metric = view->sorting.metric < view->metrics->n_stored ? view->sorting.metric : SIZE_MAX;
    if (merged && metric_is_compared(sorted))
        metric = merged_source(merged, sorted->compared.quantity, (size_t)origin->side);
    else if (merged)
        metric = SIZE_MAX;
    return metric < origin->metrics->n_stored ? metric : metrics_first_additive(origin->metrics);
}

/* ---- lines ---- */

static void end_line(struct listing *listing)
{
    if (listing->target->width)
        text_cut(&listing->line, listing->target->width);
    text_printf(listing->target->out, "%s\n", text_string(&listing->line));
    text_clear(&listing->line);
    listing->n_lines++;
}

/* "fib.c:7  if (n < 2)", before the first instruction of a line. */
static void add_source_line(struct listing *listing, const struct code_statement *statement)
{
    if (!statement || !statement->file)
        return;
    const struct database *db = listing->db;
    const char *text = NULL;
    for (uint32_t i = 0; i < db->files.n && !text; i++)
        if (database_file_path(db, i) && strcmp(database_file_path(db, i), statement->file) == 0)
            text = source_line(sources_get(listing->target->sources, db, i), statement->line);
    text_say(&listing->line, listing->target->ascii, "%s:%u", path_name(statement->file), statement->line);
    if (text) {
        text_add(&listing->line, "  ");
        text_add_clean_code(&listing->line, text + strspn(text, " \t"), listing->target->ascii);
    }
    end_line(listing);
}

static bool is_on_line(const struct code_statement *statement, const char *path, uint32_t line)
{
    return statement && statement->line == line && statement->file && path &&
           strcmp(statement->file, path) == 0;
}

static void add_instruction(struct listing *listing, uint64_t address, size_t length,
                            const char *instruction)
{
    const struct code_statement *statement = procedure_code_statement(&listing->code, address);
    bool is_marked = is_on_line(statement, listing->row_path, listing->row_line);
    double cost =
        procedure_code_cost(&listing->code, listing->metric->name, address, address + length);
    const struct code_statement *last = listing->statement;
    if (statement != last && !(last && is_on_line(statement, last->file, last->line)))
        add_source_line(listing, statement);
    listing->statement = statement;
    /* The line to begin with: an instruction of the row's line before all others, of these the most expensive one. */
    if (is_marked == listing->begins_at_row ? cost > listing->dearest : is_marked) {
        listing->begins_at_row = is_marked;
        listing->dearest = cost;
        listing->target->first_line = listing->n_lines;
    }
    text_add(&listing->line, is_marked ? "> " : "  ");
    struct number_text percent = number_percent(cost, listing->total);
    strcat(percent.text, "%");
    text_add_right(&listing->line, cost > 0 ? number_format(cost, &listing->scale).text : "", VALUE_WIDTH);
    text_add_right(&listing->line, cost > 0 ? percent.text : "", PERCENT_WIDTH);
    text_printf(&listing->line, "%*" PRIx64 "  %s", ADDRESS_WIDTH, address, instruction);
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
    ZydisFormatterSetProperty(&formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
    listing->statement = NULL;
    for (size_t at = 0; at < part->size;) {
        size_t length = disassemble(&decoder, &formatter, part->bytes + at, part->size - at,
                                    part->begin + at, text);
        add_instruction(listing, part->begin + at, length, text);
        at += length;
    }
}

static void add_listing(struct listing *listing, const struct view *view, uint32_t procedure,
                        double program)
{
    listing->total = procedure_code_cost(&listing->code, listing->metric->name, 0, UINT64_MAX);
    listing->scale = number_scale_for(listing->total, listing->metric->unit);
    const char *unit = listing->scale.unit;
    autofree char *name = label_copy(view, procedure), *head = NULL;
    struct number_text percent = number_percent(listing->total, program);
    text_say(&listing->line, listing->target->ascii, "%s of %s, its own instructions: %s", listing->metric->name,
             name, number_with_unit(listing->total, listing->metric->unit).text);
    if (*percent.text)
        text_printf(&listing->line, ", %s%% of the program", percent.text);
    end_line(listing);
    end_line(listing);
    head = mem_printf("%s%s%s", listing->metric->name, *unit ? ", " : "", unit);
    text_add(&listing->line, "  ");
    text_add_right(&listing->line, head, VALUE_WIDTH);
    text_add_right(&listing->line, "%", PERCENT_WIDTH);
    text_add_right(&listing->line, "address", ADDRESS_WIDTH);
    text_add(&listing->line, "  instruction");
    end_line(listing);
    for (size_t i = 0; i < listing->code.parts.n; i++)
        add_part(listing, &listing->code.parts.at[i]);
    vec_free(&listing->line);
}

bool disassembly_of_row(struct disassembly *disassembly, const struct view *view, uint32_t row,
                        const char **why)
{
    const struct view *origin = view_origin(view, &row);
    size_t metric = metric_of_view(view, origin);
    double program = view_total(origin, metric);
    const struct database *db = origin->db;
    const struct row *selected = view_row(origin, row);
    uint32_t around = row; /* the procedure that is not inlined; 0: there is none */
    while (around && view_row(origin, around)->kind != KIND_PROCEDURE)
        around = view_row(origin, around)->parent;
    struct procedure procedure = {.module = NOTHING};
    if (around)
        procedure = database_procedure(db, view_row(origin, around)->place);
    const char *module = database_module_path(db, procedure.module);
    struct listing listing = {.target = disassembly,
                              .db = db,
                              .metric = &origin->metrics->at[metric],
                              .dearest = -1};
    if (selected->kind == KIND_STATEMENT || selected->kind == KIND_LOOP) {
        listing.row_path = database_file_path(db, selected->place);
        listing.row_line = selected->line;
    }
    if (!module || db->slice) {
        *why = module ? "costs of instructions are known for the whole run only" : "the row is in no procedure of a binary";
        return false;
    }
    if (!procedure_code_read(&listing.code, db->folder, module, procedure.offset, why))
        return false;
    bool can_list = false;
    for (size_t i = 0; i < listing.code.parts.n; i++)
        can_list |= listing.code.parts.at[i].size > 0;
    if (can_list)
        add_listing(&listing, origin, around, program);
    else
        *why = "hpcprof could not read the binary, so the database has none of its code";
    procedure_code_free(&listing.code);
    return can_list;
}
