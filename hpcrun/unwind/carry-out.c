#include "hpcrun/unwind/carry-out.h"

#include "hpcrun/unwind/instruction.h"
#include "hpcrun/unwind/return-address.h"

#define MAX_STEPS 64
#define STORES    8

enum { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, REGISTERS = 16, REGISTER_OPERAND = 3, NO_INDEX = 4 };

/* Registers that a call leaves alone: rbx, rsp, rbp, r12 to r15. */
#define CALLEE_SAVED 0xf038u

/* A value that may not be known. */
struct word {
    uint64_t value;
    bool known;
};

struct stored {
    uint64_t address;
    struct word word;
};

/* The processor while code is carried out. */
struct processor {
    struct memory *memory;
    uint64_t pc;
    struct word reg[REGISTERS];
    struct stored stored[STORES];
    unsigned stored_count;
    bool failed; /* something happened that is not carried out */
};

static const struct word unknown = {0, false};

static struct word plus(struct word word, int64_t distance)
{
    return (struct word){word.value + (uint64_t)distance, word.known};
}

/* ---- memory ---- */

static struct word load(struct processor *p, struct word address)
{
    struct word word = {0, true};
    if (!address.known)
        return unknown;
    for (unsigned i = p->stored_count; i-- > 0;)
        if (p->stored[i].address == address.value)
            return p->stored[i].word;
    if (!memory_load(p->memory, address.value, &word.value))
        p->failed = true;
    return word;
}

static void store(struct processor *p, struct word address, struct word word)
{
    if (!address.known || p->stored_count == STORES)
        p->failed = true;
    else
        p->stored[p->stored_count++] = (struct stored){address.value, word};
}

static void push(struct processor *p, struct word word)
{
    p->reg[RSP] = plus(p->reg[RSP], -8);
    store(p, p->reg[RSP], word);
}

static struct word pop(struct processor *p)
{
    struct word word = load(p, p->reg[RSP]);
    p->reg[RSP] = plus(p->reg[RSP], 8);
    return word;
}

/* ---- operands ---- */

/* The address of the operand; with an index it is not known. */
static struct word address_of(const struct processor *p, const struct instruction *i)
{
    uint64_t begin = i->fs ? (uint64_t)(uintptr_t)__builtin_thread_pointer() : 0;
    struct word base = {p->pc, true};
    if (i->index != NO_INDEX)
        return unknown;
    if (i->no_base)
        base.value = 0;
    else if (!i->rip_relative)
        base = p->reg[i->base];
    return plus(plus(base, i->displacement), (int64_t)begin);
}

static struct word read_operand(struct processor *p, const struct instruction *i)
{
    if (!i->wide)
        return unknown;
    return i->mod == REGISTER_OPERAND ? p->reg[i->rm] : load(p, address_of(p, i));
}

static void write_operand(struct processor *p, const struct instruction *i, struct word word)
{
    if (i->mod == REGISTER_OPERAND)
        p->reg[i->rm] = i->wide ? word : unknown;
    else
        store(p, address_of(p, i), i->wide ? word : unknown);
}

/* ---- instructions ---- */

enum { ADD = 0, OR = 1, ADC = 2, SBB = 3, AND = 4, SUB = 5, CMP = 7 };

static struct word calculate(unsigned operation, struct word a, struct word b)
{
    bool is_simple = operation != ADC && operation != SBB && operation != CMP;
    uint64_t value = operation == ADD   ? a.value + b.value
                     : operation == SUB ? a.value - b.value
                     : operation == AND ? a.value & b.value
                     : operation == OR  ? a.value | b.value
                                        : a.value ^ b.value;
    return (struct word){value, is_simple && a.known && b.known};
}

/* Opcodes below 40: an operation in bits 3 to 5, its operands in the others. */
static void calculate_with_register(struct processor *p, const struct instruction *i)
{
    unsigned operation = i->opcode >> 3;
    struct word reg = p->reg[i->reg];
    if (operation == CMP)
        return;
    if ((i->opcode & 7) == 1)
        write_operand(p, i, calculate(operation, read_operand(p, i), reg));
    else if ((i->opcode & 7) == 3)
        p->reg[i->reg] = calculate(operation, reg, read_operand(p, i));
    else
        p->failed = true;
}

