/* Names of source files and functions that carry a meaning. */
#ifndef LIB_SOURCE_NAMES_H
#define LIB_SOURCE_NAMES_H

#include <stdbool.h>

/* The base name of a source file whose code is parallel overhead, or what comes before the kind. */
#define OVERHEAD_TAG "hpctoolkit:parallel-overhead"

/* The kind of parallel overhead that code of this source file is: "steal" for
 * "hpctoolkit:parallel-overhead:steal", "overhead" if the name ends before a kind. Runtimes put
 * such names in #line directives; a compiler may put a directory in front. The kind points into
 * `path` or is a constant. NULL: the file is not tagged. */
const char *overhead_kind(const char *path);

/* Whether a demangled C++ function is of namespace std. A result type may precede the name, as in
 * instances of templates: "void std::call_once<...>(...)" is of std,
 * "std::vector<int> sorted<int>(int)" is not. */
bool cxx_name_is_std(const char *name);

/* Whether a source file, or a binary, is installed and not a user's own: below /usr, but not in /usr/local or /usr/src; in
 * the library of C++, Python, Rust or Go, wherever that is installed or however the compiler names it, as
 * ".../lib/python3.11/json/encoder.py", "/rustc/59807616e/library/core/src/cmp.rs" or "runtime/proc.go"; "<frozen os>"; a
 * dependency. */
bool path_is_installed(const char *path);

/* Whether a source file is of a package that Cargo or Go has fetched. */
bool path_is_of_dependency(const char *path);

#endif
