/* The number of a system call that has just returned, from code of all kinds. Nothing is executed here: the
 * registers and the stack are made up. */
#include "tests/unit/cmocka_suite.h"

#include "hpcrun/restart/call-number.h"

/* Code with unwind information, a system call in it, and a label after that. */
#define CODE(name, ...)                                                                            \
    void name(void);                                                                               \
    __asm__(".text\n.cfi_startproc\n" __VA_ARGS__ "ret\n.cfi_endproc\n")
#define SYSCALL(name) "syscall\n" #name ": nop\n"

CODE(constant, "mov $7, %eax\n xor %edi, %edi\n" SYSCALL(constant));
CODE(zero, "xor %eax, %eax\n" SYSCALL(zero));
CODE(pushed, "push $7\n pop %rax\n" SYSCALL(pushed));
CODE(long_constant, "mov $7, %rax\n xor $15, %sil\n imul %rcx, %rdx\n" SYSCALL(long_constant));
CODE(in_register, "mov $202, %r8d\n test %edi, %edi\n je 1f\n nop\n 1: mov %r8d, %eax\n" //
     SYSCALL(in_register));
CODE(sign_extended,
     "test %edi, %edi\n je 1f\n nop\n 1: movslq %r12d, %rax\n" SYSCALL(sign_extended));
CODE(on_stack, "sub $24, %rsp\n mov 16(%rsp), %rax\n" SYSCALL(on_stack));
CODE(in_operand,
     "mov $9, %eax\n movl $7, -0x48(%rsp)\n" SYSCALL(in_operand)); /* has b8 07 00 00 00 */

CODE(tail_call, "push %rbx\n mov $7, %eax\n" SYSCALL(tail_call) "pop %rbx\n jmp *%rcx\n");

/* The first argument. */
CODE(passed, "mov %rdi, %rax\n mov %rsi, %rdi\n mov 8(%rsp), %r9\n" SYSCALL(passed));
CODE(by_constant, "mov $232, %edi\n call passed\n by_constant: nop\n");
CODE(by_register,
     "test %edi, %edi\n je 1f\n nop\n 1: mov %rbx, %rdi\n call *%rax\n by_register: nop\n");
CODE(by_stack, "mov 24(%rsp), %rdi\n push %rsi\n call passed\n by_stack: nop\n");
CODE(by_caller, "sub $8, %rsp\n call passed\n by_caller: nop\n");
CODE(by_anyone, "mov (%rsi), %rdi\n call passed\n by_anyone: nop\n");

/* Not known. */
CODE(two_ways, "mov $7, %eax\n test %edi, %edi\n je 1f\n mov $8, %eax\n 1:" SYSCALL(two_ways));
CODE(from_below, "mov $7, %eax\n 1:" SYSCALL(from_below) "mov $8, %eax\n jmp 1b\n");
CODE(after_jump, "mov $7, %eax\n jmp 1f\n" SYSCALL(after_jump) "1: nop\n");
CODE(from_anywhere, "mov $7, %eax\n" SYSCALL(from_anywhere) "jmp *%rcx\n");
CODE(added, "mov $7, %eax\n add $1, %eax\n" SYSCALL(added));
CODE(second_byte, "mov $7, %eax\n mov $1, %ah\n" SYSCALL(second_byte));
CODE(multiplied, "mov $7, %eax\n imul %rcx\n" SYSCALL(multiplied));
CODE(after_call, "mov $7, %eax\n call *%rcx\n" SYSCALL(after_call));
CODE(after_syscall, "mov $7, %eax\n syscall\n" SYSCALL(after_syscall));
CODE(loaded, "mov (%rdi), %eax\n" SYSCALL(loaded));
CODE(overwritten, "mov 16(%rsp), %rax\n mov %r11, 16(%rsp)\n" SYSCALL(overwritten));
CODE(register_overwritten, "test %edi, %edi\n je 1f\n nop\n 1: mov %r8d, %eax\n mov $1, %r8d\n" //
     SYSCALL(register_overwritten));
CODE(no_call, "mov $7, %eax\n no_call: nop\n");

/* Without unwind information. */
void bare_constant(void), bare_register(void), bare_other(void), bare_no_call(void);
__asm__(".text\n"
        ".skip 5000, 0x90\n mov $7, %eax\n syscall\n bare_constant: nop\n"
        ".skip 32, 0x90\n mov $7, %r8d\n syscall\n bare_register: nop\n"
        ".skip 32, 0x90\n mov $7, %eax\n nop\n syscall\n bare_other: nop\n"
        ".skip 32, 0x90\n mov $7, %eax\n mov %eax, %eax\n bare_no_call: nop\n"
        ".skip 5000, 0x90\n");

