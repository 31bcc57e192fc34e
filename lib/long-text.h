/* Names, paths and descriptions from outside can have any length: the demangled name of a template
 * instance can have more than 200,000 bytes. Our files have shorter ones, so that a reader can bound
 * what it does with a string. */
#ifndef LIB_LONG_TEXT_H
#define LIB_LONG_TEXT_H

/* Bytes of the longest string in our structures and databases, without its terminator. */
#define LONGEST_TEXT 65535

/* The text, if it is not longer than LONGEST_TEXT. Else its beginning and its end, with a mark between
 * them: "main<P<P<int>...[219812 bytes, 1f3a97c2]...>>". The number of the mark differs between texts
 * that differ only in what is left out. Takes ownership of the text; the caller frees the result. */
char *shortened_text(char *text);

#endif
