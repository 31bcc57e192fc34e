/* The debug information of Go programs without DWARF: lines and inlined calls by the table of Go's runtime. */
#ifndef HPCSTRUCT_GO_DEBUG_INFO_H
#define HPCSTRUCT_GO_DEBUG_INFO_H

#include "hpcstruct/dwarf/debug-info.h"
#include "hpcstruct/elf/code-ranges.h"
#include "hpcstruct/elf/go-program.h"

/* Adds the lines, functions and inlined calls of all functions, or of those with code in `wanted`, unless
 * that is NULL. */
void go_debug_info_read(struct debug_info *info, const struct go_program *go,
                        const struct code_ranges *wanted);

#endif
