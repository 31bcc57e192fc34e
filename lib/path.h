/* Paths. All but path_of_tool treat them as text and do not look at the file system. */
#ifndef LIB_PATH_H
#define LIB_PATH_H

/* The path without empty and "." components, and with "NAME/.." taken out; the caller frees.
 * An absolute path stays absolute and never climbs above the root. */
char *path_normalize(const char *path);

/* The last component. */
const char *path_base(const char *path);

/* The path of another tool of this project: all tools are built and installed into one folder, that
 * of the running executable. `tool` itself if that folder is unknown. The caller frees. */
char *path_of_tool(const char *tool);

#endif
