#include "hpcrun/unwind/expression.h"

#include "hpcrun/unwind/cfi.h"
#include "lib/bytes.h"

#define MAX_STACK 32
#define MAX_STEPS 256

struct evaluator {
    const uint8_t *at, *end;
    const uint64_t *reg;
    struct memory *memory;
    uint64_t stack[MAX_STACK];
    unsigned depth;
    bool bad;
};

static void push(struct evaluator *e, uint64_t value)
{
    if (e->depth < MAX_STACK)
        e->stack[e->depth++] = value;
    else
        e->bad = true;
}

static uint64_t pop(struct evaluator *e)
{
    if (e->depth > 0)
        return e->stack[--e->depth];
    e->bad = true;
    return 0;
}

static uint64_t operand(struct evaluator *e, unsigned size)
{
    uint64_t value = 0;
    if ((size_t)(e->end - e->at) < size) {
        e->bad = true;
        return 0;
    }
    memcpy(&value, e->at, size);
    e->at += size;
    return value;
}

static uint64_t operand_uleb(struct evaluator *e)
{
    uint64_t value = 0;
    if (!get_varint(&e->at, e->end, &value))
        e->bad = true;
    return value;
}

static int64_t operand_sleb(struct evaluator *e)
{
    const uint8_t *start = e->at;
    uint64_t value = operand_uleb(e);
    unsigned bits = 7 * (unsigned)(e->at - start);
    if (!e->bad && bits < 64 && (e->at[-1] & 0x40))
        value |= ~(uint64_t)0 << bits;
    return (int64_t)value;
}

static void pick(struct evaluator *e, unsigned from_top)
{
    if (from_top < e->depth)
        push(e, e->stack[e->depth - 1 - from_top]);
    else
        e->bad = true;
}

static void dereference(struct evaluator *e, unsigned size)
{
    uint64_t value = 0;
    uint64_t address = pop(e);
    if (size == 8 ? !memory_load(e->memory, address, &value)
                  : size > 8 || !memory_read_guarded(e->memory, address, &value, size))
        e->bad = true;
    push(e, value);
}

static void jump(struct evaluator *e, int64_t distance, const uint8_t *start)
{
    if (distance < start - e->at || distance > e->end - e->at)
        e->bad = true;
    else
        e->at += distance;
}

enum {
    OP_ADDR = 0x03,
    OP_DEREF = 0x06,
    OP_CONST1U = 0x08,
    OP_CONST1S = 0x09,
    OP_CONST2U = 0x0a,
    OP_CONST2S = 0x0b,
    OP_CONST4U = 0x0c,
    OP_CONST4S = 0x0d,
    OP_CONST8U = 0x0e,
    OP_CONST8S = 0x0f,
    OP_CONSTU = 0x10,
    OP_CONSTS = 0x11,
    OP_DUP = 0x12,
    OP_DROP = 0x13,
    OP_OVER = 0x14,
    OP_PICK = 0x15,
    OP_SWAP = 0x16,
    OP_ABS = 0x19,
    OP_AND = 0x1a,
    OP_MINUS = 0x1c,
    OP_MUL = 0x1e,
    OP_NEG = 0x1f,
    OP_NOT = 0x20,
    OP_OR = 0x21,
    OP_PLUS = 0x22,
    OP_PLUS_UCONST = 0x23,
    OP_SHL = 0x24,
    OP_SHR = 0x25,
    OP_SHRA = 0x26,
    OP_XOR = 0x27,
    OP_BRA = 0x28,
    OP_EQ = 0x29,
    OP_GE = 0x2a,
    OP_GT = 0x2b,
    OP_LE = 0x2c,
    OP_LT = 0x2d,
    OP_NE = 0x2e,
    OP_SKIP = 0x2f,
    OP_LIT0 = 0x30,
    OP_REG0 = 0x50,
    OP_BREG0 = 0x70,
    OP_BREGX = 0x92,
    OP_DEREF_SIZE = 0x94,
    OP_NOP = 0x96,
};

