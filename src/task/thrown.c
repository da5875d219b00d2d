/*
 * thrown.c - the stack of the throw of an exception.
 *
 * An exception is thrown in two phases (Itanium C++ ABI, 1.1). The first one searches for
 * a handler: it calls the personality routine of each frame, and the stack is whole. Only
 * the second one unwinds. So coil_call_traced() is a frame whose routine never handles
 * the exception, and records the stack when it is searched.
 *
 * coil_call_traced() is in traced_call_*.S. It stores `thrown` where its stack pointer is
 * while it calls fn. That address is what the unwinder has for a frame in which it looks
 * for a handler (_Unwind_GetCFA(): the CFA of the function that was called).
 */
#include "../error/backtrace.h"
#include "failure.h"

#include <unwind.h>

/* Assembly names it, which link-time optimisation does not see. */
__attribute__((used)) COIL__NOINLINE _Unwind_Reason_Code coil__thrown_personality(
    int version, _Unwind_Action actions, _Unwind_Exception_Class class,
    struct _Unwind_Exception *exception, struct _Unwind_Context *context);

_Unwind_Reason_Code coil__thrown_personality(int version, _Unwind_Action actions,
                                             _Unwind_Exception_Class class,
                                             struct _Unwind_Exception *exception,
                                             struct _Unwind_Context *context)
{
    uintptr_t sp;
    coil_error **thrown;

    (void)version, (void)class, (void)exception;
    if ((actions & _UA_SEARCH_PHASE) == 0)
        return _URC_CONTINUE_UNWIND;
    sp = coil__backtrace_sp(context, COIL__CALLER());
    if (sp == 0)
        return _URC_CONTINUE_UNWIND;
    thrown = *(coil_error ***)sp;
    coil_error_release(*thrown); /* of an exception that a handler outside has let pass */
    *thrown = coil__failure_note(-EIO, coil__backtrace_throw());
    return _URC_CONTINUE_UNWIND;
}
