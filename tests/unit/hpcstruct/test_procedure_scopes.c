/* Lines of statements: rows of files other than the scope's own, and rows of line 0, and loops that are one
 * loop of the source, on a handmade module with a handmade line table and inlined calls. */
#include "tests/unit/cmocka_suite.h"

#include "tests/unit/hpcstruct/made_module.h"

#include "hpcstruct/structure/procedure-scopes.h"

enum { MAIN_FILE, INLINED_FILE, OTHER_FILE, TAGGED_FILE, FILES };

struct fixture {
    struct made_module *made;
    struct debug_info info;
    struct procedure_scopes built;
};

static void add_function(struct debug_info *info, const char *name, uint32_t file, uint32_t line,
                         uint32_t call_line)
{
    const struct debug_scope scope = {
        .function = debug_info_function(info, name, file, line),
        .parent = call_line ? 0 : DEBUG_NONE,
        .depth = call_line != 0,
        .call_file = call_line ? MAIN_FILE : DEBUG_NONE,
        .call_line = call_line,
    };
    vec_push(&info->scopes, scope);
}

/* ---- the function `f` ---- */

static void begin(struct fixture *f)
{
    *f = (struct fixture){.made = made_module_new()};
    f->made->at = 0x1100;
}

static void end(struct fixture *f)
{
    made_return(f->made);
    made_symbol(f->made, 0x1100, f->made->at - 0x1100, "f");
    made_module_map(f->made, NULL, 0);
    made_module_procedures(f->made, NULL, 0);
    for (uint32_t i = 0; i < FILES; i++)
        strtab_id(&f->info.files, (const char *[]){"main.c", "inlined.h", "other.h", "tag"}[i]);
    add_function(&f->info, "f", MAIN_FILE, 9, 0);
    debug_info_add_range(&f->info, 0x1100, f->made->at, 0, &f->made->image);
}

/* With the lines that were added. */
static void build(struct fixture *f)
{
    debug_info_end_sequence(&f->info, f->made->at, &f->made->image);
    debug_info_finish(&f->info, 1);
    static const bool tagged[FILES] = {[TAGGED_FILE] = true};
    static const struct construct_calls no_constructs;
    const struct scope_sources sources = {
        .code = &f->made->module, .info = &f->info, .constructs = &no_constructs, .tagged = tagged};
    struct scope_builder *builder = scope_builder_new();
    f->built =
        procedure_scopes_build(builder, &sources, &f->made->module.procedures.all.at[0], MAIN_FILE);
    scope_builder_free(builder);
}

/* The function `f` of main.c at 0x1100, with a call of `g` inlined at 0x1114 and one of `h` at
 * 0x112c. */
static void set_up(struct fixture *f)
{
    static const struct line_row rows[] = {
        {0x1100, MAIN_FILE, 10}, {0x1104, OTHER_FILE, 29},  {0x1108, MAIN_FILE, 0},
        {0x1110, MAIN_FILE, 12}, {0x1114, INLINED_FILE, 5}, {0x1118, MAIN_FILE, 0},
        {0x1124, MAIN_FILE, 14}, {0x1128, TAGGED_FILE, 0},  {0x112c, INLINED_FILE, 0},
        {0x1130, OTHER_FILE, 7}, {0x1134, MAIN_FILE, 0},
    };
    begin(f);
    made_work(f->made, 21);
    end(f);
    add_function(&f->info, "g", INLINED_FILE, 4, 13);
    add_function(&f->info, "h", INLINED_FILE, 20, 15);
    debug_info_add_range(&f->info, 0x1114, 0x1124, 1, &f->made->image);
    debug_info_add_range(&f->info, 0x112c, 0x1134, 2, &f->made->image);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        debug_info_add_line(&f->info, rows[i].address, rows[i].file, rows[i].line);
    build(f);
}

static void tear_down(struct fixture *f)
{
    procedure_scopes_free(&f->built);
    debug_info_free(&f->info);
}

/* The statement that contains an address, and the scope that it is in. */
static const struct scope *statement_at(const struct fixture *f, uint64_t address,
                                        const struct scope **around)
{
    for (uint32_t i = 0; i < f->built.scope_count; i++) {
        *around = &f->built.scopes[i];
        for (uint32_t k = (*around)->first_child; k != NO_SCOPE; k = f->built.scopes[k].next)
            for (uint32_t r = f->built.scopes[k].first_range;
                 f->built.scopes[k].kind == SCOPE_STATEMENT && r != NO_RANGE;
                 r = f->built.ranges[r].next)
                if (address >= f->built.ranges[r].begin && address < f->built.ranges[r].end)
                    return &f->built.scopes[k];
    }
    *around = NULL;
    return NULL;
}

