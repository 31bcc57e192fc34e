/* The version of the whole project; every tool prints it with --version. */
#ifndef LIB_VERSION_H
#define LIB_VERSION_H

#define HPCTOOLKIT_VERSION "0.1"

#endif
