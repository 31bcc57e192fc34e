/* Ground truth of the test programs: with -DMARKS, MARK(NAME) writes its own address and NAME to section
 * .marks of the program, once for each copy that the compiler makes. */
#ifndef TESTS_PROGRAMS_STRUCTURE_MARK_H
#define TESTS_PROGRAMS_STRUCTURE_MARK_H

#ifdef MARKS
#define MARK(name)                                                                                 \
    __asm__ volatile("nop\n"                                                                       \
                     "0:\n"                                                                        \
                     ".pushsection .marks, \"\", @progbits\n"                                      \
                     ".quad 0b - 1\n"                                                              \
                     ".asciz \"" name "\"\n"                                                       \
                     ".popsection" ::                                                              \
                         : "memory")
#else
#define MARK(name) (void)0
#endif

#endif
