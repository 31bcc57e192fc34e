/* A Python extension whose solver is a fork-join program of minicilk; its leaves call Python. After the
 * paper's section on a Python driver, a Cilk solver and what that calls. */
#include <Python.h>

#include "runtime-patches/minicilk/minicilk.h"

static PyObject *leaf_function;
static long calls; /* every tenth leaf calls Python */
static volatile double sink;

__attribute__((noinline)) static void leaf(void)
{
    double s = 0;
    for (int i = 1; i < 100000; i++)
        s += 1.0 / i;
    sink = s;
    if (__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED) % 10)
        return;
    PyGILState_STATE state = PyGILState_Ensure();
    Py_XDECREF(PyObject_CallNoArgs(leaf_function));
    PyGILState_Release(state);
}

CILK_PROC(branch, int depth;);

CILK_BODY(branch)
{
    CILK_BEGIN(branch);
    if (f->depth == 0) {
        leaf();
        CILK_RETURN;
    }
    CILK_SPAWN(branch, a->depth = f->depth - 1);
    CILK_SPAWN(branch, a->depth = f->depth - 1);
    CILK_SYNC();
    CILK_END;
}

/* solve(depth, function) */
static PyObject *solve(PyObject *self, PyObject *arguments)
{
    int depth, error;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "iO", &depth, &leaf_function))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    error = minicilk_init(3);
    if (!error)
        error = CILK_RUN(branch, a->depth = depth);
    minicilk_shutdown();
    Py_END_ALLOW_THREADS
    return PyLong_FromLong(error);
}

static PyMethodDef methods[] = {{"solve", solve, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "solver", NULL, -1, methods, NULL, NULL,
                                    NULL, NULL};

PyMODINIT_FUNC PyInit_solver(void)
{
    return PyModule_Create(&module);
}