static void check(const struct fixture *f, uint64_t address, const char *function, uint32_t file,
                  uint32_t line)
{
    const struct scope *around, *statement = statement_at(f, address, &around);
    assert_non_null(statement);
    assert_int_equal(statement->file, file);
    assert_int_equal(statement->line, line);
    const char *name =
        around->kind == SCOPE_PROCEDURE
            ? "f"
            : strtab_string(&f->info.names, f->info.functions.at[around->function].name);
    assert_string_equal(name, function);
}

/* A row of another file keeps that file. */
TEST(test_other_file)
{
    struct fixture f;
    set_up(&f);
    check(&f, 0x1100, "f", MAIN_FILE, 10);
    check(&f, 0x1104, "f", OTHER_FILE, 29);
    check(&f, 0x1110, "f", MAIN_FILE, 12);
    check(&f, 0x1114, "g", INLINED_FILE, 5);
    check(&f, 0x1130, "h", OTHER_FILE, 7);
    tear_down(&f);
}

/* A row of line 0 takes the nearest line of the same scope in the file of its function; not that of
 * another scope, another file or a tagged file. */
TEST(test_line_zero)
{
    struct fixture f;
    set_up(&f);
    check(&f, 0x1108, "f", MAIN_FILE, 12); /* not line 29 of another file, though it is as near */
    check(&f, 0x1118, "g", INLINED_FILE, 5);
    check(&f, 0x1123, "g", INLINED_FILE, 5); /* not line 14 of the caller */
    check(&f, 0x1128, "f", TAGGED_FILE, 0);  /* overhead */
    check(&f, 0x112c, "h", INLINED_FILE, 0); /* no line of inlined.h in this call */
    check(&f, 0x1134, "f", MAIN_FILE, 14);
    tear_down(&f);
}

/* ---- loops ---- */

struct place {
    uint32_t file, line;
};

/* Nested loops, each with its first code and the branch at its end in a place, the innermost one first,
 * which has a `pause`. Returns how many are shown, and how many of these have a `pause` of their own. */
static unsigned count_loops(const struct place *places, unsigned count, unsigned *pausing)
{
    struct fixture f;
    uint64_t headers[80];
    begin(&f);
    for (unsigned i = count; i-- > 0;) {
        headers[i] = f.made->at;
        debug_info_add_line(&f.info, f.made->at, places[i].file, places[i].line);
        made_work(f.made, 1);
    }
    made_code(f.made, 0xf3, 0x90);
    for (unsigned i = 0; i < count; i++) {
        debug_info_add_line(&f.info, f.made->at, places[i].file, places[i].line);
        made_branch(f.made, headers[i]);
    }
    end(&f);
    build(&f);
    unsigned loops = 0;
    *pausing = 0;
    for (uint32_t i = 0; i < f.built.scope_count; i++) {
        loops += f.built.scopes[i].kind == SCOPE_LOOP;
        *pausing += f.built.scopes[i].kind == SCOPE_LOOP && f.built.scopes[i].pauses;
    }
    tear_down(&f);
    return loops;
}

/* A loop with several `continue` is a nest in the code. */
TEST(test_loops_of_one_line)
{
    const struct place one[] = {{MAIN_FILE, 12}, {MAIN_FILE, 12}},
                       two[] = {{OTHER_FILE, 12}, {MAIN_FILE, 12}};
    unsigned pausing;
    assert_int_equal(count_loops(one, 2, &pausing), 1);
    assert_int_equal(pausing, 1);
    assert_int_equal(count_loops(two, 2, &pausing), 2);
    assert_int_equal(pausing, 1);
}

TEST(test_depth_of_loops)
{
    struct place places[70];
    unsigned pausing;
    for (uint32_t i = 0; i < 70; i++)
        places[i] = (struct place){MAIN_FILE, 100 - i};
    assert_int_equal(count_loops(places, 60, &pausing), 60);
    assert_int_equal(count_loops(places, 70, &pausing), 60);
    for (uint32_t i = 1; i < 70; i++)
        places[i].line = 12;
    assert_int_equal(count_loops(places, 70, &pausing), 2);
}
