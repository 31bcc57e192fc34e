/* agents/python: names of Python code, read from memory. */
#include "tests/unit/agents/made_python.h"

static const struct python_name *name_of(const struct python_reader *r, struct python_names *names, struct code *its)
{
    return python_name(r, names, &(struct python_frame){.code = address(its)});
}

TEST(a_name_has_the_texts_of_its_code)
{
    static struct python_names names;
    const struct python_name *its = name_of(&reader, &names, &code);
    assert_non_null(its);
    assert_int_equal(its->first_traceable, 1);
    assert_int_equal(asked.procedure.at, address(name_text.data));
    assert_int_equal(asked.procedure.length, 1);
    assert_int_equal(asked.procedure.width, 1);
    assert_int_equal(asked.file.at, address(file_text.data));
    assert_int_equal(asked.line, 30);
    assert_int_equal(asked.table, address(table.data));
    assert_int_equal(asked.table_bytes, 2);
    uint64_t value = its->value, given = names_given;
    assert_int_equal(name_of(&reader, &names, &code)->value, value);
    assert_int_equal(names_given, given);
}

/* The characters of a str of a subclass lie elsewhere. */
TEST(a_name_may_be_of_a_subclass_of_str)
{
    static struct python_names names;
    static const char characters[] = "page.html";
    uint64_t at = address(characters);
    file_text.state = 1 << 2 | 1 << 6; /* not compact */
    file_text.length = strlen(characters);
    memcpy(file_text.data, &at, sizeof at);
    assert_non_null(name_of(&reader, &names, &code));
    assert_int_equal(asked.file.at, at);
    assert_int_equal(asked.file.length, strlen(characters));
    assert_int_equal(asked.file.width, 1);
}

TEST(importlib_is_hidden)
{
    static struct python_names names;
    assert_false(name_of(&reader, &names, &code)->is_hidden);
    strcpy(file_text.data, "<frozen importlib._bootstrap>");
    file_text.length = strlen(file_text.data);
    names = (struct python_names){0};
    assert_true(name_of(&reader, &names, &code)->is_hidden);
}

/* Another code object at the same address differs in one of these. */
TEST(code_that_takes_the_place_of_freed_code_has_another_name)
{
    static struct python_names names;
    static struct text another;
    static struct lines other_table;
    uint64_t last = name_of(&reader, &names, &code)->value;
    another = name_text;
    other_table = table;
    for (int what = 0; what < 7; what++) {
        switch (what) {
        case 0: code.name = &another; break;
        case 1: code.file = &another; break;
        case 2: code.lines = &other_table; break;
        case 3: code.first_line++; break;
        case 4: code.name->hash++; break;
        case 5: code.lines->size++; break;
        case 6: code.lines->data[0]++; break;
        }
        uint64_t value = name_of(&reader, &names, &code)->value;
        assert_int_not_equal(value, last);
        last = value;
    }
}

/* What it refers to is not read, and not compared, while the version is the same: from 3.12 on. */
TEST(code_has_the_name_of_its_version)
{
    static struct python_names names;
    static struct text another;
    layout.code_version = offsetof(struct code, more);
    code.more[0] = 7;
    uint64_t last = name_of(&reader, &names, &code)->value;
    reads = 0;
    assert_int_equal(name_of(&reader, &names, &code)->value, last);
    assert_int_equal(reads, 2); /* its type, its words */
    code.name->hash++;
    assert_int_equal(name_of(&reader, &names, &code)->value, last);
    code.more[0] = 8;
    uint64_t next = name_of(&reader, &names, &code)->value;
    assert_int_not_equal(next, last);
    code.more[0] = 0; /* the interpreter has given out all versions */
    code.name->hash++;
    last = name_of(&reader, &names, &code)->value;
    assert_int_not_equal(last, next);
    code.name->hash++;
    next = name_of(&reader, &names, &code)->value;
    assert_int_not_equal(next, last);
    code.more[0] = 9;
    last = name_of(&reader, &names, &code)->value;
    another = name_text;
    code.name = &another; /* of another interpreter */
    assert_int_not_equal(name_of(&reader, &names, &code)->value, last);
    layout.code_version = 0;
}

/* Recursion: it is read at its first frame only; at the next sample, it may be another one. */
TEST(code_is_compared_once_at_a_sample)
{
    static struct python_names names;
    python_names_begin(&names);
    uint64_t first = name_of(&reader, &names, &code)->value;
    reads = 0;
    assert_int_equal(name_of(&reader, &names, &code)->value, first);
    assert_int_equal(reads, 0);
    code.first_line++;
    python_names_begin(&names);
    uint64_t next = name_of(&reader, &names, &code)->value;
    assert_int_not_equal(next, first);
    assert_int_equal(name_of(&reader, &names, &code)->value, next);
}

