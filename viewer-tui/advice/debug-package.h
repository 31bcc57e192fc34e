/* The Debian package with the debug information of a file that dpkg installed here. */
#ifndef VIEWER_DEBUG_PACKAGE_H
#define VIEWER_DEBUG_PACKAGE_H

/* "zlib1g-dbgsym" or "libc6-dbg"; NULL if no package has the file, or dpkg is not used here. Takes
 * 0.1 s, since it searches dpkg's lists of files. The caller frees. */
char *debug_package_of(const char *path);

#endif
