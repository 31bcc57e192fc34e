/* As made-cheetah.c, of a release whose layout is another. */
static void *no_worker;

__thread void *__cilkrts_tls_worker = &no_worker;
