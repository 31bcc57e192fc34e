/* A simulated module of OpenCilk's runtime with the symbols that its agent uses. */
#include <stdbool.h>
#include <stdint.h>

uint64_t made_worker_0[128];

__thread void *__cilkrts_tls_worker = made_worker_0;
__thread void *__cilkrts_current_fh;
bool __cilkrts_need_to_cilkify = true;

#ifdef PATCHED /* with runtime-patches/opencilk */
uint32_t hpctoolkit_opencilk_working = 17;
#endif

void Cilk_exception_handler(void *worker, char *exception);
void Cilk_exception_handler(void *worker, char *exception)
{
    (void)worker;
    (void)exception;
}

void __cilkrts_sync(void *frame);
void __cilkrts_sync(void *frame)
{
    (void)frame;
}
