/* As simulated-cheetah.c, but of a release with another layout. */
static void *no_worker;

__thread void *__cilkrts_tls_worker = &no_worker;
