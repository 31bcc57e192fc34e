/* The table of functions of Go programs, and the unwind information that is made of it. */
#include "tests/fuzz/fuzz-target.h"

#include "hpcrun/outside/go-frames.h"

#include <stdlib.h>
#include <string.h>

static void check_values(const struct go_table *table, const struct go_function *function,
                         uint32_t offset)
{
    struct go_values values = go_values_of(table, function, offset);
    for (uint64_t end = function->begin; go_values_next(&values); end = values.end)
        PROMISE(values.begin == end && values.end > values.begin && values.end <= function->end);
}

static void run_go_table(const uint8_t *data, size_t size)
{
    struct go_table table;
    struct go_function function;
    struct go_call call;
    size_t bytes;
    uint64_t end = 0;
    if (!go_table_open(&table, data, size))
        return;
    for (uint64_t i = 0; i < table.count; i++) {
        if (!go_table_function(&table, i, &function))
            continue;
        PROMISE(function.begin >= end && function.end > function.begin &&
                strlen(function.name) < size);
        end = function.end;
        check_values(&table, &function, function.depth_values);
        check_values(&table, &function, function.line_values);
        const char *file = go_table_file(&table, &function, (int64_t)(i % 4));
        PROMISE(!file || strlen(file) < size);
        if (go_table_call(&table, &function, table.functions, &call))
            PROMISE(strlen(call.name) < size);
    }
    free(go_frames_make(&table, &bytes));
}

const struct fuzz_target go_table_target = {"go-table", run_go_table, 1 << 20, 4096};