/* An operation on the two topmost words of the stack; `b` is the top. */
static uint64_t binary(struct evaluator *e, uint8_t op, uint64_t a, uint64_t b)
{
    switch (op) {
    case OP_AND: return a & b;
    case OP_MINUS: return a - b;
    case OP_MUL: return a * b;
    case OP_OR: return a | b;
    case OP_PLUS: return a + b;
    case OP_SHL: return b < 64 ? a << b : 0;
    case OP_SHR: return b < 64 ? a >> b : 0;
    case OP_SHRA: return (uint64_t)((int64_t)a >> (b < 63 ? b : 63));
    case OP_XOR: return a ^ b;
    case OP_EQ: return a == b;
    case OP_GE: return (int64_t)a >= (int64_t)b;
    case OP_GT: return (int64_t)a > (int64_t)b;
    case OP_LE: return (int64_t)a <= (int64_t)b;
    case OP_LT: return (int64_t)a < (int64_t)b;
    case OP_NE: return a != b;
    default: e->bad = true; return 0;
    }
}

static void step(struct evaluator *e, const uint8_t *start)
{
    uint8_t op = *e->at++;
    uint64_t a, b;
    if (op >= OP_LIT0 && op < OP_LIT0 + 32) {
        push(e, op - OP_LIT0);
        return;
    }
    if (op >= OP_BREG0 && op < OP_BREG0 + DWARF_REGS) {
        push(e, e->reg[op - OP_BREG0] + (uint64_t)operand_sleb(e));
        return;
    }
    switch (op) {
    case OP_ADDR:
    case OP_CONST8U:
    case OP_CONST8S: push(e, operand(e, 8)); break;
    case OP_DEREF: dereference(e, 8); break;
    case OP_DEREF_SIZE: dereference(e, (unsigned)operand(e, 1)); break;
    case OP_CONST1U: push(e, operand(e, 1)); break;
    case OP_CONST1S: push(e, (uint64_t)(int8_t)operand(e, 1)); break;
    case OP_CONST2U: push(e, operand(e, 2)); break;
    case OP_CONST2S: push(e, (uint64_t)(int16_t)operand(e, 2)); break;
    case OP_CONST4U: push(e, operand(e, 4)); break;
    case OP_CONST4S: push(e, (uint64_t)(int32_t)operand(e, 4)); break;
    case OP_CONSTU: push(e, operand_uleb(e)); break;
    case OP_CONSTS: push(e, (uint64_t)operand_sleb(e)); break;
    case OP_DUP: pick(e, 0); break;
    case OP_OVER: pick(e, 1); break;
    case OP_PICK: pick(e, (unsigned)operand(e, 1)); break;
    case OP_DROP: pop(e); break;
    case OP_SWAP:
        b = pop(e);
        a = pop(e);
        push(e, b);
        push(e, a);
        break;
    case OP_ABS:
        a = pop(e);
        push(e, (int64_t)a < 0 ? -a : a);
        break;
    case OP_NEG: push(e, -pop(e)); break;
    case OP_NOT: push(e, ~pop(e)); break;
    case OP_PLUS_UCONST: push(e, pop(e) + operand_uleb(e)); break;
    case OP_BRA: {
        int64_t distance = (int16_t)operand(e, 2);
        if (pop(e))
            jump(e, distance, start);
        break;
    }
    case OP_SKIP: jump(e, (int16_t)operand(e, 2), start); break;
    case OP_BREGX:
        a = operand_uleb(e);
        b = (uint64_t)operand_sleb(e);
        e->bad |= a >= DWARF_REGS;
        push(e, e->bad ? 0 : e->reg[a] + b);
        break;
    case OP_NOP: break;
    default:
        b = pop(e);
        a = pop(e);
        push(e, binary(e, op, a, b));
        break;
    }
}

bool expression_evaluate(const uint8_t *expr, const uint64_t *reg, const uint64_t *initial,
                         struct memory *memory, uint64_t *result)
{
    uint64_t size;
    const uint8_t *at = expr;
    if (!get_varint(&at, expr + VARINT_MAX_BYTES, &size) || size > 4096)
        return false;
    struct evaluator e;
    e.at = at;
    e.end = at + size;
    e.reg = reg;
    e.memory = memory;
    e.depth = 0;
    e.bad = false;
    if (initial)
        push(&e, *initial);
    for (unsigned steps = 0; e.at < e.end && !e.bad; steps++) {
        if (steps == MAX_STEPS)
            return false;
        step(&e, at);
    }
    *result = pop(&e);
    return !e.bad;
}
