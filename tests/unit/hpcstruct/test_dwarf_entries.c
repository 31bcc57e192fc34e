/* Entries of debug information, compared with libdwarf on this program: tags, attributes, and where
 * their siblings are. Damaged ones: no read leads out of the section (the sanitizers see that), and
 * all end. Memory of sections is given back. */
#include "tests/unit/cmocka_suite.h"

#include "hpcstruct/dwarf/dwarf-entry.h"
#include "hpcstruct/dwarf/unit-scopes.h"

#include <libdwarf/dwarf.h>
#include <libdwarf/libdwarf.h>

/* libdwarf 0.1 of 2021 has fewer parameters than the versions before it. */
#ifdef DW_LIBDWARF_VERSION_MAJOR
#define INIT_PATH(path, debug, error) \
    dwarf_init_path(path, NULL, 0, DW_GROUPNUMBER_ANY, NULL, NULL, debug, error)
#define FINISH(debug, error) dwarf_finish(debug)
#else
#define INIT_PATH(path, debug, error) \
    dwarf_init_path(path, NULL, 0, 0, DW_GROUPNUMBER_ANY, NULL, NULL, debug, NULL, 0, NULL, error)
#define FINISH(debug, error) dwarf_finish(debug, error)
#endif

/* ---- the program that runs ---- */

struct program {
    struct elf_image *image;
    struct dwarf_source source;
    Dwarf_Debug reference;
    unsigned compared; /* number of entries */
};

static int open_program(void **state)
{
    struct program *program = mem_alloc(sizeof *program);
    char *cause = NULL, *problem = NULL;
    Dwarf_Error error;
    program->image = elf_open("/proc/self/exe", &cause);
    assert_non_null(program->image);
    dwarf_source_open(&program->source, program->image, NULL, 1, &problem);
    assert_null(problem);
    assert_int_equal(INIT_PATH("/proc/self/exe", &program->reference, &error), DW_DLV_OK);
    *state = program;
    return 0;
}

static int close_program(void **state)
{
    struct program *program = *state;
    Dwarf_Error error = NULL;
    dwarf_source_close(&program->source);
    elf_close(program->image);
    FINISH(program->reference, &error);
    (void)error;
    free(program);
    return 0;
}

/* ---- attributes ---- */

static Dwarf_Attribute attribute_of(Dwarf_Die die, unsigned name)
{
    Dwarf_Attribute attribute = NULL;
    Dwarf_Error error;
    return dwarf_attr(die, (Dwarf_Half)name, &attribute, &error) == DW_DLV_OK ? attribute : NULL;
}

static void compare_number(const struct dwarf_entry *entry, enum entry_attribute which,
                           Dwarf_Die die, unsigned name)
{
    Dwarf_Attribute attribute = attribute_of(die, name);
    Dwarf_Error error;
    uint64_t found = 0;
    bool has = entry_number(entry, which, &found);
    assert_int_equal(has, attribute != NULL);
    if (!has)
        return;
    Dwarf_Half form;
    Dwarf_Unsigned number = 0;
    Dwarf_Signed as_signed = 0;
    assert_int_equal(dwarf_whatform(attribute, &form, &error), DW_DLV_OK);
    if (form == DW_FORM_implicit_const || form == DW_FORM_sdata) {
        assert_int_equal(dwarf_formsdata(attribute, &as_signed, &error), DW_DLV_OK);
        number = (Dwarf_Unsigned)as_signed;
    } else {
        assert_int_equal(dwarf_formudata(attribute, &number, &error), DW_DLV_OK);
    }
    assert_int_equal(found, number);
}

static void compare_name(const struct program *program, const struct dwarf_unit *unit,
                         const struct dwarf_entry *entry, Dwarf_Die die)
{
    Dwarf_Attribute attribute = attribute_of(die, DW_AT_name);
    const char *name = entry_text(&program->source, unit, entry, ENTRY_NAME);
    char *expected = NULL;
    Dwarf_Error error;
    assert_int_equal(name != NULL, attribute != NULL);
    if (!name)
        return;
    assert_int_equal(dwarf_formstring(attribute, &expected, &error), DW_DLV_OK);
    assert_string_equal(name, expected);
}

static void compare_reference(const struct program *program, const struct dwarf_unit *unit,
                              const struct dwarf_entry *entry, Dwarf_Die die)
{
    Dwarf_Attribute attribute = attribute_of(die, DW_AT_abstract_origin);
    const struct dwarf_source *in = NULL;
    uint64_t offset = 0;
    Dwarf_Off expected = 0;
    Dwarf_Error error;
    bool has = entry_reference(&program->source, unit, entry, ENTRY_ABSTRACT_ORIGIN, &offset, &in);
    assert_int_equal(has, attribute != NULL);
    if (!has)
        return;
    assert_int_equal(dwarf_global_formref(attribute, &expected, &error), DW_DLV_OK);
    assert_int_equal(offset, expected);
    assert_ptr_equal(in, &program->source);
}

/* Of entries with one range. */
static void compare_range(const struct program *program, const struct dwarf_unit *unit,
                          const struct dwarf_entry *entry, Dwarf_Die die)
{
    struct address_ranges ranges = {.list_entries_left = 1000};
    Dwarf_Addr low, high;
    Dwarf_Half form;
    enum Dwarf_Form_Class class;
    Dwarf_Error error;
    assert_true(entry_ranges(&program->source, unit, entry, &ranges));
    if (!attribute_of(die, DW_AT_ranges) && dwarf_lowpc(die, &low, &error) == DW_DLV_OK &&
        dwarf_highpc_b(die, &high, &form, &class, &error) == DW_DLV_OK) {
        Dwarf_Addr end = class == DW_FORM_CLASS_CONSTANT ? low + high : high;
        assert_int_equal(ranges.all.n, end > low);
        assert_true(end <= low || (ranges.all.at[0].begin == low && ranges.all.at[0].end == end));
    }
    vec_free(&ranges.all);
}

