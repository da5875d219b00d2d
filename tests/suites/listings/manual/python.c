/* needs: coil-python */
/* python.c - runs the C example in docs/manual/python.md in an embedded CPython. */
#include "python.md/from-c"

#include <stdlib.h>

static PyObject *sort(PyObject *module, PyObject *less)
{
    PyObject *numbers[] = {PyLong_FromLong(3), PyLong_FromLong(1), PyLong_FromLong(2)};

    (void)module;
    qsort_r(numbers, 3, sizeof(numbers[0]), compare, less);
    return PyErr_Occurred() ? NULL
                            : Py_BuildValue("NNN", numbers[0], numbers[1], numbers[2]);
}

static PyMethodDef functions[] = {{"sort", sort, METH_O, NULL}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "sorting", NULL, -1, functions, NULL, NULL, NULL, NULL};

static PyObject *init_sorting(void)
{
    return PyModule_Create(&definition);
}

/* PYTHONPATH includes the folder of the package. */
int main(void)
{
    PyImport_AppendInittab("sorting", init_sorting);
    Py_Initialize();
    return -PyRun_SimpleString("import asyncio, coil, sorting\n"
                               "async def less(a, b):\n"
                               "    await asyncio.sleep(0)\n"
                               "    return a - b\n"
                               "async def main():\n"
                               "    return await coil.run(sorting.sort, less)\n"
                               "assert asyncio.run(main()) == (1, 2, 3)\n");
}
