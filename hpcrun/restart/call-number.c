#include "hpcrun/restart/call-number.h"

#include "hpcrun/unwind/instruction.h"

#include <string.h>

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11, R12, R13, R14, R15, REGISTERS };

/* A bit for each register that a call of a function changes. */
#define CHANGED_BY_CALLS                                                                           \
    (1u << RAX | 1u << RCX | 1u << RDX | 1u << RSI | 1u << RDI | 1u << R8 | 1u << R9 | 1u << R10 | \
     1u << R11)
#define CHANGED_BY_SYSCALL (1u << RAX | 1u << RCX | 1u << R11)

enum { REGISTER = 3, NO_INDEX = 4 }; /* of `mod` and `index` of an instruction */

#define SYSCALL_BYTES 2
#define MOV_BYTES     5         /* mov $N, %eax */
#define MAX_FUNCTION  (1 << 15) /* bytes of code that are decoded */
#define MAX_PADDED    4096      /* the same, without an FDE */
#define MAX_CALLERS   3
#define ALIGNMENT     32 /* of functions without an FDE */

/* ---- values ---- */

/* Where a value comes from: `n` is the constant, the register that had it at the block's begin, or
 * the offset of the stack's word from the stack pointer there. */
struct origin {
    enum { UNKNOWN, CONSTANT, INITIAL, STACK } kind;
    int32_t n;
};

struct state {
    struct origin value[REGISTERS];
    struct origin pushed; /* the word on top of the stack, if the last instruction pushed it */
    bool sp_known;
    int32_t sp; /* stack pointer less that at the block's begin */
};

static const struct origin unknown = {UNKNOWN, 0};

static bool is_same(struct origin a, struct origin b)
{
    return a.kind != UNKNOWN && a.kind == b.kind && a.n == b.n;
}

static struct origin constant(int64_t value)
{
    return value == (int32_t)value ? (struct origin){CONSTANT, (int32_t)value} : unknown;
}

static void set(struct state *s, unsigned number, struct origin value)
{
    s->value[number] = value;
    if (number == RSP)
        s->sp_known = false;
}

static void forget(struct state *s, unsigned registers)
{
    for (unsigned i = 0; i < REGISTERS; i++)
        if (registers >> i & 1)
            set(s, i, unknown);
}

/* The stack's word at an operand's address. */
static struct origin stack_word(const struct state *s, const struct instruction *i)
{
    bool on_stack = s->sp_known && !i->rip_relative && i->base == RSP && i->index == NO_INDEX;
    return on_stack ? (struct origin){STACK, s->sp + i->displacement} : unknown;
}

/* Values that come from this word of the stack are no longer there; NULL: from any word. */
static void overwrite(struct state *s, const struct origin *word)
{
    for (unsigned i = 0; i < REGISTERS; i++)
        if (s->value[i].kind == STACK && (!word || is_same(s->value[i], *word)))
            s->value[i] = unknown;
}

static void store(struct state *s, const struct instruction *i)
{
    struct origin word = stack_word(s, i);
    if (!i->rip_relative)
        overwrite(s, word.kind == STACK ? &word : NULL);
}

static void push(struct state *s, struct origin value)
{
    s->sp -= 8;
    overwrite(s, s->sp_known ? &(struct origin){STACK, s->sp} : NULL);
    s->pushed = value;
}

static void pop(struct state *s, unsigned number, struct origin top)
{
    struct origin value = top.kind == UNKNOWN && s->sp_known ? (struct origin){STACK, s->sp} : top;
    s->sp += 8;
    set(s, number, value);
}

/* ---- effects of instructions ---- */

#define ANY         (~0u)
#define BIT(number) (1u << (number))

/* The registers 4 to 7 of an operation on bytes may be the second bytes of 0 to 3. */
static unsigned byte_register(unsigned number)
{
    unsigned second = number >= 4 && number < 8 ? BIT(number - 4) : 0;
    return (number == RSP ? 0 : BIT(number)) | second;
}

