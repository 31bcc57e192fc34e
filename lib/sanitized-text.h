/* Copies of text from outside, made safe to print or to store. They are allocated (lib/alloc.h), so
 * libhpcrun.so uses lib/printable.h and lib/utf8.h directly. */
#ifndef LIB_SANITIZED_TEXT_H
#define LIB_SANITIZED_TEXT_H

/* The text with escapes as lib/printable.h describes them; the caller frees. */
char *printable_text(const char *text);

/* A name for a new file: `name` with '_' in place of each backslash and of each character that
 * needs an escape, so that the new name prints as it is. The caller frees. */
char *printable_file_name(const char *name);

/* Valid UTF-8: each byte that utf8_decode calls invalid becomes U+FFFD. The caller frees. */
char *utf8_repaired(const char *text);

#endif
