// A Python extension with parallel loops of oneTBB, for nested.py.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <oneapi/tbb/parallel_for.h>

static volatile double sink;

static __attribute__((noinline)) void burn(long n)
{
    double s = 0;
    for (long i = 1; i < n; i++)
        s += 1.0 / static_cast<double>(i);
    sink = s;
}

static void call_back(PyObject *callback)
{
    PyGILState_STATE state = PyGILState_Ensure();
    Py_XDECREF(PyObject_CallNoArgs(callback));
    PyGILState_Release(state);
}

// region(n, callback=None): each iteration of a loop computes, and calls back.
static PyObject *region(PyObject *, PyObject *arguments)
{
    long n;
    PyObject *callback = nullptr;
    if (!PyArg_ParseTuple(arguments, "l|O", &n, &callback))
        return nullptr;
    Py_BEGIN_ALLOW_THREADS
    tbb::parallel_for(0, 3, [n, callback](int) {
        burn(n);
        if (callback)
            call_back(callback);
    });
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"region", region, METH_VARARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "loops", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit_loops(void)
{
    return PyModule_Create(&module);
}
