/* How fuzz targets, and unit tests with damaged input, check what a reader promises for any input. */
#ifndef TESTS_FUZZ_PROMISE_H
#define TESTS_FUZZ_PROMISE_H

/* Reports a broken promise and ends the process. Each program has its own. */
_Noreturn void check_failed(const char *what);

#define PROMISE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition))                                                                          \
            check_failed("broken: " #condition);                                                   \
    } while (0)

/* Reads the text up to its end: a sanitizer notices a read out of bounds. */
static inline void look_at_text(const char *text)
{
    PROMISE(text);
    for (volatile const char *at = text; *at; at++)
        ;
}

#endif
