/* What the names of procedures say, and how people want to read them. */
#ifndef HPCSTRUCT_NAMES_H
#define HPCSTRUCT_NAMES_H

#include <stdbool.h>

/* The name for people: C++, Rust and D names demangled with their parameters, all others as they
 * are; "_ZN3fooEv@plt" is "foo()@plt". The caller frees. */
char *demangled_name(const char *linkage_name);

/* Whether a name is one that compilers give to the rarely executed part of a function:
 * "FUNCTION.cold" or "FUNCTION.cold.N". */
bool is_cold_name(const char *name);

/* Whether `name` is the cold part of the function called `of`. */
bool is_cold_name_of(const char *name, const char *of);

/* Whether a function of this name (or its stub, "FUNCTION@plt") is known never to return. */
bool is_no_return_name(const char *name);

/* Text from a binary made fit for an XML document. */

/* The text with everything replaced (by U+FFFD) that is not valid UTF-8 or is a control character.
 * Takes `text`, which malloc gave, and returns it or another one; the caller frees. */
char *clean_text(char *text);

#endif
