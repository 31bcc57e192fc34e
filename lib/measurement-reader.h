/* Reads measurement files (lib/FORMAT-hpcrun.md) into memory.
 *
 * The reader takes any bytes: what is damaged is skipped and described in a line of text in
 * `problems`, what is intact is used. Memory stays within a small multiple of the file's size. */
#ifndef LIB_MEASUREMENT_READER_H
#define LIB_MEASUREMENT_READER_H

#include "lib/measurement.h"

/* Reads a file. NULL when nothing can be had from it; *cause is then a line that says why and
 * belongs to the caller. Thread-safe for different files. */
struct measurement *measurement_open(const char *path, char **cause);

#endif