/* ---- all entries ---- */

static void compare_entries(struct program *program, const struct dwarf_unit *unit, Dwarf_Die die);

/* Skipping an entry leads to its sibling; NULL: none. */
static void compare_entry(struct program *program, const struct dwarf_unit *unit, Dwarf_Die die,
                          Dwarf_Die sibling)
{
    Dwarf_Error error;
    Dwarf_Off offset, next;
    Dwarf_Half tag;
    Dwarf_Die child = NULL;
    struct dwarf_entry entry, after;
    assert_int_equal(dwarf_dieoffset(die, &offset, &error), DW_DLV_OK);
    assert_int_equal(dwarf_tag(die, &tag, &error), DW_DLV_OK);
    struct entry_reader reader = entry_reader_at(&program->source, unit, offset);
    assert_true(entry_begin(&reader, unit, &entry));
    assert_int_equal(entry.abbreviation->tag, tag);
    struct entry_reader skipper = reader;
    entry_skip(&skipper, unit, &entry);
    bool has_more = entry_begin(&skipper, unit, &after);
    if (sibling) {
        assert_int_equal(dwarf_dieoffset(sibling, &next, &error), DW_DLV_OK);
        assert_true(has_more);
        assert_int_equal(after.offset, next);
    } else {
        assert_true(!has_more || !after.abbreviation);
    }
    entry_read(&reader, unit, &entry);
    assert_false(reader.bytes.failed);
    compare_name(program, unit, &entry, die);
    compare_number(&entry, ENTRY_DECL_FILE, die, DW_AT_decl_file);
    compare_number(&entry, ENTRY_DECL_LINE, die, DW_AT_decl_line);
    compare_number(&entry, ENTRY_CALL_LINE, die, DW_AT_call_line);
    compare_reference(program, unit, &entry, die);
    compare_range(program, unit, &entry, die);
    program->compared++;
    if (dwarf_child(die, &child, &error) == DW_DLV_OK)
        compare_entries(program, unit, child);
}

/* An entry and its siblings. */
static void compare_entries(struct program *program, const struct dwarf_unit *unit, Dwarf_Die die)
{
    Dwarf_Error error;
    while (die) {
        Dwarf_Die sibling = NULL;
        if (dwarf_siblingof_b(program->reference, die, 1, &sibling, &error) != DW_DLV_OK)
            sibling = NULL;
        compare_entry(program, unit, die, sibling);
        die = sibling;
    }
}

TEST(test_this_program)
{
    struct program *program = *state;
    for (size_t i = 0; i < program->source.units.n; i++) {
        const struct dwarf_unit *unit = &program->source.units.at[i];
        Dwarf_Die first = NULL;
        Dwarf_Error error;
        assert_int_equal(dwarf_offdie_b(program->reference, unit->head.entry, 1, &first, &error),
                         DW_DLV_OK);
        compare_entries(program, unit, first);
    }
    assert_true(program->source.units.n > 10);
    assert_true(program->compared > 5000);
}

/* ---- damage ---- */

TEST(test_damage)
{
    struct program *program = *state;
    const struct dwarf_source *good = &program->source;
    uint8_t *copy = mem_alloc(good->sections.info.size);
    memcpy(copy, good->sections.info.at, good->sections.info.size);
    struct dwarf_source bad = *good;
    bad.sections.info.at = copy;
    const struct dwarf_unit *unit = &good->units.at[0];
    uint32_t random = 1;
    for (unsigned round = 0; round < 300; round++) {
        struct unit_scopes scopes = {0};
        random = random * 1664525 + 1013904223;
        uint64_t at = unit->head.entry + (random >> 8) % (unit->head.end - unit->head.entry);
        uint8_t before = copy[at];
        copy[at] ^= (uint8_t)(1u << round % 8);
        unit_scopes_read(&scopes, &bad, unit);
        for (size_t i = 0; i < scopes.scopes.n; i++)
            assert_true(scopes.scopes.at[i].function < scopes.functions.n);
        unit_scopes_free(&scopes);
        copy[at] = before;
    }
    free(copy);
}

/* ---- memory ---- */

/* Bytes of the mapping at an address that are in memory. */
static size_t resident(const void *address)
{
    char line[512];
    unsigned long begin, end, kilobytes = 0;
    bool is_inside = false;
    FILE *maps = fopen("/proc/self/smaps", "re");
    assert_non_null(maps);
    while (fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
            is_inside = (uintptr_t)address >= begin && (uintptr_t)address < end;
        else if (is_inside && sscanf(line, "Rss: %lu kB", &kilobytes) == 1)
            break;
    }
    fclose(maps);
    return (size_t)kilobytes * 1024;
}

TEST(test_release)
{
    struct program *program = *state;
    const struct elf_image *image = program->image;
    struct elf_bytes info = program->source.sections.info;
    volatile uint8_t sum = 0;
    for (size_t i = 0; i < info.size; i++)
        sum = (uint8_t)(sum + info.at[i]);
    size_t before = resident(info.at), two_pages = 2 * 4096;
    assert_true(before >= info.size && info.size > 10 * two_pages);
    elf_release_bytes(image, info.at, info.at + info.size);
    assert_true(resident(info.at) <= before - info.size + two_pages);
    elf_release_bytes(image, (const uint8_t *)&before, (const uint8_t *)(&before + 1));
    sum = info.at[0]; /* is read again */
    elf_release_debug_sections(image);
    assert_true(resident(info.at) <= before - info.size + two_pages);
}

EACH_TEST(open_program, close_program);
