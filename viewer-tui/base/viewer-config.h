/* The user's defaults: settings in $XDG_CONFIG_HOME/hpctoolkit/hpcviewer.conf, where that variable
 * is not set in ~/.config/hpctoolkit/hpcviewer.conf.
 *
 * A line is "NAME" or "NAME = VALUE", with spaces wherever; empty lines and those that begin with
 * '#' say nothing. What the names mean is not known here. */
#ifndef VIEWER_CONFIG_H
#define VIEWER_CONFIG_H

#include "lib/alloc.h"

#include <stdbool.h>

struct setting {
    char *name, *value; /* value NULL: none */
    unsigned line;
};

struct config {
    char *path; /* NULL: neither variable is set */
    VEC(struct setting) settings;
};

/* Reads the file; without one there are no settings. A line without a name, and a file that cannot
 * be read, end the process with status 2. */
void config_read(struct config *config);

/* Says what is wrong with a setting, and ends the process with status 2. */
void config_refuse(const struct config *config, const struct setting *setting, const char *why)
    __attribute__((noreturn));

void config_free(struct config *config);

/* A setting that is to be in the file, or not. */
struct config_change {
    const char *name, *value; /* value NULL: none */
    bool is_set;
};

/* Makes the changes in the file as it is now: other lines stay as they are, a line of a changed
 * setting is replaced where it stands. The new file takes the old one's place at once; it is made,
 * with its folder, if there is none. *path is where; false, with the *cause, when it cannot be. The
 * caller frees both, which may be NULL. */
bool config_save(const struct config_change *changes, size_t n, char **path, char **cause);

#endif
