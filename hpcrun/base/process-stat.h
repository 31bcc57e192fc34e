/* /proc/PID/stat and /proc/PID/task/TID/stat: fields by their numbers in proc_pid_stat(5). */
#ifndef HPCRUN_BASE_PROCESS_STAT_H
#define HPCRUN_BASE_PROCESS_STAT_H

#include "hpcrun/base/small-file.h"
#include "hpcrun/base/text-buffer.h"

#include <string.h>

enum { STAT_STATE = 3, STAT_PARENT = 4, STAT_SYSTEM_TIME = 15, STAT_CHILDREN_USER_TIME = 16,
       STAT_CHILDREN_SYSTEM_TIME = 17, STAT_START = 22, STAT_EXIT_CODE = 52 };

#define STAT_BYTES 1024

/* False if there is no such process or thread. */
static inline bool stat_read(const char *path, char text[STAT_BYTES])
{
    return small_file_read(path, text, STAT_BYTES) > 0;
}

/* Field 3 or a later one. The search begins after the last ')', since field 2, a name in parentheses, may contain
 * spaces and parentheses. NULL if the text ends before. */
static inline const char *stat_field(const char *text, unsigned field)
{
    const char *at = strrchr(text, ')');
    for (unsigned i = 2; at && i < field; i++)
        at = (at = strchr(at, ' ')) ? at + 1 : NULL;
    return at;
}

/* 0 if it is missing, or no number. */
static inline uint64_t stat_number(const char *text, unsigned field)
{
    const char *at = stat_field(text, field);
    uint64_t number = 0;
    return at && text_parse_number(&at, &number) ? number : 0;
}

#endif
