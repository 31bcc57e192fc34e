/* Names of locks: of the objects at ELF addresses of a module's data. */
#ifndef HPCPROF_LOCK_SYMBOLS_H
#define HPCPROF_LOCK_SYMBOLS_H

#include "hpcprof/modules/load-modules.h"

/* The name of the object that contains the address, by the symbols in the module's file: "<lock
 * queue_lock>", "<lock pool + 64>" in a larger object; "<lock at 0x4040 in app>" if there is no
 * symbol. The caller frees. */
char *lock_symbol_name(const struct load_module *module, uint64_t address);

#endif
