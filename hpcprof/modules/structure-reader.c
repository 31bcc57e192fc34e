#include "hpcprof/modules/structure.h"

#include "lib/hash-tables.h"
#include "lib/path.h"

#include <errno.h>
#include <libxml/parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An open XML element: the defaults for the elements in it. */
struct element {
    uint32_t scope;    /* innermost scope; STRUCTURE_NONE: outside of procedures */
    uint32_t file;     /* for statements without `f` */
    bool is_call_site; /* an outer A element: the A in it is the procedure inlined there */
    uint32_t call_file, call_line;
    uint32_t overhead; /* kind of the innermost tagged procedure */
};

struct reader {
    struct structure *s;
    VEC(struct element) open; /* the document, then one per open element */
    struct idmap functions;   /* (name and file, line or address) -> index in s->functions */
    struct strtab raw_files;  /* paths as written */
    VEC(uint32_t) files;      /* their ids in s->files, or STRUCTURE_NONE */
    VEC(char) text;           /* an attribute's value as a string */
    bool has_module;
};

/* ---- attributes ---- */

struct attribute {
    const char *at; /* NULL: the element has none of this name */
    size_t length;
};

/* The attributes that hpcprof uses, all named by one letter (doc/FORMAT-structure.md). */
struct attributes {
    struct attribute n, f, l, v, o, w, u, t, d;
};

static struct attributes take_attributes(int count, const xmlChar **from)
{
    struct attributes a = {0};
    for (int i = 0; i < count; i++, from += 5) { /* name, prefix, URI, value, end of the value */
        const char *name = (const char *)from[0];
        const struct attribute value = {(const char *)from[3], (size_t)(from[4] - from[3])};
        if (strcmp(name, "n") == 0)
            a.n = value;
        else if (strcmp(name, "f") == 0)
            a.f = value;
        else if (strcmp(name, "l") == 0)
            a.l = value;
        else if (strcmp(name, "v") == 0)
            a.v = value;
        else if (strcmp(name, "o") == 0)
            a.o = value;
        else if (strcmp(name, "w") == 0)
            a.w = value;
        else if (strcmp(name, "u") == 0)
            a.u = value;
        else if (strcmp(name, "t") == 0)
            a.t = value;
        else if (strcmp(name, "d") == 0)
            a.d = value;
    }
    return a;
}

/* The value as a string; valid until the next call. */
static const char *text_of(struct reader *r, struct attribute a)
{
    r->text.n = 0;
    vec_reserve(&r->text, a.length + 1);
    if (a.length)
        memcpy(r->text.at, a.at, a.length);
    r->text.at[a.length] = '\0';
    return r->text.at;
}

static uint32_t line_of(struct reader *r, struct attribute a)
{
    unsigned long long line = strtoull(text_of(r, a), NULL, 10);
    return line < UINT32_MAX ? (uint32_t)line : 0;
}

/* The id of a file; STRUCTURE_NONE if it is unknown. */
static uint32_t file_of(struct reader *r, struct attribute a)
{
    const char *raw = text_of(r, a);
    uint32_t raw_id = strtab_id(&r->raw_files, raw);
    if (raw_id == r->files.n) {
        uint32_t file = STRUCTURE_NONE;
        if (raw[0] != '\0' && strcmp(raw, "<unknown file>") != 0) {
            char *path = path_normalize(raw);
            file = strtab_id(&r->s->files, path);
            free(path);
        }
        vec_push(&r->files, file);
    }
    return r->files.at[raw_id];
}

/* Reads the next "[0xBEGIN-0xEND)" of a set of ranges; false at its end. */
static bool next_range(const char **at, uint64_t *begin, uint64_t *end)
{
    const char *open = strchr(*at, '[');
    if (!open)
        return false;
    char *rest;
    *begin = strtoull(open + 1, &rest, 16);
    if (*rest != '-')
        return false;
    *end = strtoull(rest + 1, &rest, 16);
    *at = rest;
    return true;
}

/* The first address of a set of ranges; 0 when it is empty. */
static uint64_t first_address(struct reader *r, struct attribute ranges)
{
    const char *at = text_of(r, ranges);
    uint64_t begin, end;
    return next_range(&at, &begin, &end) ? begin : 0;
}

/* The kind of overhead of an element: its own tag, else that of the element around it. */
static uint32_t overhead_of(struct reader *r, struct attribute kind, const struct element *around)
{
    return kind.at ? strtab_id(&r->s->overhead_kinds, text_of(r, kind)) : around->overhead;
}

/* ---- functions and scopes ---- */

