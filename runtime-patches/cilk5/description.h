/* For profilers: the number of workers that execute procedures at this instant, and the offset at
 * which the runtime's closures keep the address of the statement that spawned them. */
#define HPCTOOLKIT_CILK5_MAGIC 0x356b6c6963637068ull /* "hpccilk5" */

struct hpctoolkit_cilk5 {
    unsigned long long magic;
    unsigned int size, site_in_closure;
    int working;
};
