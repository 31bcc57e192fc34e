#include "hpcprof/contexts/note-contexts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void builder_start(struct context_builder *builder, const struct analysis *analysis,
                   enum projection_kind kind)
{
    *builder = (struct context_builder){.analysis = analysis, .kind = kind};
    builder->known.slots = mem_alloc(NOTE_SLOTS * sizeof *builder->known.slots);
    context_tree_start(&builder->tree);
}

void builder_free(struct context_builder *builder)
{
    vec_free(&builder->chain);
    vec_free(&builder->known.list);
    free(builder->known.slots);
}

struct note note_of(const struct measurement_node *node, enum projection_kind kind)
{
    if (kind == PROJECTION_PHYSICAL)
        return (struct note){.space = node->ip_space,
                             .value = node->ip_offset,
                             .has_site = true,
                             .site = node->ip_offset};
    if (node_names_owner(node))
        return (struct note){.space = MEASUREMENT_NO_NOTE};
    return (struct note){.space = node->lip_space,
                         .value = node->lip_value,
                         .has_site = node->has_site,
                         .site = node->site};
}

uint32_t entry_context(struct context_builder *builder, size_t file, enum v4_entry_kind kind)
{
    return context_tree_child(&builder->tree, CONTEXT_ROOT, CONTEXT_ENTRY, kind,
                              executables_entry(builder->analysis->executables, file));
}

uint32_t call_below(struct context_builder *builder, uint32_t parent, uint32_t function)
{
    assert(function != NO_SYMBOL);
    return context_tree_child(&builder->tree, parent, CONTEXT_CALL, function, 0);
}

/* ---- scopes ---- */

static uint32_t file_id(const struct context_builder *builder, uint32_t module, uint32_t file)
{
    return builder->analysis->symbols->file_of[module][file];
}

/* The function that a procedure's scope is shown as. */
static uint32_t shown_function(const struct context_builder *builder, uint32_t module,
                               const struct structure_scope *scope)
{
    const struct symbol_table *symbols = builder->analysis->symbols;
    uint32_t function = symbols_function(symbols, module, scope);
    if (builder->kind != PROJECTION_LOGICAL)
        return function;
    uint32_t header = symbols->functions.at[function].header;
    return header ? header : builder->analysis->clones->original[function];
}

/* Whether a scope is a part of another procedure (an inlet), which is not shown as a procedure. */
static bool is_part(const struct context_builder *builder, uint32_t module,
                    const struct structure_scope *scope)
{
    uint32_t function = symbols_function(builder->analysis->symbols, module, scope);
    return builder->kind == PROJECTION_LOGICAL && builder->analysis->clones->is_part[function];
}

/* The function that contains a context; NO_SYMBOL: none. */
static uint32_t function_around(const struct context_builder *builder, uint32_t context)
{
    const struct context *all = builder->tree.contexts.at;
    while (context != CONTEXT_ROOT && !context_is_function(&all[context]))
        context = all[context].parent;
    return context_is_function(&all[context]) ? all[context].name : NO_SYMBOL;
}

/* The scope that contains a call site, or the scope itself. */
static uint32_t scope_of_site(const struct context_builder *builder, uint32_t site)
{
    const struct context *at = &builder->tree.contexts.at[site];
    bool is_site = at->kind == CONTEXT_LINE || at->kind == CONTEXT_NO_SITE;
    return is_site ? at->parent : site;
}

/* The scope of `function` that contains the call site `parent`; CONTEXT_ROOT if the site is in
 * another function. */
static uint32_t scope_of_call(const struct context_builder *builder, uint32_t parent,
                              uint32_t function)
{
    uint32_t scope = scope_of_site(builder, parent);
    return function_around(builder, scope) == function ? scope : CONTEXT_ROOT;
}

/* The function of a runtime's header that contains a context; NULL: none. */
static const struct function *header_around(const struct context_builder *builder, uint32_t context)
{
    const struct symbol_table *symbols = builder->analysis->symbols;
    if (builder->kind != PROJECTION_LOGICAL || !symbols->has_headers)
        return NULL;
    uint32_t around = function_around(builder, context);
    const struct function *function = around != NO_SYMBOL ? &symbols->functions.at[around] : NULL;
    return function && function->header ? function : NULL;
}

/* All lines of a function that stands for several ones of a header are its first. */
static uint32_t line_below(struct context_builder *builder, uint32_t module, uint32_t parent,
                           uint32_t file, uint32_t line)
{
    if (line == 0 || file == STRUCTURE_NONE)
        return parent;
    uint32_t id = file_id(builder, module, file);
    const struct function *header = header_around(builder, parent);
    if (header && builder->analysis->symbols->is_header_file[id]) {
        id = header->file;
        line = header->line;
    }
    return context_tree_child(&builder->tree, parent, CONTEXT_LINE, id, line);
}