static uint32_t function_of(struct reader *r, struct attribute name, uint32_t file, uint32_t line,
                            uint64_t entry)
{
    struct structure *s = r->s;
    uint32_t name_id = strtab_id(&s->names, text_of(r, name));
    uint64_t place = file == STRUCTURE_NONE ? entry : line;
    uint64_t name_and_file = (uint64_t)name_id << 32 | file;
    uint32_t function = idmap_get(&r->functions, name_and_file, place);
    if (function == IDMAP_NONE) {
        function = (uint32_t)s->functions.n;
        idmap_put(&r->functions, name_and_file, place, function);
        const struct structure_function new = {
            .name = name_id, .file = file, .line = line, .entry = entry};
        vec_push(&s->functions, new);
    }
    uint64_t known = s->functions.at[function].entry;
    if (entry && (!known || entry < known))
        s->functions.at[function].entry = entry;
    return function;
}

static uint32_t add_scope(struct reader *r, struct structure_scope scope)
{
    vec_push(&r->s->scopes, scope);
    return (uint32_t)r->s->scopes.n - 1;
}

static void add_waits(struct reader *r, struct attribute ranges)
{
    const char *at = text_of(r, ranges);
    struct structure_wait wait;
    while (next_range(&at, &wait.begin, &wait.end))
        if (wait.begin < wait.end)
            vec_push(&r->s->waits, wait);
}

static struct element start_procedure(struct reader *r, struct element around,
                                      const struct attributes *a)
{
    uint64_t entry = first_address(r, a->v);
    const struct structure_scope scope = {
        .parent = STRUCTURE_NONE,
        .kind = SCOPE_PROCEDURE,
        .function = function_of(r, a->n, around.file, line_of(r, a->l), entry),
        .file = STRUCTURE_NONE,
        .address = entry,
    };
    add_waits(r, a->w);
    around.scope = add_scope(r, scope);
    around.overhead = overhead_of(r, a->o, &around);
    return around;
}

static struct element start_inlined(struct reader *r, struct element around,
                                    const struct attributes *a)
{
    uint32_t file = a->f.at ? file_of(r, a->f) : around.file, line = line_of(r, a->l);
    if (!around.is_call_site) {
        around.is_call_site = true;
        around.call_file = file;
        around.call_line = line;
        return around;
    }
    const struct structure_scope scope = {
        .parent = around.scope,
        .kind = SCOPE_INLINED,
        .function = function_of(r, a->n, file, line, 0),
        .file = around.call_file,
        .line = around.call_line,
    };
    return (struct element){
        .scope = add_scope(r, scope), .file = file, .overhead = overhead_of(r, a->o, &around)};
}

static struct element start_loop(struct reader *r, struct element around,
                                 const struct attributes *a)
{
    const struct structure_scope scope = {
        .parent = around.scope,
        .kind = SCOPE_LOOP,
        .file = a->f.at ? file_of(r, a->f) : around.file,
        .line = line_of(r, a->l),
        .address = first_address(r, a->v),
        .pauses = a->w.at != NULL,
    };
    return (struct element){
        .scope = add_scope(r, scope), .file = scope.file, .overhead = around.overhead};
}

static void add_statement(struct reader *r, const struct element *around,
                          const struct attributes *a)
{
    struct structure_statement statement = {
        .scope = around->scope,
        .file = a->f.at ? file_of(r, a->f) : around->file,
        .line = line_of(r, a->l),
        .overhead = overhead_of(r, a->o, around),
    };
    if (statement.file == STRUCTURE_NONE)
        statement.line = 0;
    if (statement.line)
        r->s->has_lines = true;
    const char *at = text_of(r, a->v);
    while (next_range(&at, &statement.begin, &statement.end))
        if (statement.begin < statement.end)
            vec_push(&r->s->statements, statement);
}

/* Calls with a computed target have no `t` and are left out. */
static void add_call(struct reader *r, const struct attributes *a)
{
    uint64_t begin, end;
    const char *at = text_of(r, a->v);
    if (!a->t.at || !next_range(&at, &begin, &end))
        return;
    uint64_t target = strtoull(text_of(r, a->t), NULL, 16);
    vec_push(&r->s->calls, (struct structure_call){.address = end - 1, .target = target});
}

/* ---- elements ---- */

static void start_module(struct reader *r, const struct attributes *a)
{
    unsigned unoptimized = 0, units = 0;
    r->has_module = true;
    r->s->has_lines |= a->d.at != NULL;
    if (sscanf(text_of(r, a->u), "%9u/%9u", &unoptimized, &units) == 2 && unoptimized <= units) {
        r->s->n_unoptimized = unoptimized;
        r->s->n_units = units;
    }
}

