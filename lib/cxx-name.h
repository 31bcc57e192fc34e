/* Demangled names of C++ functions. */
#ifndef LIB_CXX_NAME_H
#define LIB_CXX_NAME_H

#include <stdbool.h>

/* Whether the function is of C++'s own library: in namespace std. A result type may stand before
 * its name, as before that of any instance of a template:
 * "void std::call_once<...>(...)" is, "std::vector<int> sorted<int>(int)" is not. */
bool cxx_name_is_std(const char *name);

#endif
