/* A Python extension with parallel regions of OpenMP, for regions.py. */
#include <Python.h>

static volatile double sink;

static double burn(long n)
{
    double s = 0;
    for (long i = 1; i < n; i++)
        s += 1.0 / (double)i;
    return s;
}

static void call_back(PyObject *callback)
{
    PyGILState_STATE state = PyGILState_Ensure();
    Py_XDECREF(PyObject_CallNoArgs(callback));
    PyGILState_Release(state);
}

/* region(n, callback=None): each member of the team computes, and calls back. */
static PyObject *region(PyObject *self, PyObject *arguments)
{
    long n;
    PyObject *callback = NULL;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "l|O", &n, &callback))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
#pragma omp parallel num_threads(3)
    {
        sink = burn(n);
        if (callback)
            call_back(callback);
    }
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

/* tasks(n): one member creates tasks for all. */
static PyObject *tasks(PyObject *self, PyObject *arguments)
{
    long n;
    (void)self;
    if (!PyArg_ParseTuple(arguments, "l", &n))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
#pragma omp parallel num_threads(3)
#pragma omp single
    for (int i = 0; i < 12; i++)
#pragma omp task
        sink = burn(n);
    Py_END_ALLOW_THREADS
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {{"region", region, METH_VARARGS, NULL},
                                {"tasks", tasks, METH_VARARGS, NULL},
                                {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "regions", NULL, -1, methods, NULL, NULL,
                                    NULL, NULL};

PyMODINIT_FUNC PyInit_regions(void)
{
    return PyModule_Create(&module);
}
