/* cct.db: the values of each context in all threads, grouped by context. It repeats what profile.db
 * has grouped by thread, so a database may lack it. */
#ifndef VIEWER_CCT_FILE_H
#define VIEWER_CCT_FILE_H

#include "viewer-tui/db/v4-map.h"

struct cct_file {
    struct v4_map map;
    struct v4_context_infos contexts;
};

/* False if there is none, or, with the problem noted, if it is damaged. */
bool cct_file_open(struct cct_file *file, const char *folder);
void cct_file_close(struct cct_file *file); /* a zeroed one may be closed */

/* Notes the problem if the file exists and is damaged. */
void cct_file_check(const char *folder);

/* The values of one metric id in a context: an array of *n, at most `most`. NULL and 0 if there are
 * none, or, with the problem noted, if the context is damaged. */
const struct v4_profile_value *cct_file_values(const struct cct_file *file, uint32_t context,
                                               int metric_id, uint64_t most, size_t *n);

#endif
