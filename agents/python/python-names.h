/* Handler. Names of Python's code objects in the agent's name space.
 *
 * A code object may be freed, and another one may take its address. Its name is looked up by the words
 * that differ then: the addresses of its texts, the hash of its name, the size and the begin of its table
 * of lines, and its first line.
 *
 *     from 3.12 on  code objects have a version that no other one of the interpreter has: where that is the
 *                   same, the objects that it refers to are not read
 *     3.11          functions that are called often have one, until they get other code: where that is the
 *                   same, the code object is not read either */
#ifndef AGENTS_PYTHON_NAMES_H
#define AGENTS_PYTHON_NAMES_H

#include "agents/python/python-frames.h"

#define PYTHON_NAME_BITS 10

/* The names that a thread has seen last, by function if that is known, else by code object. At one sample, the
 * words of a code object are compared once, however many frames execute it. */
struct python_names {
    uint32_t sample; /* number of the present one; 0: words are compared each time */
    struct python_name {
        uint64_t code, function; /* addresses; function 0: unknown */
        uint32_t version;        /* of the function, if the code is its; 0: unknown */
        uint64_t check;          /* hash of its address, and of the words that differ for other code there */
        uint64_t value;          /* of the name; 0: not known */
        int32_t first_traceable; /* the frame has not begun at positions before this one */
        uint32_t sample;         /* at which the words were compared last */
        bool is_hidden;          /* it is a part of Python's machinery for imports */
    } at[1 << PYTHON_NAME_BITS];
};

/* A sample begins: code objects may be others than before. */
void python_names_begin(struct python_names *names);

/* Where python_name begins to read. Returns the number of addresses. */
#define PYTHON_NAME_READS 4
unsigned python_name_reads(const struct python_reader *r, struct python_names *names, const struct python_frame *frame,
                           uint64_t *addresses);

/* The name of a frame's code object; NULL: it is none, it cannot be read, or there is no memory. */
const struct python_name *python_name(const struct python_reader *r, struct python_names *names,
                                      const struct python_frame *frame);

#endif
