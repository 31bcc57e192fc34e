/* traces: code made at run time that runs in the frame of a function, as LuaJIT's traces do, and a function
 * whose unwind information leaves out the calls within it, as LuaJIT's interpreter does. Between two
 * int3.
 *
 *     main -> calls_NAME -> NAME -> jumps to the trace -> back -> leaf_back
 *                                   jumps to NAME's end -> calls a part of NAME -> back -> leaf_back
 *
 * The trace makes its frame larger and leaves that to the function's end. `vm` says so in its unwind
 * information, `lax` says nothing of it. Their callers find their own callers by rbp, which both use for
 * data. */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

typedef void callback(void);

/* vm(back, trace): calls `back` in the trace, and then in a subroutine. */
#define VM(name, larger)                                                                           \
    void name(callback *back, const void *trace);                                                  \
    extern const char name##_end[];                                                                \
    __asm__(".text\n.type " #name ", @function\n" #name ": .cfi_startproc\n"                       \
            "push %rbp\n .cfi_def_cfa_offset 16\n .cfi_offset %rbp, -16\n"                         \
            "push %rbx\n .cfi_def_cfa_offset 24\n .cfi_offset %rbx, -24\n"                         \
            "sub $40, %rsp\n .cfi_def_cfa_offset 64\n"                                             \
            "mov %rdi, %rbx\n xor %ebp, %ebp\n jmp *%rsi\n" #name "_end: " larger                  \
            " add $32, %rsp\n .cfi_def_cfa_offset 64\n"                                            \
            "call 1f\n add $40, %rsp\n .cfi_def_cfa_offset 24\n"                                   \
            "pop %rbx\n .cfi_def_cfa_offset 16\n pop %rbp\n .cfi_def_cfa_offset 8\n ret\n"         \
            "1: .cfi_def_cfa_offset 64\n sub $8, %rsp\n call *%rbx\n add $8, %rsp\n ret\n"         \
            ".cfi_endproc\n.size " #name ", . - " #name "\n");

VM(vm, ".cfi_def_cfa_offset 96\n")
VM(lax, "")

static volatile int sink;

__attribute__((noinline)) static void leaf_back(void)
{
    sink++;
}

void back(void);
void back(void)
{
    leaf_back();
    sink++;
}

/* Has the byte of a call before its frame: `vm` saves a pointer to that, which looks like a return address. */
#define CALLER(name)                                                                               \
    void calls_##name(const void *trace);                                                          \
    __asm__(".text\n.type calls_" #name ", @function\ncalls_" #name ": .cfi_startproc\n"           \
            "push %rbp\n .cfi_def_cfa_offset 16\n .cfi_offset %rbp, -16\n"                         \
            "mov %rsp, %rbp\n .cfi_def_cfa_register %rbp\n"                                        \
            "sub $16, %rsp\n movb $0xe8, -5(%rbp)\n"                                               \
            "mov %rdi, %rsi\n lea back(%rip), %rdi\n call " #name "\n"                             \
            "leave\n .cfi_def_cfa %rsp, 8\n ret\n"                                                 \
            ".cfi_endproc\n.size calls_" #name ", . - calls_" #name "\n");

CALLER(vm)
CALLER(lax)

static const uint8_t code[] = {
    0x48, 0x83, 0xec, 32,       /* sub $32, %rsp */
    0xff, 0xd3,                 /* call *%rbx */
    0x85, 0xed,                 /* test %ebp, %ebp */
    0x0f, 0x85, 0,    0,  0, 0, /* jne to the function's end, which is never taken */
    0x90, 0xe9, 0,    0,  0, 0, /* nop; jmp to the function's end */
};

static void put_distance(uint8_t *end, const void *to)
{
    int32_t distance = (int32_t)((const uint8_t *)to - end);
    memcpy(end - sizeof distance, &distance, sizeof distance);
}

static uint8_t *make_trace(uint8_t *at, const void *end)
{
    memcpy(at, code, sizeof code);
    put_distance(at + 14, end);
    put_distance(at + sizeof code, end);
    return at;
}

/* Near the program, so that jumps reach it. */
static uint8_t *map_near(void)
{
    void *wanted = (void *)(((uintptr_t)vm_end & ~(uintptr_t)4095) - ((uintptr_t)64 << 20));
    return mmap(wanted, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

int main(void)
{
    uint8_t *page = map_near();
    if (page == MAP_FAILED)
        return 1;
    const void *of_vm = make_trace(page, vm_end), *of_lax = make_trace(page + 64, lax_end);
    __asm__ volatile("int3");
    for (int i = 0; i < 3; i++) {
        calls_vm(of_vm);
        calls_lax(of_lax);
    }
    __asm__ volatile("int3");
    return 0;
}
