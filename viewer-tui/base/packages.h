/* Which Debian package a file belongs to. */
#ifndef VIEWER_PACKAGES_H
#define VIEWER_PACKAGES_H

/* The name of the package that has the file, "zlib1g"; NULL if none has, or dpkg is not used here. Takes 0.1 s, since
 * it searches dpkg's lists of files. The caller frees. */
char *package_of(const char *path);

#endif
