/* hpcrun --openmp=llvm: LLVM's OpenMP runtime, libomp, in place of GCC's. libomp has the functions of
 * libgomp, with their symbol versions. If it is preloaded, programs of gcc call it. */
#ifndef HPCRUN_LAUNCH_LLVM_OPENMP_H
#define HPCRUN_LAUNCH_LLVM_OPENMP_H

/* The path of libomp, for a program that uses libgomp, and a line that says what changes. Ends the
 * process with a message if there is no libomp, if the program is not linked to libgomp, or calls
 * functions that libomp lacks. The caller frees. */
char *llvm_openmp_for(const char *program);

#endif