/* Groups f6, f7 and ff, by the field reg. */
static unsigned changed_by_group(const struct instruction *i, unsigned operand)
{
    enum { NOT = 2, NEG = 3 };
    unsigned which = i->reg & 7;
    if (i->opcode == 0xff)
        return which < 2 ? operand : ANY;
    if (which < 2) /* test */
        return 0;
    return which == NOT || which == NEG ? operand : BIT(RAX) | BIT(RDX);
}

/* add, or, adc, sbb, and, sub, xor, cmp: opcodes below 40. */
static unsigned changed_by_arithmetic(const struct instruction *i, unsigned byte, unsigned operand)
{
    const unsigned by_form[] = {
        byte, operand, byte_register(i->reg), BIT(i->reg), BIT(RAX), BIT(RAX), ANY, ANY};
    return i->opcode >= 0x38 && i->opcode < 0x3e ? 0 : by_form[i->opcode & 7];
}

/* The registers that an instruction may change. `operand` has the bit of the operand rm if that is a
 * register, `byte` the same for one byte of it. */
static unsigned changed_by_one_byte(const struct instruction *i, unsigned operand, unsigned byte)
{
    enum { CMP = 7 };
    bool compares = i->reg == CMP;
    switch (i->opcode) {
    case 0x00 ... 0x3f: return changed_by_arithmetic(i, byte, operand);
    case 0x69:
    case 0x6b: return BIT(i->reg);
    case 0x80: return compares ? 0 : byte;
    case 0x81:
    case 0x83: return compares ? 0 : operand;
    case 0x70 ... 0x7f:
    case 0x84 ... 0x85:
    case 0x90:
    case 0xa8 ... 0xa9: return 0;
    case 0x86: return byte | byte_register(i->reg);
    case 0x87: return operand | BIT(i->reg);
    case 0x8a: return byte_register(i->reg);
    case 0x91 ... 0x97: return BIT(RAX) | BIT(i->rm);
    case 0x98: return BIT(RAX);
    case 0x99: return BIT(RDX);
    case 0xa4 ... 0xa7:
    case 0xaa ... 0xaf: return BIT(RAX) | BIT(RCX) | BIT(RSI) | BIT(RDI);
    case 0xb0 ... 0xb7: return byte_register(i->rm);
    case 0x88:
    case 0xc0:
    case 0xc6:
    case 0xd0:
    case 0xd2:
    case 0xfe: return byte;
    case 0xc1:
    case 0xd1:
    case 0xd3: return operand;
    case 0xd8 ... 0xdf: return BIT(RAX);
    case 0xe0 ... 0xe3: return BIT(RCX);
    case 0xf6: return changed_by_group(i, byte);
    case 0xf7:
    case 0xff: return changed_by_group(i, operand);
    default: return ANY;
    }
}

static unsigned changed_by_0f(const struct instruction *i, unsigned operand, unsigned byte)
{
    switch (i->opcode) {
    case 0x0d: /* prefetches, nop, endbr64 */
    case 0x18 ... 0x1f:
    case 0x80 ... 0x8f:
    case 0xa3: return 0;
    case 0x10 ... 0x17: /* vector registers */
    case 0x28 ... 0x2b:
    case 0x2e ... 0x2f:
    case 0x51 ... 0x7d:
    case 0x7f:
    case 0xc2:
    case 0xc6:
    case 0xd0 ... 0xd6:
    case 0xd8 ... 0xfe: return 0;
    case 0x2c ... 0x2d:
    case 0x40 ... 0x50: /* conditional moves, movmskps */
    case 0xaf:
    case 0xb6 ... 0xb8:
    case 0xbc ... 0xbf:
    case 0xd7: return BIT(i->reg);
    case 0x31: return BIT(RAX) | BIT(RDX);
    case 0x7e:
    case 0xa4 ... 0xa5:
    case 0xab ... 0xad:
    case 0xb3:
    case 0xba ... 0xbb: return operand;
    case 0xc8 ... 0xcf: return BIT(i->rm);
    case 0x90 ... 0x9f: return byte;
    case 0xb0 ... 0xb1: return BIT(RAX) | operand | byte;
    case 0xc0 ... 0xc1: return operand | byte | BIT(i->reg) | byte_register(i->reg);
    default: return ANY;
    }
}

