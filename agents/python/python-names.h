/* Handler. Names of Python's code objects in the agent's name space.
 *
 * A code object may be freed, and another one may take its address. Its name is looked up by the words
 * that differ then: the addresses of its texts, the hash of its name, the size and the begin of its table
 * of lines, and its first line. From 3.12 on, code objects have a version that no other one of the interpreter
 * has: where that is the same, the objects that it refers to are not read. */
#ifndef AGENTS_PYTHON_NAMES_H
#define AGENTS_PYTHON_NAMES_H

#include "agents/python/python-frames.h"

#define PYTHON_NAME_BITS 10

/* The names that a thread has seen last. At one sample, the words of a code object are compared once, however many
 * frames execute it. */
struct python_names {
    uint32_t sample; /* number of the present one; 0: words are compared each time */
    struct python_name {
        uint64_t code;           /* its address */
        uint64_t check;          /* hash of that, and of the words that differ for other code there */
        uint64_t value;          /* of the name; 0: not known */
        int32_t first_traceable; /* the frame has not begun at positions before this one */
        uint32_t sample;         /* at which the words were compared last */
        bool is_hidden;          /* it is a part of Python's machinery for imports */
    } at[1 << PYTHON_NAME_BITS];
};

/* A sample begins: code objects may be others than before. */
void python_names_begin(struct python_names *names);

/* The name of a code object; NULL: it cannot be read, or there is no memory. */
const struct python_name *python_name(const struct python_reader *r, struct python_names *names,
                                      uint64_t code);

#endif