static void on_start(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
                     int namespace_count, const xmlChar **namespaces, int attribute_count,
                     int defaulted, const xmlChar **attributes)
{
    (void)prefix, (void)uri, (void)namespace_count, (void)namespaces, (void)defaulted;
    struct reader *r = context;
    const struct attributes a = take_attributes(attribute_count, attributes);
    struct element element = r->open.at[r->open.n - 1];
    bool in_procedure = element.scope != STRUCTURE_NONE;
    const char *tag = (const char *)name;
    if (strcmp(tag, "LM") == 0)
        start_module(r, &a);
    else if (strcmp(tag, "D") == 0)
        strtab_id(&r->s->directories, text_of(r, a.n));
    else if (strcmp(tag, "F") == 0)
        element.file = file_of(r, a.n);
    else if (strcmp(tag, "P") == 0 && !in_procedure)
        element = start_procedure(r, element, &a);
    else if (strcmp(tag, "A") == 0 && in_procedure)
        element = start_inlined(r, element, &a);
    else if (strcmp(tag, "L") == 0 && in_procedure)
        element = start_loop(r, element, &a);
    else if (strcmp(tag, "S") == 0 && in_procedure)
        add_statement(r, &element, &a);
    else if (strcmp(tag, "C") == 0 && in_procedure)
        add_call(r, &a);
    vec_push(&r->open, element);
}

static void on_end(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
    (void)name, (void)prefix, (void)uri;
    struct reader *r = context;
    r->open.n--;
}

static int by_address(const void *a, const void *b)
{
    const struct structure_statement *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin > y->begin ? 1 : -1;
    return (x->scope > y->scope) - (x->scope < y->scope);
}

static int by_begin(const void *a, const void *b)
{
    const struct structure_wait *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Cuts overlaps, which a damaged file may have: the statement that begins first keeps the shared
 * addresses. */
static void sort_statements(struct structure *s)
{
    if (s->statements.n)
        qsort(s->statements.at, s->statements.n, sizeof *s->statements.at, by_address);
    size_t kept = 0;
    uint64_t covered = 0;
    for (size_t i = 0; i < s->statements.n; i++) {
        struct structure_statement statement = s->statements.at[i];
        if (statement.begin < covered)
            statement.begin = covered;
        if (statement.begin >= statement.end)
            continue;
        covered = statement.end;
        s->statements.at[kept++] = statement;
    }
    s->statements.n = kept;
}

/* ---- files ---- */

/* Parses the file. Returns NULL, or the cause of failure; the caller frees it. */
static char *parse(xmlParserCtxt *parser, FILE *file)
{
    char buffer[1 << 16];
    size_t size;
    int status = 0;
    while (status == 0 && (size = fread(buffer, 1, sizeof buffer, file)) > 0)
        status = xmlParseChunk(parser, buffer, (int)size, 0);
    if (ferror(file))
        return mem_strdup(strerror(errno));
    if (status == 0)
        status = xmlParseChunk(parser, NULL, 0, 1);
    if (status == 0 && parser->wellFormed)
        return NULL;
    const xmlError *error = xmlCtxtGetLastError(parser);
    const char *message = error && error->message ? error->message : "not well-formed";
    return mem_printf("line %d: %.*s", error ? error->line : 0, (int)strcspn(message, "\n"),
                      message);
}

static char *read_elements(struct reader *r, FILE *file)
{
    /* No handler looks up entities, so none can expand without bound or name a file. */
    xmlSAXHandler handler = {
        .initialized = XML_SAX2_MAGIC,
        .startElementNs = on_start,
        .endElementNs = on_end,
    };
    xmlParserCtxt *parser = xmlCreatePushParserCtxt(&handler, r, NULL, 0, NULL);
    if (!parser)
        return mem_strdup("out of memory");
    xmlCtxtUseOptions(parser, XML_PARSE_NOENT | XML_PARSE_NONET | XML_PARSE_HUGE);
    char *cause = parse(parser, file);
    xmlFreeDoc(parser->myDoc); /* libxml2 stores entity declarations there even without a tree */
    xmlFreeParserCtxt(parser);
    if (!cause && !r->has_module)
        cause = mem_strdup("it describes no load module");
    return cause;
}

struct structure *structure_read(FILE *file, char **cause)
{
    if (!file) {
        *cause = mem_strdup(strerror(errno));
        return NULL;
    }
    struct reader r = {.s = mem_alloc(sizeof *r.s)};
    const struct element first = {
        .scope = STRUCTURE_NONE, .file = STRUCTURE_NONE, .overhead = STRUCTURE_NONE};
    vec_push(&r.open, first);
    *cause = read_elements(&r, file);
    fclose(file);
    vec_free(&r.open);
    idmap_free(&r.functions);
    strtab_free(&r.raw_files);
    vec_free(&r.files);
    vec_free(&r.text);
    if (*cause) {
        structure_free(r.s);
        return NULL;
    }
    sort_statements(r.s);
    structure_index(r.s);
    if (r.s->waits.n)
        qsort(r.s->waits.at, r.s->waits.n, sizeof *r.s->waits.at, by_begin);
    return r.s;
}
