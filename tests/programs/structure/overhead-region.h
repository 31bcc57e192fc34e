/* Functions that overhead.c tags as parallel overhead. They are in a header because the lines after an
 * #include are those of the including file again. */
#line 100 "hpctoolkit:parallel-overhead"
static inline __attribute__((always_inline)) int tagged_inline(int x)
{
    x += sink;
    sink = x * 7;
    return x ^ sink;
}

static inline __attribute__((always_inline)) int tagged_around(int x)
{
    return untagged_helper(x + 1);
}

__attribute__((noinline)) int tagged_routine(int x)
{
    sink = x;
    return x * 5 + sink;
}
#line 200 "hpctoolkit:parallel-overhead:steal"
static inline __attribute__((always_inline)) int tagged_kind(int x)
{
    sink = x + 3;
    return sink * 9;
}
