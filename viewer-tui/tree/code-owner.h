/* Whose code a procedure is: what a reader of a profile can change is the user's own.
 *
 * The first of these rules that applies decides:
 *
 *   1. the user's list (--own DIR, --own '!DIR'): the longest directory that contains the source file, else the binary
 *   2. a source file that Cargo or Go has fetched: a package's; one that a parallel runtime tagged as overhead, or that
 *      is installed (path_is_installed: headers of the compiler and of libraries, libraries of languages): the
 *      system's, as OCaml's library by the names of its procedures; of Python's packages: a package's
 *   3. Python code that has no file: the user's if it is the outermost code of a command or a text, else a library's
 *   4. a source file that exists here, or of which the database has a copy: the user's, unless a package has it
 *   5. the binary: libraries of languages and parallel runtimes, and Python, are the system's; other binaries that are
 *      installed (as above), in /bin, /lib, /sbin, /snap, and those that a package has, are a package's; the others are
 *      the user's
 *   6. code made at run time: the user's if it has a name, else the system's
 *
 * Only files in /opt are looked up in dpkg's lists: packages install nowhere else outside of /usr. */
#ifndef VIEWER_CODE_OWNER_H
#define VIEWER_CODE_OWNER_H

#include "viewer-tui/tree/view.h"

/* The name of Debian's package that has the file, "zlib1g"; NULL if none has, or dpkg is not used here. Takes 0.1 s,
 * since it searches dpkg's lists of files. The caller frees. */
char *package_of(const char *path);

enum code_owner { CODE_OF_SYSTEM, CODE_OF_PACKAGE, CODE_OWN };

/* Of a row that is a procedure or inlined procedure; CODE_OF_SYSTEM for other rows. */
enum code_owner code_owner(const struct view *view, uint32_t row);

/* Of a procedure, by its id, whose code is in a module (NOTHING: made at run time). */
enum code_owner code_owner_of_procedure(struct database *db, uint32_t id, uint32_t module);

/* Whether a module, by its path, is the interpreter of Python. */
bool code_is_of_python(const char *module);

/* How well a procedure says where time is. The user's own code says it best, and a name says more than none. The
 * linker's code says nothing, nor does that of the system and the kernel without a name. */
enum code_rank {
    RANK_NONE,
    RANK_KERNEL,
    RANK_START, /* name_is_of_start */
    RANK_SYSTEM,
    RANK_PACKAGE_WITHOUT_NAME,
    RANK_PACKAGE,
    RANK_OWN_WITHOUT_NAME,
    RANK_OWN
};

/* Of a procedure's node; the nodes have been read. */
enum code_rank code_rank(struct database *db, uint32_t node);

/* The innermost procedure of the user's own around a node of the database, which have been read; else the innermost
 * one of a package, or around it one of the same module that has a name; else the innermost one that has a name, of the
 * system, else of the kernel; NOTHING: there is none. */
uint32_t code_own_procedure(struct database *db, uint32_t node);

#endif
