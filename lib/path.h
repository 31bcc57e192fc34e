/* Paths as text: nothing here looks at the file system. */
#ifndef LIB_PATH_H
#define LIB_PATH_H

/* The path without empty and "." components, and with "NAME/.." taken out; the caller frees.
 * An absolute path stays absolute and never climbs above the root. */
char *path_normalize(const char *path);

/* The last component. */
const char *path_base(const char *path);

#endif
