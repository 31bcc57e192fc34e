/* Handler. The frames of a thread's Python code.
 *
 * An activation of the eval loop (_PyEval_EvalFrameDefault) executes one Python frame and those that it
 * calls without another activation. Where a thread's activations are:
 *
 *     3.11   the thread state points to the newest _PyCFrame; each is a variable of an activation, and
 *            points to that one's newest frame and to the _PyCFrame of the activation around it. The
 *            oldest frame of an activation is marked (is_entry)
 *     3.12   the same, but the oldest frame of an activation is followed by one that is no Python code's:
 *            another variable of the activation, owned by the C stack. The frames around it follow
 *     3.13 on  there is only that frame, which has to be searched
 *
 * So the address of that variable says which frame of the physical path is the activation, also while
 * an activation begins or ends and has not linked itself yet. */
#ifndef AGENTS_PYTHON_FRAMES_H
#define AGENTS_PYTHON_FRAMES_H

#include "agents/agent.h"
#include "agents/python/python-layout.h"

/* Bits of a reference in a frame that are no part of the object's address, from 3.14 on. */
#define PYTHON_TAGS ((uint64_t)7)

/* What the functions here read with. */
struct python_reader {
    const struct agent_host *host;
    const struct agent_cursor *cursor;
    const struct python_layout *layout;
};

/* An activation of the eval loop. */
struct python_activation {
    uint64_t newest; /* address of its newest Python frame */
    uint64_t mark;   /* address of its variable; 0: there is no activation */
};

/* A Python frame. */
struct python_frame {
    uint64_t code;     /* 0: it has none, or none that can be read */
    uint64_t function; /* that was called; 0: unknown */
    int64_t position; /* of the instruction that it executes, in code units; -1: before the first */
    bool is_last;     /* the oldest one of its activation, or what follows that */
    bool is_generator;
};

/* The newest activation of the calling thread; none if it has no thread state. `known` is its thread
 * state at the last sample, or 0. */
struct python_activation python_newest(const struct python_reader *r, uint64_t *known);

/* Whether a thread state is that of an interpreter with a lock of its own. */
bool python_has_other_lock(const struct python_reader *r, uint64_t thread);

/* The activation of any thread state whose variable lies in a range of the stack. A search that finds none
 * reads all activations of all threads. So after a few of these, *misses, nothing is searched any more: a
 * stack with greenlets may have many frames of the eval loop that no thread state leads to. */
struct python_activation python_activation_in(const struct python_reader *r, uint64_t low,
                                              uint64_t high, uint32_t *misses);

/* The activation around one. */
struct python_activation python_activation_around(const struct python_reader *r,
                                                  const struct python_activation *inner);

/* Whether a frame is the one after the oldest of an activation. An activation with such a newest frame is
 * about to end. */
bool python_frame_is_end(const struct python_reader *r, uint64_t frame);

/* Reads the frame at *at, and moves *at to the frame that called it. Whether its code is code, python_name says. */
struct python_frame python_frame_next(const struct python_reader *r, uint64_t *at);

#endif
