/* Writes a structure as an image, for hpcprof (lib/structure-image.h). */
#ifndef HPCSTRUCT_IMAGE_WRITER_H
#define HPCSTRUCT_IMAGE_WRITER_H

#include "hpcstruct/structure/module-structure.h"

/* Writes the image of a module; up to `workers` threads build its procedures. False, with errno set, if the
 * stream reports an error. */
bool structure_image_write(FILE *out, const struct structure *structure, unsigned workers);

#endif
