/* The object that profilers read. */
#include "minicilk-runtime.h"

/* The linker's bounds of the sections. */
#define BOUND extern const char __attribute__((visibility("hidden")))
BOUND __start_minicilk_text[], __stop_minicilk_text[];
BOUND __start_minicilk_base[], __stop_minicilk_base[];

struct minicilk_live minicilk_live;

/* This ELF note leads a profiler to the object, also in a statically linked, stripped program. Its
 * data is the distance from itself to the object. */
extern const struct minicilk_introspection minicilk_described
    __attribute__((alias("minicilk_introspection"), visibility("hidden")));
__asm__(".pushsection .note.minicilk, \"a\", @note\n"
        ".balign 4\n"
        ".long 9, 8, 1\n" /* bytes of the name and of the data; type */
        ".asciz \"minicilk\"\n"
        ".balign 4\n"
        ".quad minicilk_described - .\n"
        ".popsection\n");

MINICILK_API const struct minicilk_introspection minicilk_introspection = {
    .magic = MINICILK_MAGIC,
    .layout = MINICILK_LAYOUT,
    .size = sizeof minicilk_introspection,
    .live = &minicilk_live,
    .text_begin = __start_minicilk_text,
    .text_end = __stop_minicilk_text,
    .base_begin = __start_minicilk_base,
    .base_end = __stop_minicilk_base,
    .worker_size = sizeof(struct worker),
    .worker_tid = offsetof(struct worker, tid),
    .worker_state = offsetof(struct worker, state),
    .worker_base = offsetof(struct worker, base),
    .frame_parent = offsetof(struct minicilk_frame, parent),
    .frame_body = offsetof(struct minicilk_frame, body),
    .frame_site = offsetof(struct minicilk_frame, site),
};