/* Functions as Go's: aligned and padded. */
void go_syscall(void), go_raw(void), go_caller(void), go_pointer(void), go_jump(void);
__asm__(".text\n"
        ".skip 64, 0xcc\n .balign 32, 0xcc\n"
        "go_begin: mov %rsi, %r10\n mov %rbx, %rdi\n syscall\n go_syscall: ret\n"
        ".skip 2, 0xcc\n .balign 32, 0xcc\n"
        "go_raw_begin: sub $64, %rsp\n call go_begin\n go_raw: ret\n"
        ".skip 2, 0xcc\n .balign 32, 0xcc\n"
        "sub $104, %rsp\n mov %rax, 64(%rsp)\n call constant\n mov 64(%rsp), %rax\n"
        "xor %esi, %esi\n call go_raw_begin\n go_caller: ret\n"
        ".skip 2, 0xcc\n .balign 32, 0xcc\n"
        "mov $7, %eax\n call *%rcx\n go_pointer: ret\n"
        ".skip 2, 0xcc\n .balign 32, 0xcc\n"
        "mov $7, %eax\n call constant\n go_jump: ret\n"
        ".skip 64, 0xcc\n");

static struct rule_cache cache;
static uint64_t stack[64];

enum { SP = 32, R8 = 208, RBX = 203, R12 = 212 };

static uint64_t address(void (*code)(void))
{
    return (uint64_t)(uintptr_t)code;
}

static long number_after(void (*code)(void))
{
    struct memory memory = {.own_low = (uint64_t)(uintptr_t)stack,
                            .own_high = (uint64_t)(uintptr_t)(stack + 64)};
    ucontext_t context;
    memset(&context, 0xee, sizeof context);
    greg_t *reg = context.uc_mcontext.gregs;
    reg[REG_RIP] = (greg_t)address(code);
    reg[REG_RSP] = (greg_t)(uintptr_t)&stack[SP];
    reg[REG_R8] = R8;
    reg[REG_RBX] = RBX;
    reg[REG_R12] = R12;
    return call_number(&context, &memory, &cache);
}

/* Of `passed`, which was called by this code. */
static long number_passed(void (*caller)(void))
{
    stack[SP] = address(caller);
    return number_after(passed);
}

TEST(constants_are_in_the_code)
{
    assert_int_equal(number_after(constant), 7);
    assert_int_equal(number_after(constant), 7); /* as it was found before */
    assert_int_equal(number_after(zero), 0);
    assert_int_equal(number_after(pushed), 7);
    assert_int_equal(number_after(long_constant), 7);
    assert_int_equal(number_after(in_operand), 9);
    assert_int_equal(number_after(tail_call), 7);
}

TEST(registers_and_the_stack_still_have_it)
{
    assert_int_equal(number_after(in_register), R8);
    assert_int_equal(number_after(sign_extended), R12);
    stack[SP + 2] = 333;
    assert_int_equal(number_after(on_stack), 333);
}

TEST(callers_pass_it)
{
    assert_int_equal(number_passed(by_constant), 232);
    assert_int_equal(number_passed(by_register), RBX);
    stack[SP + 1 + 1 + 3] = 281; /* over the return address, and what the caller pushed */
    assert_int_equal(number_passed(by_stack), 281);
    stack[SP + 2] = address(by_constant); /* the caller's return address */
    assert_int_equal(number_passed(by_caller), 232);
    assert_int_equal(number_passed(by_anyone), -1);
    stack[SP] = 0;
    assert_int_equal(number_after(passed), -1);
}

TEST(what_is_not_certain_is_not_known)
{
    void (*const unknown[])(void) = {two_ways,
                                     from_below,
                                     after_jump,
                                     from_anywhere,
                                     added,
                                     multiplied,
                                     after_call,
                                     loaded,
                                     second_byte,
                                     overwritten,
                                     no_call,
                                     after_syscall,
                                     register_overwritten};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        if (number_after(unknown[i]) != -1)
            fail_msg("code %zu has number %ld", i, number_after(unknown[i]));
}

TEST(without_unwind_information_it_must_be_next)
{
    assert_int_equal(number_after(bare_constant), 7);
    assert_int_equal(number_after(bare_register), -1);
    assert_int_equal(number_after(bare_other), -1);
    assert_int_equal(number_after(bare_no_call), -1);
}

/* The number is on the stack of the caller's caller. A return address counts only if its call is one of
 * the function: the function's begin is not known otherwise. */
TEST(functions_of_go_are_padded)
{
    stack[SP] = address(go_raw);
    stack[SP + 1 + 8] = address(go_caller);
    stack[SP + 1 + 8 + 1 + 8] = 35;
    assert_int_equal(number_after(go_syscall), 35);
    stack[SP] = address(go_pointer);
    assert_int_equal(number_after(go_syscall), -1);
    stack[SP] = address(go_jump);
    assert_int_equal(number_after(go_syscall), -1);
    stack[SP] = 0;
    assert_int_equal(number_after(go_syscall), -1);
}
