/* Names and other text from binaries. */
#ifndef HPCSTRUCT_NAMES_H
#define HPCSTRUCT_NAMES_H

#include <stdbool.h>

/* Demangles C++, Rust and D names, with their parameters; other names stay as they are. The name of
 * a stub keeps its suffix: "_ZN3fooEv@plt" becomes "foo()@plt". The caller frees. */
char *demangled_name(const char *linkage_name);

/* Whether demangled_name knows the form of a linkage name. libiberty does not know those of constraints and of template
 * parameters' types, which clang 18 and gcc 14 began to write: `_Z1fITnbLb1EEvv`. */
bool is_demanglable(const char *linkage_name);

/* Whether a compiler gives this name to the cold (rarely executed) part of a function:
 * "FUNCTION.cold" or "FUNCTION.cold.N". */
bool is_cold_name(const char *name);

/* Whether `name` is that of the cold part of `function`. */
bool is_cold_name_of(const char *name, const char *function);

/* Whether a function with this name is known never to return. "FUNCTION@plt" counts as FUNCTION. */
bool is_no_return_name(const char *name);

/* Makes text fit for an XML document: replaces control characters and what is not valid UTF-8 by
 * U+FFFD, and shortens what is longer than our files hold (lib/long-text.h). Takes ownership of `text`; the caller
 * frees the result. */
char *xml_safe_text(char *text);

#endif
