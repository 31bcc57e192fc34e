#include "hpcprof/database/v4-file.h"

#include <string.h>

const char *const propagation_names[PROPAGATIONS] = {
    [PROPAGATE_POINT] = "point",
    [PROPAGATE_FUNCTION] = "function",
    [PROPAGATE_LEX_AWARE] = "lex_aware",
    [PROPAGATE_EXECUTION] = "execution",
};

const char *const id_kind_names[ID_KINDS] = {
    [ID_SUMMARY] = "SUMMARY", [ID_NODE] = "NODE",     [ID_RANK] = "RANK",
    [ID_PROCESS] = "PROCESS", [ID_THREAD] = "THREAD",
};

static void write_header(struct file_writer *file, const char *format, size_t count)
{
    struct v4_header header = {.major = V4_MAJOR, .minor = V4_MINOR};
    memcpy(header.magic, V4_MAGIC, V4_MAGIC_SIZE);
    memcpy(header.format, format, V4_FORMAT_SIZE);
    file_write(file, &header, sizeof header);
    for (size_t i = 0; i < count; i++)
        file_write(file, &(struct v4_section){0}, sizeof(struct v4_section));
}

void v4_create(struct file_writer *file, const char *path, const char *format, size_t count)
{
    file_create(file, path);
    write_header(file, format, count);
}

void v4_create_shared(struct file_writer *file, const char *path, const char *format, size_t count)
{
    file_create_shared(file, path);
    write_header(file, format, count);
}

void v4_close(struct file_writer *file, const char *footer, const struct v4_section *sections,
              size_t count)
{
    file_write(file, footer, V4_FOOTER_SIZE);
    file_patch(file, V4_HEADER_SIZE, sections, count * sizeof *sections);
    file_close(file);
}
