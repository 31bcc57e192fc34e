/* The user's defaults: settings in $XDG_CONFIG_HOME/hpctoolkit/hpcviewer.conf, or if that variable is
 * not set in ~/.config/hpctoolkit/hpcviewer.conf.
 *
 * A line is "NAME" or "NAME = VALUE", with optional spaces; empty lines and lines that begin with '#'
 * are ignored. The caller knows the names. */
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

/* Reads the file, if there is one. Ends the process with status 2 if a line has no name, or the file
 * cannot be read. */
void config_read(struct config *config);

/* Reports what is wrong with a setting, and ends the process with status 2. */
void config_refuse(const struct config *config, const struct setting *setting, const char *why)
    __attribute__((noreturn));

void config_free(struct config *config);

/* A setting to write or to remove. */
struct config_change {
    const char *name, *value; /* value NULL: none */
    bool is_set;
};

/* Applies the changes to the file: replaces the lines of changed settings in place, keeps all others,
 * and creates file and folders if needed. The new file replaces the old one atomically. *path is its
 * path; false, with *cause, if it fails. The caller frees both, which may be NULL. */
bool config_save(const struct config_change *changes, size_t n, char **path, char **cause);

#endif
