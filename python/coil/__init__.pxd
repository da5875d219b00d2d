# For Cython: `from coil cimport await_`, and coil.get_include() among the include folders.

cdef extern from "coil/python.h":
    object await_ "coil_await_object"(object awaitable)
    int can_await "coil_can_await"() except -1