TEST(what_is_no_code_has_no_name)
{
    static struct python_names names;
    code.type = 1;
    assert_null(name_of(&reader, &names, &code));
}

static struct function function;

static void begin_functions(void)
{
    static char function_type;
    layout.types.function = address(&function_type);
    layout.frame_function = offsetof(struct frame, function);
    layout.function_code = offsetof(struct function, code);
    layout.function_version = offsetof(struct function, version);
    function = (struct function){&function_type, &code, 500};
}

/* By the first frame. */
static uint64_t value_of_frame(struct python_names *names)
{
    uint64_t at = address(&frame[0]);
    const struct python_frame its = python_frame_next(&reader, &at);
    python_names_begin(names);
    const struct python_name *name = python_name(&reader, names, &its);
    return name ? name->value : 0;
}

/* 3.11: then its code object is not read, and not compared. */
TEST(code_has_the_name_of_its_function)
{
    static struct python_names names;
    begin_3_11();
    begin_functions();
    frame[0].function = &function;
    uint64_t last = value_of_frame(&names);
    reads = 0;
    assert_int_equal(value_of_frame(&names), last);
    assert_int_equal(reads, 2); /* the frame, the version */
    code.first_line++;
    assert_int_equal(value_of_frame(&names), last);
    function.version = 501;
    uint64_t next = value_of_frame(&names);
    assert_int_not_equal(next, last);
    layout.function_version = 0;
}

/* While a function is new, or has got other code; or the object has the place of a function that is gone. */
TEST(a_function_may_say_nothing_of_its_frame)
{
    static struct python_names names;
    static struct code other_code;
    static struct function other_function;
    begin_3_11();
    for (int what = 0; what < 5; what++) {
        begin_functions();
        other_code = code;
        other_function = function;
        frame[0].function = &function;
        frame[0].code = &code;
        names = (struct python_names){0};
        switch (what) {
        case 0: function.version = 0; break;
        case 1: function.code = &other_code; break;
        case 2: function.type = NULL; break;
        }
        uint64_t last = value_of_frame(&names);
        switch (what) {
        case 3: frame[0].code = &other_code; break;
        case 4: frame[0].function = &other_function; break;
        }
        frame[0].code->first_line++;
        assert_int_not_equal(value_of_frame(&names), last);
    }
    layout.function_version = 0;
}

/* Two of these share a place. */
TEST(functions_with_the_same_version_and_code)
{
    static struct python_names names;
    static struct function many[(1 << PYTHON_NAME_BITS) + 1];
    begin_3_11();
    begin_functions();
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        many[i] = function;
        frame[0].function = &many[i];
        code.first_line++;
        uint64_t value = value_of_frame(&names);
        assert_int_equal(value, names_given);
    }
    layout.function_version = 0;
}

/* All that is read of the first frame's name but what is known after another read. */
TEST(where_a_name_begins_to_read)
{
    static struct python_names names;
    uint64_t at = address(&frame[0]), addresses[PYTHON_NAME_READS];
    begin_3_11();
    begin_functions();
    frame[0].function = &function;
    const struct python_frame its = python_frame_next(&reader, &at);
    assert_int_equal(python_name_reads(&reader, &names, &its, addresses), 4);
    assert_int_equal(addresses[0], address(&function.version));
    assert_int_equal(addresses[1], address(&code));
    assert_int_equal(addresses[2], address(&code) + CODE_FROM);
    assert_int_equal(addresses[3], address(&code) + CODE_FROM + 8 * (CODE_WORDS - 1));
    value_of_frame(&names);
    assert_int_equal(python_name_reads(&reader, &names, &its, addresses), 1);
    layout.function_version = 0;
    at = address(&frame[0]);
    const struct python_frame of_other_version = python_frame_next(&reader, &at);
    names = (struct python_names){0};
    assert_int_equal(python_name_reads(&reader, &names, &of_other_version, addresses), 3);
}

TEST(code_objects_that_share_a_place)
{
    static struct python_names names;
    static struct code many[(1 << PYTHON_NAME_BITS) + 1];
    python_names_begin(&names);
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        many[i] = code;
        assert_int_equal(name_of(&reader, &names, &many[i])->code, address(&many[i]));
    }
}

/* From outside: a text's length lies next to its characters, or not. */
TEST(a_name_is_given_once_all_of_it_is_read)
{
    static struct python_names names;
    uint64_t given = names_given;
    struct agent_host outside = host;
    struct python_reader elsewhere = {&outside, &cursor, &layout};
    outside.is_elsewhere = true;
    outside.is_caught = is_caught;
    has_missed = true;
    assert_null(name_of(&elsewhere, &names, &code));
    assert_int_equal(names_given, given);
    has_missed = false;
    assert_non_null(name_of(&elsewhere, &names, &code));
}

EACH_TEST(begin, NULL);