static void calculate_with_number(struct processor *p, const struct instruction *i)
{
    struct word number = {(uint64_t)i->immediate, true};
    if (i->reg != CMP)
        write_operand(p, i, calculate(i->reg, read_operand(p, i), number));
}

static void call(struct processor *p)
{
    for (unsigned i = 0; i < REGISTERS; i++)
        if (!(CALLEE_SAVED >> i & 1))
            p->reg[i] = unknown;
}

static void leave(struct processor *p)
{
    p->reg[RSP] = p->reg[RBP];
    p->reg[RBP] = pop(p);
}

static void carry_out_one_byte(struct processor *p, const struct instruction *i)
{
    switch (i->opcode) {
    case 0x00 ... 0x3f: calculate_with_register(p, i); break;
    case 0x50 ... 0x57: push(p, p->reg[i->rm]); break;
    case 0x58 ... 0x5f: p->reg[i->rm] = pop(p); break;
    case 0x68:
    case 0x6a: push(p, (struct word){(uint64_t)i->immediate, true}); break;
    case 0x70 ... 0x7f: break; /* not taken */
    case 0x81:
    case 0x83: calculate_with_number(p, i); break;
    case 0x84:
    case 0x85:
    case 0x90: break;
    case 0x89: write_operand(p, i, p->reg[i->reg]); break;
    case 0x8b: p->reg[i->reg] = read_operand(p, i); break;
    case 0x8d: p->reg[i->reg] = address_of(p, i); break;
    case 0xb8 ... 0xbf: p->reg[i->rm] = (struct word){(uint64_t)i->immediate, i->wide}; break;
    case 0xc7: write_operand(p, i, (struct word){(uint64_t)i->immediate, true}); break;
    case 0xc9: leave(p); break;
    case 0xe8: call(p); break;
    case 0xe9:
    case 0xeb: p->pc += (uint64_t)i->immediate; break;
    case 0xff:
        if (i->reg == 2) {
            call(p);
            break;
        }
        /* fall through */
    default: p->failed = true;
    }
}

/* Of the instructions with two bytes, only those that leave general registers alone. */
static void carry_out_other(struct processor *p, const struct instruction *i)
{
    bool is_jump = i->opcode >> 4 == 8, is_nop = i->opcode >= 0x18 && i->opcode <= 0x1f;
    p->failed |= i->map != MAP_0F || !(is_jump || is_nop);
}

/* Decodes the next instruction, and moves the pc to its end. */
static bool fetch(struct processor *p, struct instruction *i)
{
    uint8_t code[INSTRUCTION_MAX_BYTES];
    if (!memory_spend(p->memory, 1) || !memory_read_guarded(p->memory, p->pc, code, sizeof code) ||
        !instruction_decode(code, sizeof code, i))
        return false;
    p->pc += i->length;
    return true;
}

static void begin(struct processor *p, const struct bare_frame *bare)
{
    static const uint8_t greg_of[REGISTERS] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                               REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                               REG_R12, REG_R13, REG_R14, REG_R15};
    for (unsigned i = 0; bare->registers && i < REGISTERS; i++)
        p->reg[i] = (struct word){(uint64_t)bare->registers->uc_mcontext.gregs[greg_of[i]], true};
    p->reg[RSP] = (struct word){bare->frame->sp, true};
    p->reg[RBP] = (struct word){bare->frame->bp, true};
    p->pc = bare->frame->pc + !bare->interrupted;
}

bool carry_out(struct memory *memory, const struct bare_frame *bare, struct frame *caller)
{
    enum { RET = 0xc3 };
    struct processor p = {.memory = memory};
    struct instruction i;
    begin(&p, bare);
    for (unsigned steps = 0; steps < MAX_STEPS && !p.failed && fetch(&p, &i); steps++) {
        if (i.map == MAP_ONE_BYTE && i.opcode == RET) {
            struct word ra = pop(&p);
            *caller = (struct frame){ra.value - 1, p.reg[RSP].value, p.reg[RBP].value, 0, 0};
            return !p.failed && ra.known && p.reg[RBP].known &&
                   return_address_is_plausible(memory, bare->frame, ra.value);
        }
        if (i.map == MAP_ONE_BYTE)
            carry_out_one_byte(&p, &i);
        else
            carry_out_other(&p, &i);
    }
    return false;
}