static unsigned changed(const struct instruction *i)
{
    bool is_register = i->mod == REGISTER;
    unsigned operand = is_register ? BIT(i->rm) : 0;
    unsigned byte = is_register ? byte_register(i->rm) : 0;
    if (i->map == MAP_ONE_BYTE)
        return changed_by_one_byte(i, operand, byte);
    if (i->map == MAP_0F)
        return changed_by_0f(i, operand, byte);
    bool is_general = i->map == MAP_VECTOR && i->opcode >= 0xf0; /* andn, mulx, shlx, ... */
    return is_general ? ANY : operand | BIT(i->reg);
}

static void apply_call(struct state *s)
{
    forget(s, CHANGED_BY_CALLS);
    overwrite(s, NULL);
}

enum { ADD = 0, SUB = 5 }; /* in the field reg */

static bool adds_to_sp(const struct instruction *i)
{
    return (i->opcode == 0x81 || i->opcode == 0x83) && (i->reg == ADD || i->reg == SUB) &&
           i->mod == REGISTER && i->rm == RSP && i->wide;
}

/* Instructions that move values. `top`: the word on top of the stack, if the instruction before has
 * pushed it. */
static bool apply_move(struct state *s, const struct instruction *i, struct origin top)
{
    enum { CALL = 2, PUSH = 6 };
    bool is_register = i->mod == REGISTER;
    switch (i->opcode) {
    case 0x50 ... 0x57: push(s, s->value[i->rm]); return true;
    case 0x58 ... 0x5f: pop(s, i->rm, top); return true;
    case 0x68:
    case 0x6a: push(s, constant(i->immediate)); return true;
    case 0x31:
    case 0x33:
        if (is_register && i->reg == i->rm)
            set(s, i->rm, constant(0));
        return is_register && i->reg == i->rm;
    case 0x63:
    case 0x8b: set(s, i->reg, is_register ? s->value[i->rm] : stack_word(s, i)); return true;
    case 0x8d: set(s, i->reg, unknown); return true;
    case 0x89:
    case 0xc7:
        if (is_register)
            set(s, i->rm, i->opcode == 0x89 ? s->value[i->reg] : constant(i->immediate));
        return is_register;
    case 0xb8 ... 0xbf: set(s, i->rm, constant(i->immediate)); return true;
    case 0xe8: apply_call(s); return true;
    case 0xff:
        if ((i->reg & 7) == CALL)
            apply_call(s);
        else if ((i->reg & 7) == PUSH)
            push(s, unknown);
        return (i->reg & 7) == CALL || (i->reg & 7) == PUSH;
    default:
        if (adds_to_sp(i))
            s->sp += (int32_t)(i->reg == ADD ? i->immediate : -i->immediate);
        return adds_to_sp(i);
    }
}

static void apply(struct state *s, const struct instruction *i)
{
    struct origin top = s->pushed;
    s->pushed = unknown;
    if (i->map == MAP_ONE_BYTE && apply_move(s, i, top))
        return;
    if (i->map == MAP_0F && i->opcode == 0x05) {
        forget(s, CHANGED_BY_SYSCALL);
        overwrite(s, NULL);
        return;
    }
    bool is_move = i->map == MAP_ONE_BYTE && (i->opcode == 0x89 || i->opcode == 0xc7);
    unsigned registers = is_move ? 0 : changed(i);
    if (i->mod != REGISTER)
        store(s, i);
    if (registers == ANY)
        overwrite(s, NULL);
    forget(s, registers);
}

/* ---- the code before a call ---- */

/* The code that leads to an instruction: from `begin` there is one way. */
struct block {
    uint64_t begin, at; /* `at`: the instruction */
    uint64_t function;  /* begin of the function */
    bool is_function;   /* the block begins there */
    bool is_padded;     /* the function has no FDE: its bounds are known by padding */
};

static bool decode(uint64_t at, uint64_t end, struct instruction *i)
{
    return instruction_decode((const uint8_t *)(uintptr_t)at, end - at, i);
}

static bool is_jump(const struct instruction *i)
{
    if (i->map != MAP_ONE_BYTE)
        return i->map == MAP_0F && i->opcode >> 4 == 8;
    return i->opcode >> 4 == 7 || (i->opcode >= 0xe0 && i->opcode <= 0xe3) || i->opcode == 0xe9 ||
           i->opcode == 0xeb;
}

