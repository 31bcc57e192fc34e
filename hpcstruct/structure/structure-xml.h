/* Writes a structure as XML, for people and other tools (doc/FORMAT-structure.md). */
#ifndef HPCSTRUCT_STRUCTURE_XML_H
#define HPCSTRUCT_STRUCTURE_XML_H

#include "hpcstruct/structure/module-structure.h"

/* Writes the structure of a module, named `path`; up to `workers` threads build its procedures. False, with
 * errno set, if the stream reports an error. */
bool structure_xml_write(FILE *out, const struct structure *structure, const char *path,
                         unsigned workers);

#endif