/* Whether a scope inside of a header's function is of the header, too: it is not shown. Compilers
 * give no file for the header's lambdas. */
static bool is_inside_header(const struct context_builder *builder, uint32_t module,
                             uint32_t parent, const struct structure_scope *scope)
{
    const struct symbol_table *symbols = builder->analysis->symbols;
    if (!header_around(builder, parent))
        return false;
    if (scope->kind == SCOPE_LOOP)
        return scope->file != STRUCTURE_NONE &&
               symbols->is_header_file[file_id(builder, module, scope->file)];
    const struct function *function =
        &symbols->functions.at[symbols_function(symbols, module, scope)];
    return function->header || (scope->kind == SCOPE_INLINED && function->file == NO_SYMBOL);
}

/* Whether an inlined procedure is the body of the construct that it is inlined in. */
static bool is_inner_body(const struct context_builder *builder, uint32_t parent, uint32_t function)
{
    const struct symbol_table *symbols = builder->analysis->symbols;
    uint32_t around = function_around(builder, parent);
    return around != NO_SYMBOL && symbols->functions.at[function].is_body &&
           symbols->functions.at[around].is_body;
}

/* Whether a procedure is the body, or a part of it, that an agent has added a note for, since the
 * procedure did not seem to be that body (agents/common/missing-bodies.h). `parent` is the note. */
static bool is_added_body(const struct context_builder *builder, uint32_t parent, uint32_t function)
{
    const struct symbol_table *symbols = builder->analysis->symbols;
    if (builder->tree.contexts.at[parent].kind != CONTEXT_NO_SITE)
        return false;
    const struct function *added = &symbols->functions.at[function_around(builder, parent)];
    const struct function *own = &symbols->functions.at[function];
    bool is_same_place = added->file == own->file && added->line == own->line;
    return added->is_body && own->is_body && added->module == own->module && is_same_place &&
           (own->line || strcmp(added->name, own->name) == 0);
}

static uint32_t loop_below(struct context_builder *builder, uint32_t module, uint32_t parent,
                           const struct structure_scope *loop)
{
    if (loop->line == 0 || loop->file == STRUCTURE_NONE)
        return context_tree_child(&builder->tree, parent, CONTEXT_LOOP_AT, module, loop->address);
    return context_tree_child(&builder->tree, parent, CONTEXT_LOOP,
                              file_id(builder, module, loop->file), loop->line);
}

static uint32_t scope_below(struct context_builder *builder, uint32_t module, uint32_t parent,
                            const struct structure_scope *scope)
{
    if (is_inside_header(builder, module, parent, scope))
        return scope_of_site(builder, parent);
    if (scope->kind == SCOPE_LOOP)
        return loop_below(builder, module, parent, scope);
    uint32_t function = shown_function(builder, module, scope);
    if (is_part(builder, module, scope)) {
        uint32_t whole = scope_of_call(builder, parent, function);
        if (whole != CONTEXT_ROOT)
            return whole;
    }
    if (scope->kind == SCOPE_PROCEDURE && is_added_body(builder, parent, function))
        return scope_of_site(builder, parent);
    if (scope->kind == SCOPE_PROCEDURE)
        return call_below(builder, parent, function);
    if (is_inner_body(builder, parent, function))
        return parent;
    parent = line_below(builder, module, parent, scope->file, scope->line);
    return context_tree_child(&builder->tree, parent, CONTEXT_INLINED, function, 0);
}

uint32_t statement_below(struct context_builder *builder, uint32_t module, uint32_t parent,
                         const struct structure_statement *statement)
{
    const struct structure *s = symbols_structure(builder->analysis->symbols, module);
    builder->chain.n = 0;
    for (uint32_t scope = statement->scope; scope != STRUCTURE_NONE;
         scope = s->scopes.at[scope].parent)
        vec_push(&builder->chain, scope);
    while (builder->chain.n)
        parent = scope_below(builder, module, parent,
                             &s->scopes.at[builder->chain.at[--builder->chain.n]]);
    return line_below(builder, module, parent, statement->file, statement->line);
}

/* ---- notes ---- */

/* Whether the logical projection hides a statement: it is an interpreter's machinery. */
static bool is_glue(const struct context_builder *builder, uint32_t module,
                    const struct structure_statement *statement)
{
    const struct runtime_code *code = builder->analysis->overhead->code;
    const struct rule *rule =
        builder->kind == PROJECTION_LOGICAL ? runtime_code_rule(code, module, statement) : NULL;
    return rule && rule->key == RULE_GLUE;
}