static bool jumps_indirectly(const struct instruction *i)
{
    return i->map == MAP_ONE_BYTE && i->opcode == 0xff && (i->reg & 7) == 4;
}

/* Whether an indirect jump after this instruction leaves the function: its frame has just been removed,
 * by pop, leave or add to the stack pointer. */
static bool removes_frame(const struct instruction *i)
{
    return i->map == MAP_ONE_BYTE &&
           (i->opcode >> 3 == 0x58 >> 3 || i->opcode == 0xc9 || adds_to_sp(i));
}

/* Finds the instruction before `next`. */
static bool find_instruction(uint64_t begin, uint64_t next, uint64_t *at)
{
    struct instruction i;
    uint64_t pc = begin;
    for (; pc < next && decode(pc, next, &i); pc += i.length)
        *at = pc;
    return pc == next && next != begin;
}

/* Finds the block of the instruction before `next`, in the function [block->function, end). */
static bool find_block(uint64_t end, uint64_t next, struct block *block)
{
    struct instruction i;
    block->begin = block->function;
    if (!find_instruction(block->function, next, &block->at))
        return false;
    for (uint64_t pc = block->function; pc < end; pc += i.length) {
        bool may_leave = pc > block->function && removes_frame(&i);
        if (!decode(pc, end, &i) || (jumps_indirectly(&i) && !may_leave))
            return false;
        uint64_t target = pc + i.length + (uint64_t)i.immediate;
        if (is_jump(&i) && target > block->begin && target <= block->at)
            block->begin = target;
    }
    block->is_function = block->begin == block->function;
    return true;
}

/* Go's functions have no FDE. They begin at multiples of 32, mostly after int3 instructions. */
static bool is_after_padding(struct memory *memory, uint64_t address)
{
    uint64_t before;
    return memory_load(memory, address - 8, &before) && before >> 48 == 0xcccc;
}

static bool find_padded(struct memory *memory, uint64_t pc, uint64_t *begin, uint64_t *end)
{
    uint64_t start = pc & ~(uint64_t)(ALIGNMENT - 1), after = start + ALIGNMENT;
    for (*begin = start; !is_after_padding(memory, *begin); *begin -= ALIGNMENT)
        if (pc - *begin > MAX_PADDED)
            return false;
    for (*end = after; !is_after_padding(memory, *end); *end += ALIGNMENT)
        if (*end - pc > MAX_PADDED)
            return false;
    return true;
}

/* The state in front of block->at. */
static void follow(const struct block *block, struct state *s)
{
    struct instruction i;
    *s = (struct state){.sp_known = true};
    for (int r = 0; r < REGISTERS; r++)
        s->value[r] = (struct origin){INITIAL, r};
    for (uint64_t pc = block->begin; pc < block->at && decode(pc, block->at, &i); pc += i.length)
        apply(s, &i);
}

/* Finds what leads to the instruction before `next`. */
static bool trace(struct memory *memory, struct rule_cache *cache, uint64_t next,
                  struct block *block, struct state *s)
{
    uint64_t begin, end;
    bool has_fde = rule_cache_code(cache, next - 1, &begin, &end);
    if (!has_fde && !find_padded(memory, next - 1, &begin, &end))
        return false;
    *block = (struct block){.function = begin, .is_padded = !has_fde};
    if (end - block->function > MAX_FUNCTION || !find_block(end, next, block))
        return false;
    follow(block, s);
    return true;
}

/* Whether the instruction at caller->at calls the function. If its bounds are known by padding, the
 * call must confirm them. */
static bool calls_function(const struct block *caller, const struct block *callee)
{
    struct instruction i;
    if (!decode(caller->at, caller->at + INSTRUCTION_MAX_BYTES, &i) || i.map != MAP_ONE_BYTE)
        return false;
    if (i.opcode == 0xe8)
        return !callee->is_padded ||
               caller->at + i.length + (uint64_t)i.immediate == callee->function;
    return !callee->is_padded && i.opcode == 0xff && (i.reg & 7) == 2;
}

/* ---- the number ---- */

