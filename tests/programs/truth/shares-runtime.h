/* The overhead of shares.c: code as in a parallel runtime. It is in a header, so that the lines after
 * the #include are those of the including file again. */
#ifndef TESTS_PROGRAMS_TRUTH_SHARES_RUNTIME_H
#define TESTS_PROGRAMS_TRUTH_SHARES_RUNTIME_H

#line 7 "hpctoolkit:parallel-overhead:spawn"
/* Tagged code in the user's procedures. */
INLINE void tagged_burn(int64_t ns)
{
    for (int64_t end = now() + ns; now() < end;)
        for (int i = 0; i < 500; i++)
            sink = sink * 31 + 7;
}

/* Untagged code in tagged code. */
INLINE void tagged_around(int64_t ns)
{
    burn(ns);
}

INLINE void tagged_copy(int64_t ns)
{
    for (int64_t end = now() + ns; now() < end;)
        copy_bytes();
}

#line 28 "hpctoolkit:parallel-overhead:steal"
/* Functions of the runtime. */
NOINLINE void tagged_routine(int64_t ns)
{
    for (int64_t end = now() + ns; now() < end;)
        for (int i = 0; i < 500; i++)
            sink = sink * 31 + 7;
}

NOINLINE void tagged_allocation(int64_t ns)
{
    for (int64_t end = now() + ns; now() < end;) {
        kept = malloc(3000);
        free(kept);
    }
}

/* The runtime calls the user's code. */
NOINLINE void tagged_caller(int64_t ns, void (*user)(void), struct amounts *amounts)
{
    const int64_t begin = now();
    tagged_burn(ns / 2);
    const int64_t called = now();
    user();
    const int64_t returned = now();
    tagged_burn(ns / 2);
    account(amounts, returned - called, called - begin + now() - returned);
}

#endif
