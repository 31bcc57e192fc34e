/* Where the other tools are: they are installed, and built, into one folder. */
#ifndef LIB_BESIDE_H
#define LIB_BESIDE_H

/* The path of `name` in the folder of the running executable; `name` itself where that folder
 * cannot be told. The caller frees. */
char *path_beside_executable(const char *name);

#endif
