/* The folder of the database: it gets its name only when everything in it is written, so that an
 * interrupted run leaves nothing that looks like a database. */
#ifndef HPCPROF_DATABASE_DIR_H
#define HPCPROF_DATABASE_DIR_H

#include <stdbool.h>

/* Makes the folder to write to, next to its final place, and returns its path, which stays valid.
 * `wanted` is what the user asks for; with NULL the name is made from that of the measurement
 * directory: hpctoolkit-CMD-database[-n], in the current directory. The folder is the user's alone,
 * or, `shared`, also others' as far as the umask lets them; the process's umask is changed
 * accordingly. Ends the process when `wanted` exists and is not an empty directory of the user's,
 * or nothing can be written. From now on the folder is removed when the process exits or is stopped
 * by a signal before database_dir_publish; a signal also stops the programs that were started. Call
 * before there are threads. */
const char *database_dir_create(const char *wanted, const char *measurements, bool shared);

/* Gives the folder its final name, and returns that. */
const char *database_dir_publish(void);

#endif
