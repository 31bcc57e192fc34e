/* unreadable_frame MS [blocked]: works for MS ms of CPU time in a function whose frame, by its
 * unwind table, is in unreadable memory; with `blocked`, while SIGSEGV is blocked. Prints the ns that
 * it worked there. */
#include "tests/programs/hpcrun/burn.h"

#include <inttypes.h>
#include <sys/mman.h>

/* Counts down from `rounds`, with `frame` in the register that its unwind table hangs the frame on.
 */
void count_down(void *frame, uint64_t rounds);
__asm__(".text\n"
        ".globl count_down\n"
        ".type count_down, @function\n"
        "count_down:\n"
        "    .cfi_startproc\n"
        "    push %rbp\n"
        "    mov %rdi, %rbp\n"
        "    .cfi_def_cfa %rbp, 16\n"
        "    .cfi_offset %rbp, -16\n"
        "1:  dec %rsi\n"
        "    jnz 1b\n"
        "    pop %rbp\n"
        "    .cfi_def_cfa %rsp, 8\n"
        "    .cfi_restore %rbp\n"
        "    ret\n"
        "    .cfi_endproc\n"
        ".size count_down, .-count_down\n");

int main(int argc, char **argv)
{
    uint64_t ns = argc > 1 ? strtoull(argv[1], NULL, 10) * 1000000 : 1000000000;
    char *nothing = mmap(NULL, 1 << 16, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (nothing == MAP_FAILED)
        return 1;
    if (argc > 2 && strcmp(argv[2], "blocked") == 0) {
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, SIGSEGV);
        sigprocmask(SIG_BLOCK, &set, NULL);
    }
    uint64_t start = clock_ns(CLOCK_THREAD_CPUTIME_ID), now;
    do
        count_down(nothing + (1 << 15),
                   20000000); /* some 10 ms between looks at the clock: burn.h */
    while ((now = clock_ns(CLOCK_THREAD_CPUTIME_ID)) - start < ns);
    printf("%" PRIu64 "\n", now - start);
    return 0;
}
