/* What the database says about itself in words. */
#ifndef HPCPROF_RUN_DESCRIPTION_H
#define HPCPROF_RUN_DESCRIPTION_H

#include "hpcprof/measurement/measurements.h"

/* The name of the program that was measured; the caller frees. */
char *text_title(const struct inputs *inputs);

/* A few lines of Markdown about the run; the caller frees. */
char *text_description(const struct inputs *inputs);

/* Writes FORMATS.md: what is where in the database. */
void text_write_formats(const char *path);

#endif