/* The value of a register in the context, if `s` says that it still has `value`. */
static bool held(const struct state *s, struct origin value, const greg_t *reg, long *number)
{
    static const uint8_t index[REGISTERS] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                             REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                             REG_R12, REG_R13, REG_R14, REG_R15};
    for (unsigned i = 0; i < REGISTERS; i++)
        if (!(CHANGED_BY_SYSCALL >> i & 1) && i != RSP && is_same(s->value[i], value)) {
            *number = (int32_t)reg[index[i]];
            return true;
        }
    return false;
}

static long stack_number(struct memory *memory, uint64_t address)
{
    uint64_t word;
    return memory_load(memory, address, &word) ? (int32_t)word : -1;
}

/* The number that the callers of a function passed in register `n`. `callee` and `leaf` are the code
 * that made the system call and its state, `entry` is the stack pointer at the function's begin. */
static long passed_number(const greg_t *reg, struct memory *memory, struct rule_cache *cache,
                          struct block callee, const struct state *leaf, uint64_t entry, unsigned n)
{
    for (unsigned depth = 0; depth < MAX_CALLERS; depth++) {
        struct block block;
        struct state s;
        uint64_t ra;
        long number;
        if (!memory_load(memory, entry, &ra) || !trace(memory, cache, ra, &block, &s) ||
            !calls_function(&block, &callee))
            return -1;
        struct origin value = s.value[n];
        uint64_t sp = entry + 8;
        if (value.kind == CONSTANT)
            return value.n;
        if (value.kind == STACK && s.sp_known)
            return stack_number(memory, sp + (uint64_t)(int64_t)(value.n - s.sp));
        for (unsigned i = 0; i < REGISTERS && depth == 0; i++)
            if (!(CHANGED_BY_CALLS >> i & 1) && is_same(s.value[i], value) &&
                held(leaf, (struct origin){INITIAL, (int32_t)i}, reg, &number))
                return number;
        if (value.kind != INITIAL || !block.is_function || !s.sp_known)
            return -1;
        callee = block;
        n = (unsigned)value.n;
        entry = sp - (uint64_t)(int64_t)s.sp;
    }
    return -1;
}

/* Code without an FDE. */
static long constant_before(uint64_t at)
{
    const uint8_t *code = (const uint8_t *)(uintptr_t)(at - MOV_BYTES);
    int32_t number;
    memcpy(&number, code + 1, sizeof number);
    bool is_mov = code[0] == 0xb8 && (code[-1] & 0xf0) != 0x40; /* else of another register */
    return is_mov ? number : -1;
}

static long find_number(const ucontext_t *context, struct memory *memory, struct rule_cache *cache,
                        struct known_call *known)
{
    const greg_t *reg = context->uc_mcontext.gregs;
    uint64_t pc = (uint64_t)reg[REG_RIP], sp = (uint64_t)reg[REG_RSP];
    struct block block;
    struct state s;
    long number;
    if (!trace(memory, cache, pc, &block, &s) || block.at != pc - SYSCALL_BYTES)
        return -1;
    struct origin value = s.value[RAX];
    if (value.kind == CONSTANT) {
        *known = (struct known_call){pc, value.n};
        return value.n;
    }
    if (held(&s, value, reg, &number))
        return number;
    if (value.kind == STACK && s.sp_known)
        return stack_number(memory, sp + (uint64_t)(int64_t)(value.n - s.sp));
    if (value.kind == INITIAL && block.is_function && s.sp_known)
        return passed_number(reg, memory, cache, block, &s, sp - (uint64_t)(int64_t)s.sp,
                             (unsigned)value.n);
    return -1;
}

long call_number(const ucontext_t *context, struct memory *memory, struct rule_cache *cache)
{
    uint64_t pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    const uint8_t *code = (const uint8_t *)(uintptr_t)(pc - SYSCALL_BYTES);
    struct known_call *known = &cache->call[(pc >> 1) % RULE_CALLS];
    if (known->pc == pc)
        return known->number;
    if (code[0] != 0x0f || code[1] != 0x05)
        return -1;
    long number = find_number(context, memory, cache, known);
    if (number < 0 && !rule_cache_function(cache, pc - 1))
        number = constant_before(pc - SYSCALL_BYTES);
    return number;
}
