/* The functions of OpenCilk's runtime, v2.1 and the commits after it, that are visible outside
 * their source files: by them its code is told in a program that it was linked into
 * (agents/common/linked-runtime.h). */
#ifndef AGENTS_OPENCILK_OPENCILK_EXPORTS_H
#define AGENTS_OPENCILK_OPENCILK_EXPORTS_H

extern const char *const opencilk_exports[];

#endif
