/* Signal handler: runs there, too, where a signal ends the process.
 *
 * The counts of an image that did not report its end, from the arena file that it left: what hpcprof
 * will recover is in hpcrun's last line. */
#ifndef HPCRUN_LIFE_ARENA_COUNTS_H
#define HPCRUN_LIFE_ARENA_COUNTS_H

#include "lib/fate-counts.h"
#include "lib/process-list.h"

/* Adds samples of an event, by fate. */
void image_counts_add_fates(struct image_counts *counts, unsigned event,
                            const struct fate_count fates[FATE_SLOTS]);

/* Sets the image's counts. `sequence`: number of images that its process had before. False if it has
 * left no arena file. */
bool arena_counts_read(struct process_image *image, unsigned sequence);

#endif