static uint32_t new_code_below(struct context_builder *builder, uint32_t module, uint32_t parent,
                               const struct note *note)
{
    const struct structure *s = symbols_structure(builder->analysis->symbols, module);
    const struct structure_statement *statement =
        s ? structure_find(s, note->has_site ? note->site : note->value) : NULL;
    if (!statement)
        return call_below(builder, parent,
                          symbols_outside_code(builder->analysis->symbols, module, note->value));
    if (is_glue(builder, module, statement))
        return parent;
    if (note->has_site)
        return statement_below(builder, module, parent, statement);
    return scope_below(builder, module, parent,
                       &s->scopes.at[structure_procedure(s, statement->scope)]);
}

static bool is_same_note(const struct known_note *a, const struct known_note *b)
{
    return a->parent_and_module == b->parent_and_module && a->address == b->address;
}

static uint32_t code_below(struct context_builder *builder, uint32_t module, uint32_t parent,
                           const struct note *note)
{
    struct known_notes *known = &builder->known;
    struct known_note wanted = {(uint64_t)parent << 32 | module, note->site, CONTEXT_ROOT};
    if (!note->has_site || note->site != note->value)
        return new_code_below(builder, module, parent, note);
    if (known->next < known->list.n && is_same_note(&known->list.at[known->next], &wanted))
        return known->list.at[known->next++].context;
    uint64_t hash = hash_pair(wanted.parent_and_module, wanted.address);
    uint32_t *slot = &known->slots[hash & (NOTE_SLOTS - 1)];
    if (*slot && is_same_note(&known->list.at[*slot - 1], &wanted)) {
        known->next = *slot;
        return known->list.at[*slot - 1].context;
    }
    wanted.context = new_code_below(builder, module, parent, note);
    if (known->list.n < MOST_NOTES) {
        vec_push(&known->list, wanted);
        known->next = known->list.n;
        *slot = (uint32_t)known->list.n;
    }
    return wanted.context;
}

void add_direct_call(struct context_builder *builder, uint32_t module, uint64_t address,
                     uint64_t target)
{
    const struct structure *s = symbols_structure(builder->analysis->symbols, module);
    const struct note call = {.value = address, .has_site = true, .site = address};
    const struct note callee = {.value = target};
    if (structure_find(s, address) && structure_find(s, target))
        code_below(builder, module, code_below(builder, module, CONTEXT_ROOT, &call), &callee);
}

static uint32_t placeholder_function(const struct symbol_table *symbols, uint64_t placeholder)
{
    switch (placeholder) {
    case PLACEHOLDER_KERNEL: return symbols->kernel;
    case PLACEHOLDER_SERIAL: return symbols->serial;
    case PLACEHOLDER_PARTIAL: return symbols->partial_path;
    case PLACEHOLDER_LOCK: return symbols->unnamed_lock;
    case PLACEHOLDER_LOCK_WITHOUT_CPU: return symbols->lock_without_cpu;
    default: return symbols->unknown_code;
    }
}

static uint32_t name_below(struct context_builder *builder, size_t file, uint32_t parent,
                           const struct note *note)
{
    const struct symbol_table *symbols = builder->analysis->symbols;
    uint32_t function = symbols_agent_function(symbols, file, note->space, note->value);
    if (function == NO_SYMBOL)
        function = symbols->unknown_code;
    uint32_t context = call_below(builder, parent, function),
             source = symbols->functions.at[function].file;
    if (note->has_site && note->site && source != NO_SYMBOL)
        context =
            context_tree_child(&builder->tree, context, CONTEXT_LINE, source, (uint32_t)note->site);
    return context;
}

/* A note in a module or in an agent's name table. */
static uint32_t located_note_below(struct context_builder *builder, size_t file, uint32_t parent,
                                   const struct note *note)
{
    const struct measurement_file *process = &builder->analysis->measurements->files.at[file];
    uint32_t context = note->space >= MEASUREMENT_NAMES
                           ? name_below(builder, file, parent, note)
                           : code_below(builder, process->module_of[note->space], parent, note);
    return note->has_site || context == parent
               ? context
               : context_tree_child(&builder->tree, context, CONTEXT_NO_SITE, 0, 0);
}

uint32_t note_below(struct context_builder *builder, size_t file, uint32_t parent,
                    const struct note *note)
{
    const struct symbol_table *symbols = builder->analysis->symbols;
    assert(note->space != MEASUREMENT_NO_NOTE);
    switch (note->space) {
    case MEASUREMENT_PLACEHOLDER:
        return call_below(builder, parent, placeholder_function(symbols, note->value));
    case MEASUREMENT_NO_MODULE:
        return call_below(builder, parent, symbols_code_function(symbols, file, note->value));
    case MEASUREMENT_LOST_RECORD: return call_below(builder, parent, symbols->unknown_code);
    default: return located_note_below(builder, file, parent, note);
    }
}
