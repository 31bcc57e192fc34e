/* The user's defaults: settings in $XDG_CONFIG_HOME/hpctoolkit/hpcviewer.conf, where that variable
 * is not set in ~/.config/hpctoolkit/hpcviewer.conf.
 *
 * A line is "NAME" or "NAME = VALUE", with spaces wherever; empty lines and those that begin with
 * '#' say nothing. What the names mean is not known here. */
#ifndef VIEWER_CONFIG_H
#define VIEWER_CONFIG_H

#include "lib/mem.h"

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

#endif
