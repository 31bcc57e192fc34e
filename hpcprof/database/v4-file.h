/* What all v4 files have: header, table of sections, footer. */
#ifndef HPCPROF_V4_FILE_H
#define HPCPROF_V4_FILE_H

#include "hpcprof/base/file-writer.h"

#include "lib/database-format.h"

/* Creates the file and leaves room for its header and `count` sections. */
void v4_create(struct file_writer *file, const char *path, const char *format, size_t count);

/* Writes footer and sections, and closes the file. */
void v4_close(struct file_writer *file, const char *footer, const struct v4_section *sections,
              size_t count);

#endif
