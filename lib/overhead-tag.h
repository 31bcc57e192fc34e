/* The tag of parallel overhead: source files that call themselves, by a #line directive,
 *     hpctoolkit:parallel-overhead  or  hpctoolkit:parallel-overhead:KIND
 * A compiler may put a directory in front. */
#ifndef LIB_OVERHEAD_TAG_H
#define LIB_OVERHEAD_TAG_H

/* KIND ("overhead" when the name says none), a part of `path` or constant; NULL: not tagged. */
const char *overhead_kind(const char *path);

#endif
