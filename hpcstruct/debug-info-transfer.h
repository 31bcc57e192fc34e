/* Carries a struct debug_info (after debug_info_finish) from one process to another. */
#ifndef HPCSTRUCT_DEBUG_INFO_TRANSFER_H
#define HPCSTRUCT_DEBUG_INFO_TRANSFER_H

#include "hpcstruct/debug-info.h"

#include <stdio.h>

/* Writes it; false when the stream does not take it. */
bool debug_info_save(const struct debug_info *info, FILE *out);

/* Reads what debug_info_save wrote into an empty `info`. False, and `info` is empty again, when the
 * bytes are not consistent: the writer may have run on damaged memory. */
bool debug_info_load(struct debug_info *info, struct elf_bytes bytes);

#endif
