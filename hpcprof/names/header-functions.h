/* Functions of a parallel runtime's headers, which the compiler builds into the user's modules. Rules
 * (hpcprof/runtime/rules.h) name the files:
 *
 *     header PATTERN      source files of the runtime, by their paths
 *
 * The logical projection shows such functions without template arguments and inner namespaces, and of
 * consecutive ones only the outermost: the one that the user called. Example, with
 * a pattern for the folder oneapi/tbb:
 *
 *     before                                                  after
 *     loop                                                    loop
 *     tbb::detail::d1::parallel_for<int, loop()::<lambda...   tbb::parallel_for
 *     tbb::detail::d1::start_for<tbb::detail::d1::blocked...
 *     ... more of them, and their loops
 *     loop()::<lambda(int)>                                   loop()::<lambda(int)> */
#ifndef HPCPROF_HEADER_FUNCTIONS_H
#define HPCPROF_HEADER_FUNCTIONS_H

#include "hpcprof/names/symbol-table.h"
#include "hpcprof/runtime/runtime-code.h"

/* Finds them in all modules, and adds a function for each shown name. */
void headers_find(struct symbol_table *symbols, const struct runtime_code *code);

#endif
