/* Readers of outside input as targets of libFuzzer (clang). A program has several targets; the name
 * by which it is called chooses one:
 *     build/fuzz/structure CORPUS-DIRECTORY -max_total_time=60
 *
 * Besides crashes, undefined behavior, leaks and hangs, each run checks what a reader promises
 * (promise.h), and how much memory it holds at once. */
#ifndef TESTS_FUZZ_FUZZ_TARGET_H
#define TESTS_FUZZ_FUZZ_TARGET_H

#include "tests/fuzz/promise.h"

#include <stddef.h>
#include <stdint.h>

struct fuzz_target {
    const char *name;
    void (*run)(const uint8_t *data, size_t size);
    /* Most bytes of heap that a run may hold at once: base + factor * size. The factor is what
     * one byte of the densest input becomes; with both, a size field alone can't cause a large
     * allocation. */
    size_t base, factor;
};

/* Each is in one of the programs. */
#define FUZZ_TARGET extern const struct fuzz_target __attribute__((weak))
FUZZ_TARGET measurement_target, arenas_target, perf_map_target, structure_target, elf_target,
    eh_frame_target, debug_line_target, debug_info_target, cfi_target,
    config_target, outside_target, set_index_target, process_list_target, database_target, run_json_target,
    instructions_json_target, timeline_target, elf_notes_target, go_table_target, memory_test_target, split_debug_target,
    kernel_symbols_target, perf_records_target;

/* Places for readers that want a path. The result of input_file is "/proc/self/fd/N"; the one of
 * input_folder is a directory, which has a file of this name and these bytes and keeps its other
 * files. Both are valid until the next call. */
const char *input_file(const uint8_t *data, size_t size);
const char *input_folder(const char *name, const uint8_t *data, size_t size);

#endif
